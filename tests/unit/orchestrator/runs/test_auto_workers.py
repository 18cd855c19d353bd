"""Workers that follow the machine: real steering, and what a kernel shows in files of the test."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from support.runs.tiny_run import SUITE, make_lock

from arena_core.errors import UsageError
from arena_core.worlds import World
from orchestrator.runs.auto_workers import AutoWorkers
from orchestrator.runs.control import Order
from orchestrator.runs.jobs import Job, PlayedRun
from orchestrator.runs.machine_load import MachineLoad
from orchestrator.runs.orders import Orders
from orchestrator.runs.steering import Queue, Steering
from orchestrator.runs.store.ledger import EpisodeKey
from orchestrator.runs.store.lock import lock_digest
from orchestrator.runs.store.run_folder import RunFolder
from orchestrator.sandbox.memory import GIB, MIB

STATS = "anon 1\ninactive_file 0\n"


@dataclass
class Machine:
    """The files of a kernel; its clock stands until the test moves it."""

    root: Path
    now: float = 100.0
    waited_us: int = 5_000_000

    def __post_init__(self) -> None:
        (self.root / "proc/self").mkdir(parents=True)
        (self.root / "proc/pressure").mkdir()
        self.memory(8 * GIB)
        self.group("0::/arena.slice/run\n")
        self.wait(0)

    @property
    def load(self) -> MachineLoad:
        groups = self.root / "groups"
        return MachineLoad(proc=self.root / "proc", groups=groups, clock=lambda: self.now)

    def group(self, text: str) -> None:
        (self.root / "proc/self/cgroup").write_text(text)

    def memory(self, free: int, total: int = 16 * GIB) -> None:
        text = f"MemTotal: {total >> 10} kB\nMemFree: 0 kB\nMemAvailable: {free >> 10} kB\n"
        (self.root / "proc/meminfo").write_text(text)

    def wait(self, seconds: float, of: str = "proc/pressure/cpu") -> None:
        self.waited_us += int(seconds * 1e6)
        path = self.root / of
        path.parent.mkdir(parents=True, exist_ok=True)
        avg = "avg10=0.00 avg60=0.00 avg300=0.00"
        path.write_text(f"some {avg} total={self.waited_us}\nfull {avg} total=999\n")

    def write(self, folder: str, **files: str) -> None:
        made = self.root / "groups" / folder
        made.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (made / name.replace("__", ".")).write_text(text)


@dataclass
class Hired:
    """The workers of a world; the replicas of more than `fits` have no room."""

    each_bytes: int = 600 * MIB
    fits: int = 9
    reached: list[int] = field(default_factory=list)

    def require_room(self, count: int) -> None:
        if count > self.fits:
            raise UsageError(f"{count} workers need 9 GiB")

    def reach(self, count: int) -> None:
        self.reached.append(count)


@dataclass
class Stage:
    machine: Machine
    folder: RunFolder
    steering: Steering
    crew: Hired = field(default_factory=Hired)
    notes: list[str] = field(default_factory=list)

    @property
    def run(self) -> PlayedRun:
        keeper = cast("Any", SimpleNamespace(folder=self.folder, progress=None, budget=None))
        return PlayedRun(name="run", request=cast("Any", None), attempt_runner=keeper)

    def begin(self, workers: int = 2, episodes: int = 30) -> AutoWorkers:
        jobs = [Job(self.run, EpisodeKey("one", World.OFFLINE, n)) for n in range(episodes)]
        self.steering.opened(World.OFFLINE, Queue(iter(jobs), set(range(workers))), self.crew)
        return AutoWorkers.begin(
            self.steering, [self.run], self.notes.append, workers, self.machine.load
        )

    def play(self, seconds: float, share: float) -> int:
        """Play an episode, while work waits for cores so much; return the number of workers."""
        with self.steering.playing(Job(self.run, EpisodeKey("one", World.OFFLINE, 99))):
            self.machine.now += seconds
            self.machine.wait(seconds * share)
        return self.steering.workers


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    folder = RunFolder.create(tmp_path / "run", make_lock(), SUITE)
    return Stage(Machine(tmp_path / "machine"), folder, Steering(asyncio.Event()))


def test_idle_cores_get_a_worker_more_at_the_end_of_an_episode_and_the_log_says_why(
    stage: Stage,
) -> None:
    stage.begin()
    assert stage.play(11, 0.2) == 2  # how it began counts for nothing
    assert stage.play(5, 0.2) == 3
    assert stage.notes == [
        "--workers auto begins with 2 workers in each world",
        "workers 2 → 3: work waited for a core 20% of the time, 8,192 MiB of memory are free",
    ]
    assert stage.play(5, 0.2) == 3  # the new one starts its browser
    assert stage.play(6, 0.95) == 3
    assert stage.play(5, 0.95) == 2
    assert stage.crew.reached == [3, 2]
    assert stage.play(31, 1.0) == stage.play(31, 1.0) == 2  # one a core


def test_a_moment_of_rest_adds_no_worker(stage: Stage) -> None:
    stage.begin()
    assert stage.play(11, 0.9) == 2
    assert stage.play(2, 0.1) == stage.play(3.5, 0.95) == 2
    assert stage.crew.reached == []


def test_the_lock_says_which_numbers_were_used_and_keeps_its_digest(stage: Stage) -> None:
    before = lock_digest(stage.folder.lock())
    stage.begin()
    for _ in range(3):
        stage.play(31, 0.1)
    assert stage.folder.lock().workers_used == (2, 5)
    assert lock_digest(stage.folder.lock()) == before


def test_memory_that_other_programs_take_makes_workers_leave(stage: Stage) -> None:
    stage.begin()
    stage.machine.memory(500 * MIB)
    assert stage.play(31, 0.1) == 1
    assert stage.play(31, 0.1) == 1
    assert "workers 2 → 1: 500 MiB of memory are free" in stage.notes


def test_no_worker_is_added_whose_replicas_do_not_fit_or_who_has_nothing_to_play(
    stage: Stage,
) -> None:
    stage.crew.fits = 3
    stage.begin(episodes=8)
    assert [stage.play(31, 0.1) for _ in range(4)] == [3, 3, 3, 3]
    assert stage.notes[2:] == ["workers stay 3: 4 workers need 9 GiB"]
    alone = Stage(stage.machine, stage.folder, Steering(asyncio.Event()))
    alone.begin(episodes=2)
    assert [alone.play(31, 0.1) for _ in range(4)] == [2, 2, 2, 2]


def test_a_number_that_a_person_sets_stays(stage: Stage) -> None:
    stage.begin()
    run = cast("Any", SimpleNamespace(attempt_runner=stage.run.attempt_runner))
    orders = Orders(stage.steering, [run], stage.notes.append)
    said = orders._done(Order(do="workers", workers=4))
    assert said.endswith("; the number no longer follows the machine")
    assert [stage.play(31, share) for share in (0.1, 0.1, 1.0, 1.0)] == [4] * 4


def test_nothing_is_added_while_the_run_is_paused_or_ends(stage: Stage) -> None:
    stage.begin()
    stage.steering.pause()
    assert stage.play(31, 0.1) == stage.play(31, 0.1) == 2
    stage.steering.go()
    stage.steering._interrupted.set()
    assert stage.play(31, 0.1) == stage.play(31, 0.1) == 2
    assert stage.crew.reached == []


@pytest.mark.parametrize("text", [None, "", "garbage\n"])
def test_a_kernel_that_counts_nothing_keeps_the_number_and_says_so(
    stage: Stage, text: str | None
) -> None:
    pressure = stage.machine.root / "proc/pressure/cpu"
    pressure.unlink() if text is None else pressure.write_text(text)
    stage.begin()
    assert "this kernel does not count what waits for cores" in stage.notes[0]
    assert stage.steering.on_end is None
    assert stage.folder.lock().workers_used == (2, 2)


def test_a_control_group_bounds_cores_and_memory_where_the_machine_has_more(
    tmp_path: Path,
) -> None:
    machine = Machine(tmp_path)
    machine.write("arena.slice", memory__max=f"{2 * GIB}\n", memory__current=f"{GIB}\n")
    machine.write("arena.slice", memory__stat=f"anon 5\ninactive_file {512 * MIB}\n")
    machine.write("arena.slice/run", memory__max="max\n", memory__current="5\n", memory__stat=STATS)
    machine.wait(0, "groups/arena.slice/run/cpu.pressure")
    first = machine.load.look()
    machine.now += 10
    machine.wait(4, "groups/arena.slice/run/cpu.pressure")
    second = machine.load.look()
    assert first is not None
    assert second is not None
    borne = second.since(first)
    assert borne.cpu == pytest.approx(0.4)
    assert (borne.free_bytes, borne.total_bytes) == (GIB + 512 * MIB, 2 * GIB)


def test_a_control_group_of_version_1_bounds_memory(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.group("6:cpu,cpuacct:/docker/1\n4:memory:/docker/1\n0::/\n")
    files = {"memory__limit_in_bytes": f"{GIB}\n", "memory__usage_in_bytes": f"{300 * MIB}\n"}
    machine.write("memory", **files, memory__stat=STATS)  # a container sees its own as the root
    look = machine.load.look()
    assert look is not None
    assert look.free_bytes == GIB - 300 * MIB


def test_this_machine_can_be_looked_at() -> None:
    look = MachineLoad().look()
    assert look is None or look.free_bytes <= look.total_bytes
