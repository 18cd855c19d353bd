"""A trial of Harbor's on a running service: the relay of its folder, from begin to verdict."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import mcp
import pytest
from mcp.client.streamable_http import streamable_http_client
from quick_cases import SLOW
from support.tasks.small_suites import BRUGES, bells, write_suite
from support.worlds.fake_world import FakeWorld
from support.worlds.worldless_service import Service, Serving, serving_from

from arena_core.errors import SiteGoneError
from orchestrator import Arena

SUCCESS = {"reward": 1.0}
FAILURE = {"reward": 0.0}


@pytest.fixture
def serving(tmp_path: Path) -> Serving:
    return serving_from(tmp_path)


@dataclass(frozen=True, slots=True)
class Trial:
    """A trial's folder, and its relay that runs."""

    folder: Path
    process: asyncio.subprocess.Process
    url: str
    env: dict[str, str]

    async def call(self, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
        """Call tools as an agent that connects, calls and leaves."""
        async with mcp.Client(streamable_http_client(f"{self.url}/mcp")) as client:
            return [await client.call_tool(name, arguments) for name, arguments in calls]

    async def reward(self) -> dict[str, float] | None:
        """Ask for the verdict as Harbor does once the agent is stopped, and run the test."""
        relay = str(self.folder / "relay.py")
        done = await asyncio.create_subprocess_exec(sys.executable, relay, "verdict", env=self.env)
        await done.wait()
        script = (self.folder.parents[1] / "tests" / "test.sh").read_text(encoding="utf-8")
        logs = self.folder / "logs"
        logs.mkdir(exist_ok=True)
        (logs / "reward.txt").write_text("1")  # left by somebody who is not the verifier
        script = script.replace("/arena/out", f"{self.folder}/out").replace(
            "/logs/verifier", f"{logs}"
        )
        tested = await asyncio.create_subprocess_exec("sh", "-c", script)
        assert (await tested.wait() == 0) is (logs / "reward.json").is_file()
        assert not (logs / "reward.txt").exists()
        if not (logs / "reward.json").is_file():
            return None
        found: dict[str, float] = json.loads((logs / "reward.json").read_text(encoding="utf-8"))
        return found


@asynccontextmanager
async def trial_of(service: Service, folder: Path) -> AsyncIterator[Trial]:
    """Run the relay of a task's folder, as its container would."""
    suite, _, task = service.task.rpartition("/")
    tasks = folder / "tasks"
    if not tasks.exists():
        Arena().suites.export_harbor(suite, tasks)
    copied = folder / f"trial-{secrets.token_hex(4)}"
    shutil.copytree(tasks / task, copied)
    relay = copied / "environment" / "arena" / "relay.py"
    env = {
        **os.environ,
        "ARENA_SOCKET": str(folder / "s"),
        "ARENA_TOKEN": service.served.token,
        "ARENA_PORT": "0",
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-u", str(relay), "serve", env=env, stdout=-1, stderr=-1
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(30):
            said = (await process.stdout.readline()).decode()
        if not said:
            assert process.stderr is not None
            pytest.fail((await process.stderr.read()).decode())
        url = f"http://127.0.0.1:{said.split()[-1]}"
        yield Trial(relay.parent, process, url, env)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_what_an_agent_does_by_the_tools_is_its_reward(
    serving: Serving, tmp_path: Path
) -> None:
    async with serving(socket_path=tmp_path / "s") as service:
        async with trial_of(service, tmp_path) as trial:
            assert await service.free() == 0
            went = ("browser_navigate", {"url": BRUGES})
            _, ended = await trial.call(went, ("submit_answer", {"answer": "47"}))
            assert ended.structured_content["outcome"] == "success"
            assert await service.free() == 1  # at once, and not when the container goes
            assert await trial.reward() == SUCCESS
        async with trial_of(service, tmp_path) as trial:
            assert await trial.reward() == FAILURE  # of an agent that never came
        async with trial_of(service, tmp_path) as trial:
            await trial.call(("browser_navigate", {"url": BRUGES}))
            assert await trial.reward() == FAILURE  # it left without an answer: scored as it stands


async def test_who_knows_the_verdict_can_change_it_no_more(
    serving: Serving, tmp_path: Path
) -> None:
    """The first answer counts, and there is no second episode to try another in."""
    async with (
        serving(slots=2, socket_path=tmp_path / "s") as service,
        trial_of(service, tmp_path) as trial,
    ):
        went = ("browser_navigate", {"url": BRUGES})
        wrong, right = [("submit_answer", {"answer": one}) for one in ("46", "47")]
        _, first, second = await trial.call(went, wrong, right)
        assert first.structured_content["outcome"] == "failure"
        assert second.is_error
        (third,) = await trial.call(right)  # by another session
        assert third.is_error
        assert len((await service.client.get("/episodes")).json()) == 1
        assert await trial.reward() == FAILURE
        assert await trial.reward() == FAILURE


@pytest.mark.one_quick
@pytest.mark.parametrize("said", [{}, {"Authorization": "Bearer guessed"}], ids=["none", "wrong"])
async def test_the_oracle_plays_for_nobody_without_the_token(
    said: dict[str, str], serving: Serving, tmp_path: Path
) -> None:
    async with (
        serving(socket_path=tmp_path / "s", references=True) as service,
        trial_of(service, tmp_path) as trial,
        httpx.AsyncClient(base_url=trial.url, headers=said) as agent,
    ):
        asked = await agent.post("/reference", json={"observe": ["axtree"]})
        assert asked.status_code == 401
        for path in ("/episodes", "/tasks", "/mcp/../episodes", "/episodes/x/finish", "/verdict"):
            assert (await agent.get(path)).status_code == 405
            assert (await agent.post(path, json={})).status_code == 404
        assert len((await service.client.get("/episodes")).json()) == 1
        assert await trial.reward() == FAILURE


@pytest.mark.one_quick
@pytest.mark.parametrize(
    ("lets", "status", "reward"), [(True, 200, SUCCESS), (False, 404, FAILURE)]
)
async def test_the_oracle_plays_for_who_knows_the_token_where_the_service_lets_it(
    lets: Any, status: int, reward: dict[str, float], serving: Serving, tmp_path: Path
) -> None:
    actions = [{"do": "goto", "page": "wiki:/article/Bruges"}, {"do": "stop", "answer": "47"}]
    write_suite(tmp_path, bells("one", reference=actions))
    async with (
        serving(socket_path=tmp_path / "s", references=lets) as service,
        trial_of(service, tmp_path) as trial,
    ):
        said = {"Authorization": f"Bearer {service.served.token}"}
        async with httpx.AsyncClient(base_url=trial.url, headers=said, timeout=60) as solution:
            asked = await solution.post("/reference", json={"observe": ["axtree"]})
            assert asked.status_code == status
        assert await trial.reward() == reward
        assert [one.asked.agent for one in service.served.host.episodes] == ["harbor", "oracle"]


@SLOW
async def test_a_reference_that_cannot_be_played_fails(serving: Serving, tmp_path: Path) -> None:
    """The worldless page has no link to click."""
    async with serving(references=True) as service:
        name = await service.begun(agent="mine")
        refused = await service.client.post(f"/episodes/{name}/reference")
        assert refused.status_code == 422  # it would be said to be its
        await service.client.delete(f"/episodes/{name}")
        name = await service.begun(agent="oracle")
        ended = (await service.client.post(f"/episodes/{name}/reference")).json()
        assert (ended["outcome"], ended["reward"]) == ("failure", 0.0)
        assert await service.free() == 1
        assert (await service.client.post(f"/episodes/{name}/reference")).status_code == 409


async def test_what_could_not_be_scored_has_no_reward(serving: Serving, tmp_path: Path) -> None:
    async with serving(socket_path=tmp_path / "s") as service:
        gone = SiteGoneError("site 'wiki': its container was removed")
        service.arena.prepared = [FakeWorld(script={"act": gone})]
        async with trial_of(service, tmp_path) as trial:
            await trial.call(("browser_navigate", {"url": BRUGES}))
            assert await trial.reward() is None
            verdict = json.loads((trial.folder / "out" / "verdict.json").read_text())
            assert (verdict["outcome"], verdict["reason"]) == ("unscored", "infra")
        async with trial_of(service, tmp_path) as trial:
            await service.client.delete(f"/episodes/{(trial.folder / 'episode').read_text()}")
            assert await trial.reward() is None


@SLOW
async def test_a_trial_without_its_service_has_no_reward(serving: Serving, tmp_path: Path) -> None:
    async with AsyncExitStack() as kept:
        async with serving(socket_path=tmp_path / "s") as service:
            trial = await kept.enter_async_context(trial_of(service, tmp_path))
        assert not (tmp_path / "s").exists()
        assert await trial.reward() is None


async def test_a_container_that_is_killed_frees_its_slot(serving: Serving, tmp_path: Path) -> None:
    async with serving(socket_path=tmp_path / "s", idle_s=600) as service:
        async with trial_of(service, tmp_path) as trial:
            await trial.call(("browser_navigate", {"url": BRUGES}))
            trial.process.kill()
            await service.until_free(1)
        (found,) = (await service.client.get("/episodes")).json()
        assert found["result"]["outcome"] == "unscored"


@SLOW
async def test_an_agent_that_is_being_installed_keeps_its_episode_and_one_that_hangs_does_not(
    serving: Serving, tmp_path: Path
) -> None:
    async with (
        serving(socket_path=tmp_path / "s", idle_s=1.5) as service,
        trial_of(service, tmp_path) as trial,
    ):
        beats = 0
        async with asyncio.timeout(30):
            name = (trial.folder / "episode").read_text()
            first = service.served.host.find(name).idle
            while beats < 4:  # each starts the wait anew
                now = service.served.host.find(name).idle
                assert now is not None, "it was taken back"
                beats, first = (beats + 1, now) if now is not first else (beats, first)
                await asyncio.sleep(0.02)
        await trial.call(("browser_snapshot", {}))
        await service.until_free(1)
        assert await trial.reward() is None


@SLOW
async def test_a_task_that_says_something_else_by_now_is_not_played(
    serving: Serving, tmp_path: Path
) -> None:
    async with serving(socket_path=tmp_path / "s") as service:
        async with trial_of(service, tmp_path) as trial:
            await trial.call(("submit_answer", {}))
        write_suite(tmp_path, bells("one", intent="How many bells has Ghent?"))
        with pytest.raises(pytest.fail.Exception, match="export it again"):
            async with trial_of(service, tmp_path):
                pass
        assert await service.free() == 1


@SLOW
async def test_two_trials_of_one_task_play_an_episode_each_and_a_third_waits_for_a_slot(
    serving: Serving, tmp_path: Path
) -> None:
    async with (
        serving(slots=2, socket_path=tmp_path / "s") as service,
        trial_of(service, tmp_path) as right,
        trial_of(service, tmp_path) as wrong,
    ):
        third = asyncio.create_task(_rewarded(service, tmp_path))
        for trial, answer in ((right, "47"), (wrong, "46")):
            went = ("browser_navigate", {"url": BRUGES})
            await trial.call(went, ("submit_answer", {"answer": answer}))
        assert [await right.reward(), await wrong.reward()] == [SUCCESS, FAILURE]
        assert await third == FAILURE


async def _rewarded(service: Service, folder: Path) -> dict[str, float] | None:
    async with trial_of(service, folder) as trial:
        return await trial.reward()


@pytest.mark.one_quick
@pytest.mark.parametrize(
    "said",
    [
        b"POST /mcp HTTP/1.1\r\nContent-Length: 9999999\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST /mcp HTTP/1.1\r\nContent-Length: \u00b2\r\n\r\n".encode("latin-1"),
        b"POST /mcp HTTP/1.1\r\nMcp-X: a\r\n b\r\nContent-Length: 2\r\n\r\n{}",
        b"POST /reference HTTP/1.1\r\nAuthorization: Bearer \xff\r\nContent-Length: 2\r\n\r\n{}",
        b"\x00" * 70_000,
    ],
    ids=["long", "chunked", "negative", "no number", "folded", "no text", "no request"],
)
async def test_no_request_of_the_agents_side_ends_the_trial(
    said: bytes, serving: Serving, tmp_path: Path
) -> None:
    """Who could do that would make an error of each failure."""
    async with (
        serving(socket_path=tmp_path / "s") as service,
        trial_of(service, tmp_path) as trial,
    ):
        port = int(trial.url.rpartition(":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(said)
        async with asyncio.timeout(30):
            await reader.read(100)
        writer.close()
        went = ("browser_navigate", {"url": BRUGES})
        await trial.call(went, ("submit_answer", {"answer": "47"}))
        assert await trial.reward() == SUCCESS
