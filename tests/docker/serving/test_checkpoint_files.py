"""The file of a checkpoint, taken over HTTP from real replicas, gone on from by both adapters."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from orchestrator import Arena
from orchestrator.serve.gym import ArenaEnv
from orchestrator.serve.server import serve

pytestmark = [pytest.mark.docker, pytest.mark.browser]

GUIDE = Path("docs/set-up-a-world.md").resolve()


@pytest.fixture
def pin(tmp_path: Path) -> str:
    """The guide's task: its note is set up by `given`, and nothing but pinning it may change."""
    block = re.search(r"```yaml\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    path = tmp_path / "rope.yaml"
    path.write_text(block[1], encoding="utf-8")
    return f"{path}/rope-pin"


def element(seen: dict[str, Any], role: str, name: str) -> int:
    found = re.search(rf'\[(\d+)\] {role} "{name}"', seen["parts"]["axtree"])
    assert found is not None, seen["parts"]["axtree"]
    return int(found[1])


async def test_both_adapters_go_on_where_the_note_is_pinned(
    pin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    async with (
        Arena(workers=1) as arena,
        serve(arena, slots=1, port=0, checkpoints=True) as served,
        httpx.AsyncClient(
            base_url=served.url,
            headers={"Authorization": f"Bearer {served.token}"},
            timeout=300,
        ) as client,
    ):

        async def asked(path: str, **body: Any) -> dict[str, Any]:
            answer = await client.post(path, json=body)
            assert answer.is_success, answer.text
            found: dict[str, Any] = answer.json()
            return found

        begun = await asked("/episodes", task=pin)
        at, seen = f"/episodes/{begun['episode']}", begun["observation"]
        search = element(seen, "searchbox", "Search notes")
        typing = {"kind": "type", "element": search, "text": "Rope walk", "submit": True}
        seen = (await asked(f"{at}/step", action=typing))["observation"]
        for role, name in (("link", "Rope walk"), ("button", "Pin")):
            click = {"kind": "click", "element": element(seen, role, name)}
            seen = (await asked(f"{at}/step", action=click))["observation"]
        await asked(f"{at}/checkpoints", checkpoint="pinned")
        file = (await client.get(f"{at}/checkpoints/pinned")).content
        unpin = {"kind": "click", "element": element(seen, "button", "Unpin")}
        await asked(f"{at}/step", action=unpin)
        assert (await asked(f"{at}/finish"))["outcome"] == "failure"

        where = {"task": pin, "agent": "later"}
        answer = await client.post("/episodes/from-checkpoint", params=where, content=file)
        assert answer.status_code == 201, answer.text
        branch = answer.json()
        assert branch["observation"]["parts"] == seen["parts"]
        told = served.host.find(branch["episode"]).session.evidence()
        assert told.branch is not None
        assert (told.branch.checkpoint, told.branch.step) == ("pinned", 3)
        (receipt,) = told.receipts
        assert receipt.golden == told.branch.states["tools"]
        assert (await asked(f"/episodes/{branch['episode']}/finish"))["outcome"] == "success"
    await asyncio.to_thread(goes_on, pin, file)


def goes_on(pin: str, file: bytes) -> None:
    env = ArenaEnv(pin, observe=("axtree",))
    try:
        seen, _ = env.reset(options={"checkpoint": file})
        assert '"Unpin"' in seen["axtree_txt"]
        _, reward, terminated, _, info = env.step('{"kind": "stop"}')
        assert (reward, terminated, info["outcome"]) == (1.0, True, "success")
    finally:
        env.close()
