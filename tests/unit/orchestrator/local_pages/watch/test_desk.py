"""What the page of a run gets: its folder's episodes and pictures, and nothing beside them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from support.studies.registered_study import make_study

from arena_core.errors import StoreError
from orchestrator.local_pages.serving import HEADER
from orchestrator.local_pages.watch.desk import watch_page


@dataclass
class Asked:
    """A page of a study that nobody plays, as its script asks."""

    path: Path
    base: str
    http: aiohttp.ClientSession

    async def get(self, what: str, **query: str) -> tuple[int, Any]:
        async with self.http.get(f"{self.base}{what}", params=query) as answer:
            is_json = answer.content_type == "application/json"
            return answer.status, await (answer.json() if is_json else answer.read())

    async def order(self, body: dict[str, Any]) -> tuple[int, str]:
        async with self.http.post(f"{self.base}order", json=body) as answer:
            return answer.status, (await answer.json()).get("error", "")


@pytest.fixture
async def asked(tmp_path: Path) -> AsyncIterator[Asked]:
    study = make_study(tmp_path / "study")
    (tmp_path / "secret.png").write_bytes(b"secret")
    async with watch_page(study.path) as url:
        base, token = url.split("#")
        async with aiohttp.ClientSession(headers={HEADER: token}) as http:
            yield Asked(study.path, base, http)


async def test_a_study_that_nobody_plays_shows_what_ended_in_each_run(asked: Asked) -> None:
    status, found = await asked.get("state")
    assert (status, found["state"], found["runs"]) == (200, None, 2)
    ended = {(one["run"], one["name"]): one["outcome"] for one in found["ended"]}
    assert len(ended) == 6
    assert ended["right", "offline-one-r0-a1"] == "success"
    assert ended["wrong", "offline-one-r0-a1"] == "failure"


async def test_an_episode_that_ended_opens_with_its_outcome_checks_and_pictures(
    asked: Asked,
) -> None:
    _, found = await asked.get("episode", run="wrong", name="offline-one-r1-a1")
    assert found["outcome"] == "failure"
    [check] = found["checks"]
    assert (check["name"], check["status"]) == ("answer", "unmet")
    query = {"run": "wrong", "name": "offline-one-r1-a1", "shot": "step-0.png"}
    assert await asked.get("shot", **query) == (200, b"picture")


@pytest.mark.parametrize(
    ("run", "name", "shot"),
    [
        ("wrong", "offline-one-r1-a1", "../../../../../secret.png"),
        ("wrong", "offline-one-r1-a1", "evidence.json"),
        ("wrong", "../..", "secret.png"),
        ("wrong", "offline-one-r1-a1", "link.png"),
        ("../..", "offline-one-r1-a1", "step-0.png"),
        ("none", "offline-one-r1-a1", "step-0.png"),
    ],
)
async def test_nothing_but_pictures_of_its_runs_is_handed_out(
    asked: Asked, run: str, name: str, shot: str
) -> None:
    folder = asked.path / "runs" / "wrong" / "evidence" / "offline-one-r1-a1"
    (folder / "link.png").symlink_to(asked.path.parent / "secret.png")
    status, found = await asked.get("shot", run=run, name=name, shot=shot)
    assert status in {400, 404}
    assert found != b"secret"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"do": "pause"}, "no process of this user plays it now"),
        ({"do": "explode"}, "do"),
        ({"do": "pause", "more": 1}, "more"),
        ({"do": "stop"}, "takes an episode"),
    ],
)
async def test_an_order_that_cannot_be_given_is_answered_with_why(
    asked: Asked, body: dict[str, Any], says: str
) -> None:
    status, error = await asked.order(body)
    assert status == 400
    assert says in error


async def test_what_is_not_played_is_no_bug(asked: Asked) -> None:
    status, found = await asked.get("film")
    assert (status, "no process" in found["error"]) == (400, True)
    status, found = await asked.get("episode", run="wrong", name="offline-one-r9")
    assert (status, "no process" in found["error"]) == (400, True)
    status, found = await asked.get("episode", run="wrong", name="offline-one-r9-a1")
    assert status == 400


async def test_a_folder_of_neither_a_run_nor_a_study_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        async with watch_page(tmp_path):
            pass
