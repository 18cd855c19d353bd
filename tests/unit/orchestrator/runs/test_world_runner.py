"""Workers of one world: one that stops leaves the others playing, unless the model refuses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any, Self, cast

import pytest

from arena_core.errors import ModelError, SiteError
from arena_core.worlds import World
from orchestrator.runs.jobs import Job
from orchestrator.runs.run import Run
from orchestrator.runs.store.ledger import EpisodeKey
from orchestrator.runs.worker import Worker, WorldRunner
from sites.upstreams import Upstreams

RUN = cast("Any", SimpleNamespace(name="a-run", attempt_runner=None, request=None))
TASKS = [cast("Any", SimpleNamespace(id=f"task-{number}")) for number in range(1000)]
JOBS = [Job(RUN, EpisodeKey(name, World.OFFLINE)) for name in ("one", "two", "three", "four")]


class Played:
    """What workers were given, and how the first episode fails."""

    def __init__(self, failure: Exception) -> None:
        self.episodes: list[str] = []
        self.cancelled: list[str] = []
        self._failure = failure

    def in_browser_of(self, request: object) -> Self:
        return self

    def until(self, stop: object) -> Self:
        return self

    async def play(self, job: Job) -> None:
        key = job.key
        self.episodes.append(key.task)
        if key.task == "one":
            await asyncio.sleep(0)  # the other worker has begun
            raise self._failure
        try:
            if isinstance(self._failure, ModelError):
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.append(key.task)
            raise

    @asynccontextmanager
    async def of(self, *_: object) -> AsyncIterator[Played]:
        yield self


def world_runner(slot_pool: object = None, starts: object = None) -> WorldRunner:
    return WorldRunner(
        world=cast(
            "Any",
            SimpleNamespace(
                upstreams=Upstreams(World.OFFLINE, {}), slot_pool=slot_pool, starts=starts
            ),
        ),
        workers=2,
        on_event=lambda _: None,
        interrupted=asyncio.Event(),
    )


async def test_a_worker_that_stops_leaves_the_others_playing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played = Played(SiteError("gone"))
    monkeypatch.setattr(Worker, "of", played.of)
    [failure] = await world_runner().play(JOBS)
    assert str(failure) == "gone"
    assert played.episodes == ["one", "two", "three", "four"]


async def test_a_refusal_for_good_stops_every_worker_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played = Played(ModelError("answered 401", is_permanent=True))
    monkeypatch.setattr(Worker, "of", played.of)
    async with asyncio.timeout(5):
        with pytest.raises(ModelError, match="answered 401"):
            await world_runner().play(JOBS)
    assert played.episodes == ["one", "two"]
    assert played.cancelled == ["two"]


@pytest.mark.parametrize("is_permanent", [True, False])
async def test_only_a_refusal_for_good_ends_the_other_world_too(
    monkeypatch: pytest.MonkeyPatch, *, is_permanent: bool
) -> None:
    refusal = ModelError("refused", is_permanent=is_permanent)

    def failing(*_: object) -> None:
        raise refusal

    monkeypatch.setattr(Run, "_open", failing)
    run = object.__new__(Run)
    playing = run._play_world(World.OFFLINE, [], {}, cast("Any", None), cast("Any", None))
    if is_permanent:
        with pytest.raises(ModelError):
            await playing
    else:
        assert await playing == (refusal,)


async def test_the_pool_foresees_the_next_episodes_and_none_is_lost_by_looking(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    listed = 0

    def jobs() -> Iterator[Job]:
        nonlocal listed
        clean = SimpleNamespace(arm=())
        request = SimpleNamespace(tasks=TASKS, settings=clean)
        run = cast("Any", SimpleNamespace(name="a-run", request=request))
        for number in range(1000):
            listed += 1
            yield Job(run, EpisodeKey(f"task-{number}", World.OFFLINE))

    class Pool:
        def foresee(self, upcoming: Callable[[], Iterable[object]]) -> None:
            self.upcoming = upcoming

    pool = Pool()
    seen: list[list[object]] = []

    class Plays:
        def in_browser_of(self, request: object) -> Self:
            return self

        def until(self, stop: object) -> Self:
            return self

        async def play(self, job: Job) -> None:
            played.append(job.key.task)
            if len(played) in (1, 10):
                seen.append(list(pool.upcoming()))
                assert listed - len(played) < 100

    @asynccontextmanager
    async def of(*_: object) -> AsyncIterator[Plays]:
        yield Plays()

    played: list[str] = []
    monkeypatch.setattr(Worker, "of", of)
    starts = SimpleNamespace(known=lambda task: {"shop": task.id})
    assert await world_runner(pool, starts).play(jobs()) == ()
    assert played == [task.id for task in TASKS]
    assert [next_ones[0] for next_ones in seen] == [{"shop": "task-1"}, {"shop": "task-10"}]
