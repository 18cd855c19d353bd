"""Orders to a run that is played: over its real socket, into real attempts, ledger and lock."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self, cast

import pytest
from support.runs.tiny_run import SUITE, make_lock, tiny_evidence

from arena_core.errors import StoreError, UsageError
from arena_core.worlds import World
from evaluators.evidence import EpisodeFault, Evidence, UnscoredReason
from orchestrator.runs import control
from orchestrator.runs.attempts import AttemptRunner, Progress
from orchestrator.runs.control import give_order, read_order, socket_of, takes_orders
from orchestrator.runs.jobs import Job, PlayedRun
from orchestrator.runs.orders import Orders
from orchestrator.runs.steering import Steering, UnderWay
from orchestrator.runs.store.ledger import AttemptState, EpisodeKey
from orchestrator.runs.store.lock import lock_digest
from orchestrator.runs.store.run_folder import RunFolder
from orchestrator.runs.worker import Worker, WorldRunner
from sites.upstreams import Upstreams

FAULT = EpisodeFault(reason=UnscoredReason.INFRA, message="container died")


@dataclass
class Attempted:
    left: Evidence
    interrupted: bool
    files: dict[str, bytes] = field(default_factory=dict)

    def evidence(self) -> Evidence:
        return self.left


@dataclass
class Slots:
    """A pool that has room for so many slots, and notes what it was resized to."""

    fits: int = 4
    sizes: list[int] = field(default_factory=list)

    def resized(self, count: int) -> None:
        if count > self.fits:
            raise UsageError(f"{count} do not fit")

    def resize(self, count: int) -> None:
        self.sizes.append(count)

    def foresee(self, upcoming: object) -> None:
        pass


@dataclass
class Stage:
    """A run whose attempts end when the test lets them, or when they are stopped."""

    run: PlayedRun
    pool: Slots = field(default_factory=Slots)
    interrupted: asyncio.Event = field(default_factory=asyncio.Event)
    notes: list[str] = field(default_factory=list)
    began: list[str] = field(default_factory=list)
    faults: dict[str, EpisodeFault] = field(default_factory=dict)
    _ends: dict[str, asyncio.Event] = field(default_factory=dict)
    _more: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def folder(self) -> RunFolder:
        return self.run.attempt_runner.folder

    def end(self, name: str) -> None:
        self._ends.pop(name).set()

    async def until_began(self, *names: str) -> None:
        """Wait until exactly these episodes have begun, in any order."""
        async with asyncio.timeout(5):
            while len(self.began) < len(names):
                self._more.clear()
                await self._more.wait()
        await settled()
        assert sorted(self.began) == sorted(names)

    async def order(self, do: str, **given: Any) -> control.RunState:
        state = await give_order(self.folder.path, read_order(do=do, **given))
        await settled()
        return state

    @asynccontextmanager
    async def worker(self, *_: object) -> AsyncIterator[_Actor]:
        yield _Actor(self, self.interrupted)

    async def attempt(self, key: EpisodeKey, number: int, stop: asyncio.Event) -> Attempted:
        name, ended = key.name, asyncio.Event()
        self._ends[name] = ended
        self.began.append(name)
        self._more.set()
        waiting = [asyncio.create_task(one.wait()) for one in (ended, stop)]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for one in waiting:
            one.cancel()
        parts = {"repeat": key.repeat, "attempt": number, "fault": self.faults.pop(name, None)}
        return Attempted(tiny_evidence(run="r1", **parts), interrupted=stop.is_set())

    def states(self) -> dict[str, list[tuple[AttemptState, str | None]]]:
        found: dict[str, list[tuple[AttemptState, str | None]]] = {}
        for one in self.run.attempt_runner.ledger.attempts():
            found.setdefault(one.key.name, []).append((one.state, one.outcome))
        return found


@dataclass
class _Actor:
    stage: Stage
    stop: asyncio.Event

    def in_browser_of(self, _: object) -> Self:
        return self

    def until(self, under_way: UnderWay) -> _Actor:
        return _Actor(self.stage, under_way.stop)

    async def play(self, job: Job) -> None:
        async def perform(number: int) -> Attempted:
            return await self.stage.attempt(job.key, number, self.stop)

        await job.run.attempt_runner.play(job.key, SUITE.tasks[0], perform)


async def settled() -> None:
    for _ in range(30):
        await asyncio.sleep(0)


def key(repeat: int) -> EpisodeKey:
    return EpisodeKey("one", World.OFFLINE, repeat)


ZERO, ONE, TWO, THREE = (key(number).name for number in range(4))


@pytest.fixture
async def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stage]:
    """A run of four episodes with two workers, which is played to its end after the test."""
    lock = make_lock().model_copy(update={"repeats": 4})
    folder = RunFolder.create(tmp_path / "run", lock, SUITE)
    with folder.writing() as ledger:
        keeper = AttemptRunner(
            folder=folder,
            ledger=ledger,
            limit=1,
            progress=Progress(total=4),
            on_event=lambda _: None,
        )
        run = PlayedRun(name="run", request=cast("Any", SimpleNamespace()), attempt_runner=keeper)
        stage = Stage(run)
        monkeypatch.setattr(Worker, "of", stage.worker)
        steering = Steering(stage.interrupted, [run])
        runner = WorldRunner(
            world=cast(
                "Any",
                SimpleNamespace(
                    upstreams=Upstreams(World.OFFLINE, {}), slot_pool=stage.pool, starts=None
                ),
            ),
            workers=2,
            on_event=lambda _: None,
            interrupted=stage.interrupted,
            steering=steering,
        )
        orders = Orders(steering, [run], stage.notes.append)
        async with takes_orders(folder.path, orders, stage.notes.append):
            playing = asyncio.create_task(runner.play(run.jobs_of(map(key, range(4)))))
            await stage.until_began(ZERO, ONE)
            yield stage
            stage.interrupted.set()
            async with asyncio.timeout(5):
                assert await playing == ()
    assert not socket_of(folder.path).exists()


async def test_a_pause_holds_back_what_has_not_begun_until_go(stage: Stage) -> None:
    assert (await stage.order("pause")).is_paused
    stage.end(ZERO)
    stage.end(ONE)
    await settled()
    assert stage.began == [ZERO, ONE]
    state = await stage.order("status")
    assert (state.done, state.total, state.playing) == (2, 4, ())
    assert not (await stage.order("go")).is_paused
    await stage.until_began(ZERO, ONE, TWO, THREE)


async def test_a_paused_run_that_is_interrupted_ends(stage: Stage) -> None:
    await stage.order("pause")
    stage.end(ZERO)
    await settled()
    stage.interrupted.set()  # the fixture waits for the end


async def test_one_episode_stops_and_stays_open_while_the_others_go_on(stage: Stage) -> None:
    state = await stage.order("stop", episode=ONE)
    assert state.said == f"run/{ONE} stops after the step under way, and stays open"
    await stage.until_began(ZERO, ONE, TWO)
    assert stage.states()[ONE] == [(AttemptState.ABANDONED, None)]
    assert stage.states()[ZERO] == [(AttemptState.STARTED, None)]
    await stage.order("requeue")
    stage.end(TWO)
    stage.end(ZERO)
    await stage.until_began(ZERO, ONE, TWO, THREE, ONE)
    stage.end(ONE)
    await settled()
    assert [one[0] for one in stage.states()[ONE]] == [
        AttemptState.ABANDONED,
        AttemptState.FINISHED,
    ]


async def test_what_was_unscored_is_played_again_after_the_others_and_the_rest_is_not(
    stage: Stage,
) -> None:
    stage.faults[ZERO] = FAULT
    stage.end(ZERO)
    stage.end(ONE)
    await stage.until_began(ZERO, ONE, TWO, THREE)
    assert (await stage.order("status")).done == 2
    state = await stage.order("requeue")
    assert (state.said, state.done) == ("1 episode in the queue again", 1)
    stage.end(TWO)
    await stage.until_began(ZERO, ONE, TWO, THREE, ZERO)
    stage.end(ZERO)
    await settled()
    assert stage.states()[ZERO] == [
        (AttemptState.ABANDONED, None),
        (AttemptState.FINISHED, "success"),
    ]
    assert (await stage.order("requeue")).said == "0 episodes in the queue again"


async def test_fewer_workers_play_side_by_side_and_again_as_many_as_before(stage: Stage) -> None:
    assert (await stage.order("workers", workers=1)).workers == 1
    stage.end(ZERO)
    await settled()
    assert stage.began == [ZERO, ONE]
    stage.end(ONE)
    await stage.until_began(ZERO, ONE, TWO)
    await stage.order("workers", workers=2)
    await stage.until_began(ZERO, ONE, TWO, THREE)


async def test_more_workers_than_the_run_began_with_join_at_once(stage: Stage) -> None:
    assert (await stage.order("workers", workers=9)).workers == 9
    await stage.until_began(ZERO, ONE, TWO, THREE)
    assert stage.pool.sizes == [4]  # no replica is started for an episode that there is not


async def test_more_workers_than_fit_change_nothing(stage: Stage) -> None:
    stage.pool.fits = 3
    with pytest.raises(UsageError, match="4 do not fit"):
        await stage.order("workers", workers=4)
    assert (await stage.order("status")).workers == 2
    assert (stage.began, stage.pool.sizes) == ([ZERO, ONE], [])
    assert (await stage.order("workers", workers=3)).workers == 3
    await stage.until_began(ZERO, ONE, TWO)


async def test_each_order_stands_in_log_and_lock_and_the_digest_of_the_lock_stays(
    stage: Stage,
) -> None:
    before = stage.folder.lock()
    await stage.order("status")
    assert stage.folder.lock() == before
    await stage.order("pause")
    await stage.order("stop", episode=ZERO)
    await stage.order("limit", max_usd=2.5)
    with pytest.raises(UsageError):
        await stage.order("stop", episode="offline-none-r0")
    lock = stage.folder.lock()
    assert [one.order for one in lock.steered] == ["pause", f"stop {ZERO}", "limit $2.5"]
    assert len(stage.notes) == 3
    assert "pause by " in (lock.steered_in_words or "")
    assert lock_digest(lock) == lock_digest(before)
    assert before.steered_in_words is None


async def test_a_limit_holds_from_then_on(stage: Stage) -> None:
    budget = stage.run.attempt_runner.budget
    await stage.order("limit", max_tokens=10)
    assert budget.limits.max_tokens == 10
    assert stage.folder.lock().current_limits.max_tokens == 10
    await stage.order("limit", max_usd=1)
    assert (budget.limits.max_usd, budget.limits.max_tokens) == (1, 10)


async def test_an_unknown_episode_is_refused_with_those_that_are_played(stage: Stage) -> None:
    with pytest.raises(UsageError, match="no such episode is played now") as refused:
        await stage.order("stop", episode=TWO)
    assert refused.value.hint == f"played now: run/{ZERO}, run/{ONE}"


@pytest.mark.parametrize("line", [b"\n", b"{}garbage\n", b'{"do": "explode"}\n', b"x" * 3_000_000])
async def test_what_is_no_order_changes_nothing(stage: Stage, line: bytes) -> None:
    before = stage.folder.lock()
    reader, writer = await asyncio.open_unix_connection(socket_of(stage.folder.path))
    writer.write(line)
    try:
        answer = await reader.readline()
    except ConnectionError:
        answer = b""
    writer.close()
    assert b'"state":null' in answer or not answer
    assert stage.folder.lock() == before
    assert (await stage.order("status")).total == 4


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"do": "stop"}, "`stop` takes an episode"),
        ({"do": "pause", "workers": 2}, "`pause` takes nothing else"),
        ({"do": "limit"}, "`limit` takes a limit"),
        ({"do": "workers", "workers": 0}, "workers: "),
        ({"do": "explode"}, "do: "),
    ],
)
def test_an_order_that_makes_no_sense_is_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        read_order(**given)


async def test_a_run_that_nobody_plays_takes_no_orders(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", make_lock(), SUITE)
    with pytest.raises(StoreError, match="no process of this user plays it now"):
        await give_order(folder.path, read_order())
    with pytest.raises(StoreError, match="neither a run's folder nor a study's"):
        await give_order(tmp_path, read_order())


async def test_a_socket_that_a_killed_process_left_is_in_nobodys_way(tmp_path: Path) -> None:
    socket_of(tmp_path).parent.mkdir(mode=0o700, exist_ok=True)
    socket_of(tmp_path).touch()
    async with takes_orders(tmp_path, cast("Any", None), lambda _: None):
        assert socket_of(tmp_path).is_socket()
        assert socket_of(tmp_path).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("make", [lambda one: one.mkdir(mode=0o777), lambda one: one.touch()])
async def test_where_others_could_give_orders_the_run_plays_and_takes_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None]
) -> None:
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    folder = tmp_path / f"arena-{os.getuid()}"
    make(folder)
    if folder.is_dir():
        folder.chmod(0o777)
    notes: list[str] = []
    async with takes_orders(tmp_path, cast("Any", None), notes.append):
        assert not socket_of(tmp_path).exists()
    assert "takes no orders" in notes[0]
