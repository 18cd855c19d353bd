"""An episode as BrowserGym's environments hold it: by a connection, with Arena's verdict."""

from __future__ import annotations

import asyncio
import math
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest
from quick_cases import SLOW
from support.tasks.small_suites import bells, write_suite
from support.worlds.fake_world import FakeWorld
from support.worlds.worldless_service import Service as Served
from support.worlds.worldless_service import Serving, serving_from

from arena_core.errors import PrerequisiteError, SiteGoneError, UsageError
from orchestrator.serve.client import (
    Episode,
    EpisodeUnscored,
    Refused,
    Service,
    reward_of,
)

BRUGES = "goto('http://wiki.arena.test/wiki/A/Bruges')"
Done = TypeVar("Done")


@pytest.fixture
def serving(tmp_path: Path) -> Serving:
    return serving_from(tmp_path)


def client_of(served: Served, tmp_path: Path) -> Service:
    return Service(served.served.url, str(tmp_path / "token"))


async def beside(work: Callable[..., Done], *given: Any, **more: Any) -> Done:
    """Do what a client of another process does, while the service goes on here."""
    return await asyncio.to_thread(work, *given, **more)


async def test_an_episode_is_played_to_the_verdict_of_arena(
    serving: Serving, tmp_path: Path
) -> None:
    async with serving() as served:
        episode = await beside(Episode.begin, client_of(served, tmp_path), {"task": served.task})
        assert episode.goal.startswith("How many bells")
        done = await beside(episode.step, BRUGES)
        assert (done["result"], done["observation"]["last_error"]) == (None, None)
        done = await beside(episode.step, "send_msg_to_user('47')")
        assert reward_of(done["result"]) == 1.0
        assert await beside(episode.finish, "46") == done["result"]
        assert served.arena.leases == ["given back"]


async def test_who_does_nothing_or_gives_up_fails(serving: Serving, tmp_path: Path) -> None:
    async with serving() as served:
        for ending in (("",), (None, "gave_up", "no idea"), (None, "infeasible", "no bells")):
            client = client_of(served, tmp_path)
            episode = await beside(Episode.begin, client, {"task": served.task})
            result = await beside(episode.finish, *ending)
            assert (result["outcome"], reward_of(result)) == ("failure", 0.0), ending


async def test_what_is_given_back_is_unscored_and_no_number(
    serving: Serving, tmp_path: Path
) -> None:
    async with serving() as served:
        episode = await beside(Episode.begin, client_of(served, tmp_path), {"task": served.task})
        result = await beside(episode.release)
        assert (result["outcome"], math.isnan(reward_of(result))) == ("unscored", True)
        assert await served.free() == 1


async def test_a_world_that_breaks_is_unscored_in_a_step_and_at_the_beginning(
    serving: Serving, tmp_path: Path
) -> None:
    async with serving() as served:
        client = client_of(served, tmp_path)
        gone = SiteGoneError("site 'wiki': its container is gone")
        worlds = [FakeWorld(script={"act": gone}), FakeWorld(script={"open": gone})]
        served.arena.prepared = worlds
        episode = await beside(Episode.begin, client, {"task": served.task})
        done = await beside(episode.step, BRUGES)
        assert math.isnan(reward_of(done["result"]))
        with pytest.raises(EpisodeUnscored, match="unscored: infra"):
            await beside(Episode.begin, client, {"task": served.task})


async def test_who_finds_no_slot_waits_for_one(serving: Serving, tmp_path: Path) -> None:
    async with serving() as served:
        client = client_of(served, tmp_path)
        first = await beside(Episode.begin, client, {"task": served.task})
        with pytest.raises(Refused, match="all 1 slots are in use"):
            await beside(Episode.begin, client, {"task": served.task}, patience_s=0)
        second = asyncio.create_task(beside(Episode.begin, client, {"task": served.task}))
        await beside(first.finish, "47")
        assert (await second).result is None
        await beside((await second).release)


async def test_an_episode_that_was_taken_back_ends_at_its_next_step(
    serving: Serving, tmp_path: Path
) -> None:
    async with serving() as served:
        episode = await beside(Episode.begin, client_of(served, tmp_path), {"task": served.task})
        await served.client.delete(f"/episodes/{episode.created['episode']}")
        done = await beside(episode.step, BRUGES)
        assert math.isnan(reward_of(done["result"]))


@dataclass(frozen=True)
class Counted(Service):
    """Counts what tells the service that its client is there."""

    heartbeats: list[threading.Event]

    def ask(self, method: str, path: str, body: dict[str, Any] | bytes | None = None) -> Any:
        answer = super().ask(method, path, body)
        if path.endswith("/heartbeat"):
            next(one for one in self.heartbeats if not one.is_set()).set()
        return answer


async def test_a_client_that_thinks_longer_than_the_idle_time_keeps_its_episode(
    serving: Serving, tmp_path: Path
) -> None:
    async with serving(idle_s=1.0) as served:
        heard = [threading.Event() for _ in range(99)]
        client = Counted(served.served.url, str(tmp_path / "token"), heard)
        episode = await beside(Episode.begin, client, {"task": served.task})
        await beside(heard[5].wait)  # three in each idle time
        assert await served.free() == 0
        assert (await beside(episode.step, BRUGES))["result"] is None
        await beside(episode.release)


async def test_an_agent_whose_silence_alone_says_that_it_is_gone_loses_its_slot(
    serving: Serving, tmp_path: Path
) -> None:
    async with serving(idle_s=1.0) as served:
        client = client_of(served, tmp_path)
        await beside(Episode.begin, client, {"task": served.task}, is_kept=False)
        await served.until_free(1)


async def test_an_episode_goes_on_from_the_file_of_a_checkpoint(
    serving: Serving, tmp_path: Path
) -> None:
    async with serving(slots=2) as served:
        client = client_of(served, tmp_path)
        first = await beside(Episode.begin, client, {"task": served.task})
        await beside(first.step, BRUGES)
        file = await beside(first.checkpoint, "here")
        second = await beside(Episode.begin, client, {"task": served.task}, checkpoint=file)
        assert second.created["observation"]["url"] in BRUGES
        results = [await beside(one.finish, "47") for one in (first, second)]
        assert [one["key_nodes"]["met"] for one in results] == [1, 1]
    async with serving(checkpoints=False) as served:
        episode = await beside(Episode.begin, client_of(served, tmp_path), {"task": served.task})
        with pytest.raises(Refused, match="checkpoints"):
            await beside(episode.checkpoint, "here")


async def test_the_tasks_of_a_split_are_those_that_the_suite_puts_there(
    serving: Serving, tmp_path: Path
) -> None:
    folder = tmp_path / "split"
    folder.mkdir()
    suite = write_suite(folder, bells("one", split="train"), bells("two", split="test"))
    async with serving() as served:
        client = client_of(served, tmp_path)

        async def found(split: str | None) -> list[str]:
            tasks = await beside(client.tasks, str(suite), "*", split)
            return [one["id"].rpartition("/")[2] for one in tasks]

        assert await found(None) == ["one", "two"]
        assert (await found("train"), await found("validation")) == (["one"], [])


HOLDS = """
import sys, time
from orchestrator.serve.client import Episode, Service
url, token, task = sys.argv[1:]
episode = Episode.begin(Service(url, token), {"task": task})
print("begun", flush=True)
time.sleep(600)
"""


@SLOW
async def test_a_client_that_is_killed_frees_its_slot(serving: Serving, tmp_path: Path) -> None:
    async with serving() as served:
        client = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", HOLDS, served.served.url, tmp_path / "token", served.task),
            stdout=asyncio.subprocess.PIPE,
        )
        assert client.stdout is not None
        assert await client.stdout.readline() == b"begun\n"
        assert await served.free() == 0
        client.kill()
        await client.wait()
        await served.until_free(1)
        [episode] = (await served.client.get("/episodes")).json()
        assert episode["result"]["outcome"] == "unscored"


def test_a_service_that_is_not_named_or_not_there_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ARENA_URL", raising=False)
    with pytest.raises(UsageError, match="ARENA_URL is not set"):
        Service.named()
    (tmp_path / "token").write_text("T", encoding="ascii")
    with pytest.raises(PrerequisiteError, match="no `arena serve` answers"):
        Service("http://127.0.0.1:9", str(tmp_path / "token")).tasks("demo", "*")
