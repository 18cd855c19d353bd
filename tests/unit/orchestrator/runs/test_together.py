"""Runs that are played side by side share workers, order, progress and budget."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from quick_cases import SLOW
from support.runs.tiny_run import SUITE, make_lock, tiny_evidence

from arena_core.errors import StoreError
from arena_core.worlds import World
from evaluators.evidence import Evidence
from orchestrator.agents.model_exchange import Spent
from orchestrator.analysis.studies.planning import interleaved
from orchestrator.episode.environment import AttemptSpec
from orchestrator.runs import run as runner
from orchestrator.runs.agent_choice import choose_agent
from orchestrator.runs.events import EpisodeEnded, EpisodesPlanned, RunEvent
from orchestrator.runs.jobs import Job
from orchestrator.runs.request import RunRequest, together
from orchestrator.runs.run import HowEnded, Run, RunPart
from orchestrator.runs.run_budget import AttemptMeter
from orchestrator.runs.spec import RunSettings, SpendingLimits
from orchestrator.runs.store.digests import digest_of_folder
from orchestrator.runs.store.ledger import AttemptState
from orchestrator.runs.store.run_folder import RunFolder
from orchestrator.runs.worker import Worker
from sites.registry import SiteRegistry
from sites.upstreams import Upstreams

REPEATS = 4
AGENTS = ("a", "b", "c")


@dataclass
class Attempted:
    """What an attempt leaves that answers right."""

    spec: AttemptSpec
    interrupted: bool = False
    files: Mapping[str, bytes] = field(default_factory=dict)

    def evidence(self) -> Evidence:
        return tiny_evidence(
            task=self.spec.task.id,
            agent=self.spec.agent,
            repeat=self.spec.repeat,
            attempt=self.spec.attempt,
        )


@dataclass
class Machine:
    """Plays attempts without containers; counts them, and stops or spends as a test asks."""

    played: list[str] = field(default_factory=list)
    stop_after: int | None = None
    kill_after: int | None = None
    tokens: int = 0
    interrupted: asyncio.Event = field(default_factory=asyncio.Event)
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    agents: dict[int, str] = field(default_factory=dict)

    @asynccontextmanager
    async def open(self, *_: object) -> AsyncIterator[Any]:
        yield SimpleNamespace(upstreams=Upstreams(World.OFFLINE, {}), slot_pool=None, starts=None)

    @asynccontextmanager
    async def worker(self, *_: object) -> AsyncIterator[Worker]:
        environments = cast("Any", SimpleNamespace(isolated=True))
        environments.in_browser = lambda _: environments
        yield Worker(interrupted=self.interrupted, environments=environments)

    async def attempt(self, job: Job, spec: AttemptSpec, meter: AttemptMeter) -> Attempted:
        await asyncio.sleep(0)
        if self.kill_after is not None and len(self.played) == self.kill_after:
            self.reached.set()
            await asyncio.Event().wait()
        self.played.append(f"{self.agents[id(job.run.request)]} r{spec.repeat}")
        if self.tokens:
            meter.add(Spent.reported(self.tokens, 0, None))
        if self.stop_after is not None and len(self.played) == self.stop_after:
            self.interrupted.set()
        return Attempted(spec)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine()

    async def no_budgets(*_: object) -> Mapping[World, int | None]:
        return {}

    monkeypatch.setattr(runner, "share_budget", no_budgets)
    monkeypatch.setattr(Run, "_open", made.open)
    monkeypatch.setattr(Worker, "of", made.worker)
    monkeypatch.setattr(Worker, "_attempt", made.attempt)
    return made


def request_of(agent: str = "oracle") -> RunRequest:
    chosen = choose_agent(agent)
    return RunRequest(
        suite=SUITE,
        tasks=SUITE.tasks,
        agent=chosen.maker,
        agent_lock=chosen.lock,
        settings=RunSettings(repeats=REPEATS),
    )


def study(
    path: Path, machine: Machine, limits: SpendingLimits | None = None
) -> tuple[Run, list[RunEvent]]:
    events: list[RunEvent] = []
    parts = []
    for name in AGENTS:
        at = path / name
        lock = make_lock().model_copy(update={"repeats": REPEATS})
        folder = RunFolder.open(at) if at.exists() else RunFolder.create(at, lock, SUITE)
        part = RunPart(request=request_of(), folder=folder, agent=name)
        machine.agents[id(part.request)] = name
        parts.append(part)
    engine = SimpleNamespace(sweep=nothing_swept)
    run = Run(
        parts=tuple(parts),
        owner="study",
        registry=SiteRegistry({}),
        engine=cast("Any", engine),
        on_event=events.append,
        interrupted=machine.interrupted,
        log_path=path / "arena.log",
        limits=limits or SpendingLimits(),
        whose="study",
        in_order=interleaved(3),
        stops_over_budget=True,
    )
    return run, events


async def nothing_swept(_: str) -> tuple[str, ...]:
    return ()


async def test_agents_take_turns_in_each_repeat_of_each_task(
    tmp_path: Path, machine: Machine
) -> None:
    run, events = study(tmp_path, machine)
    assert await run.play() is HowEnded.DONE
    repeats = [name.split()[1] for name in machine.played]
    assert repeats == [f"r{one}" for one in range(REPEATS) for _ in AGENTS]
    for one in range(REPEATS):
        turn = machine.played[3 * one : 3 * one + 3]
        assert {name.split()[0] for name in turn} == set(AGENTS)
    ends = [event for event in events if isinstance(event, EpisodeEnded)]
    assert [event.done for event in ends] == list(range(1, 13))
    assert {event.total for event in ends} == {12}
    assert {event.agent for event in ends} == set(AGENTS)


@SLOW
async def test_no_agent_is_always_the_first_and_the_seed_alone_says_which(
    tmp_path: Path, machine: Machine
) -> None:
    run, _ = study(tmp_path / "one", machine)
    await run.play()
    first = machine.played[:]
    assert len({name.split()[0] for name in first[::3]}) > 1
    machine.played.clear()
    run, _ = study(tmp_path / "two", machine)
    await run.play()
    assert machine.played == first


@SLOW
async def test_a_stop_keeps_what_finished_and_the_next_start_plays_the_rest_alone(
    tmp_path: Path, machine: Machine
) -> None:
    machine.stop_after = 5
    run, _ = study(tmp_path, machine)
    assert await run.play() is HowEnded.INTERRUPTED
    machine.stop_after = None
    machine.interrupted.clear()
    run, events = study(tmp_path, machine)
    assert await run.play() is HowEnded.DONE
    assert events[0] == EpisodesPlanned(5, 12)
    assert len(machine.played) == 12 == len(set(machine.played))


@SLOW
async def test_a_kill_in_the_middle_of_an_episode_repeats_that_one_alone(
    tmp_path: Path, machine: Machine
) -> None:
    machine.kill_after = 4
    run, _ = study(tmp_path, machine)
    playing = asyncio.create_task(run.play())
    async with asyncio.timeout(10):
        await machine.reached.wait()
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
    machine.kill_after = None
    run, _ = study(tmp_path, machine)
    assert await run.play() is HowEnded.DONE
    assert len(machine.played) == 12 == len(set(machine.played))
    states = []
    for part in run.parts:
        with part.folder.reading() as ledger:
            states += [one.state for one in ledger.attempts()]
    assert states.count(AttemptState.ABANDONED) == 1
    assert states.count(AttemptState.FINISHED) == 12


@SLOW
async def test_one_budget_is_for_all_and_what_it_leaves_is_not_begun(
    tmp_path: Path, machine: Machine
) -> None:
    machine.tokens = 10
    run, _ = study(tmp_path, machine, SpendingLimits(max_tokens=70))
    assert await run.play() is HowEnded.OVER_BUDGET
    assert len(machine.played) == 7
    outcomes = []
    for part in run.parts:
        with part.folder.reading() as ledger:
            outcomes += [one.outcome for one in ledger.finished()]
    assert outcomes == ["success"] * 7
    run, _ = study(tmp_path, machine, SpendingLimits(max_tokens=90))
    assert await run.play() is HowEnded.OVER_BUDGET
    assert len(machine.played) == 9
    run, _ = study(tmp_path, machine, SpendingLimits(max_tokens=900))
    assert await run.play() is HowEnded.DONE


async def test_a_run_that_another_process_plays_is_refused_before_anything_begins(
    tmp_path: Path, machine: Machine
) -> None:
    run, _ = study(tmp_path, machine)
    with run.parts[1].folder.writing(), pytest.raises(StoreError, match="another `arena eval`"):
        await run.play()
    assert machine.played == []


def test_runs_together_need_what_all_their_episodes_need() -> None:
    one = request_of()
    both = together([one, one])
    assert both.worlds == one.worlds
    for world in one.worlds:
        for workers in (1, 2, 2 * one.episodes_in(world), 9 * one.episodes_in(world)):
            asked = replace(one, settings=one.settings.settings(workers=workers))
            wanted = min(workers, 2 * one.episodes_in(world))
            assert together([asked, asked]).workers_in(world) == wanted


def test_a_run_of_one_world_takes_no_worker_in_the_other() -> None:
    both = replace(request_of(), settings=RunSettings(worlds=tuple(World), workers=9))
    both = replace(both, tasks=(both.tasks[0].model_copy(update={"worlds": tuple(World)}),))
    arm = replace(both, settings=RunSettings(workers=9, vary=("look=dark",)))
    needs = together([both, arm, arm])
    assert needs.worlds == tuple(World)
    assert needs.settings.vary == ()
    assert [needs.workers_in(world) for world in World] == [3, 1]


async def test_the_digest_of_each_episodes_evidence_is_in_its_ledger(
    tmp_path: Path, machine: Machine
) -> None:
    run, _ = study(tmp_path, machine)
    await run.play()
    folder = run.parts[0].folder
    with folder.reading() as ledger:
        digests = ledger.evidence_digests()
    assert len(digests) == REPEATS
    for name, digest in digests.items():
        assert digest_of_folder(folder.evidence_folder(name)) == digest
    changed = folder.evidence_folder(next(iter(digests))) / "evidence.json"
    changed.write_text(changed.read_text().replace("1891", "1892"))
    assert digest_of_folder(changed.parent) != digests[changed.parent.name]


async def test_a_run_of_a_billion_episodes_begins_at_once_and_keeps_no_list_of_them(
    tmp_path: Path, machine: Machine
) -> None:
    request = replace(request_of(), settings=RunSettings(repeats=10**9))
    lock = make_lock().model_copy(update={"repeats": 10**9})
    machine.stop_after = 3
    machine.agents[id(request)] = "oracle"
    run = Run.of(
        request,
        RunFolder.create(tmp_path / "run", lock, SUITE),
        owner="run",
        registry=SiteRegistry({}),
        engine=cast("Any", SimpleNamespace(sweep=nothing_swept)),
        on_event=lambda _: None,
        interrupted=machine.interrupted,
    )
    tracemalloc.start()
    try:
        async with asyncio.timeout(20):
            assert await run.play() is HowEnded.INTERRUPTED
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert machine.played == ["oracle r0", "oracle r1", "oracle r2"]
    assert most < 50e6
