"""`make soak MINUTES=60`: a long run with a fault a minute, and whether anything grows meanwhile.

`arena eval` plays the random agent on all sites, and beside it a program takes checkpoints, goes
back to them and forks. Every ten seconds both are looked at from outside; at the end each figure's
slope, and the last episodes' pace against the first ones'. All is kept in `build/soak`.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Final

from faults.judging import Injected, files_left, marked, now, processes_left, rows_of
from faults.kinds import KINDS, Scene
from sabotage.engine_cli import containers_of, docker, remove_all, volumes_of
from sabotage.relay import Relay
from soak import forks
from soak.trends import (
    FIGURES,
    Sample,
    descriptors,
    episodes_a_minute,
    files_below,
    memory_mb,
    trend,
)
from support.agents.arena_process import ArenaProcess, arena

_FOLDER: Final = Path(__file__).parents[2] / "build" / "soak"
_MARK: Final = "ARENA_FAULTS_OF"
_EVERY_S: Final = 10.0
_FAULT_EVERY_S: Final = 60.0
# A fifth of the time is warming up, and a sixth (ten minutes of an hour) is compared.
_WARMING: Final = 0.2
_COMPARED: Final = 1 / 6
_LEAST_PACE: Final = 0.9
_KINDS: Final = tuple(kind for kind in KINDS if kind.area not in {"driver", "model"})
_FORKED: Final = ("arena-120/tools-label-the-dentist", "arena-120/tools-pin-the-train")


class _Soak:
    def __init__(self, minutes: float, tasks: Sequence[str]) -> None:
        self._seconds = minutes * 60
        self._tasks = tasks
        self._dice = Random("soak")
        self._temporary = _FOLDER / "tmp"
        self._temporary.mkdir(parents=True)
        self._run = _FOLDER / "run"
        self.samples: list[Sample] = []
        self.injected: list[Injected] = []
        self.notes: list[str] = []
        self.said: list[str] = []
        self._began = time.time()

    def run(self) -> None:
        """Play until the time is over, remove everything, and note what stays."""
        mark = f"soak-{time.time_ns()}"
        with Relay() as relay:
            env = {"DOCKER_HOST": relay.url, "TMPDIR": str(self._temporary), _MARK: mark}
            with self._driver(env) as driver, self._forker(env) as forker:
                owners = self._watch(driver, forker, relay, mark)
                relay.forget()
                for process in (forker, driver):
                    process.interrupt()
                self.said = forker.wait().out.splitlines()
                driver.wait()
        for owner in owners:
            arena("down", "--owner", owner, cwd=_FOLDER)
            self.notes += [f"container {one[:12]} is left" for one in containers_of(owner)]
            self.notes += [f"volume {one[:12]} is left" for one in volumes_of(owner)]
            remove_all(owner)
        self.notes += [f"process is left: {one[:150]}" for one in processes_left(f"{_MARK}={mark}")]
        self.notes += [f"temporary {one} is left" for one in files_left(self._temporary)]

    @contextmanager
    def _driver(self, env: dict[str, str]) -> Iterator[ArenaProcess]:
        words = ("--agent", "random", "--repeats", "50", "--workers", "2", "--attempts", "50")
        suite = ("--suite", "arena-120", *self._tasks, *words, "--out", "run")
        with ArenaProcess("eval", *suite, cwd=_FOLDER, env=env) as process:
            yield process

    @contextmanager
    def _forker(self, env: dict[str, str]) -> Iterator[ArenaProcess]:
        program = (sys.executable, forks.__file__)
        with ArenaProcess(*_FORKED, cwd=_FOLDER, env=env, program=program) as process:
            yield process

    def _watch(
        self, driver: ArenaProcess, forker: ArenaProcess, relay: Relay, mark: str
    ) -> list[str]:
        """Look, and strike, until the time is over; return whose containers there were."""
        began, next_fault = time.monotonic(), _FAULT_EVERY_S
        owners: set[str] = set()
        while (at := time.monotonic() - began) < self._seconds and not driver.has_ended:
            owners |= _owners(self._run, forker.pid)
            self.samples.append(Sample(at, self._figures(driver.pid, forker.pid, owners, mark)))
            if at >= next_fault and (self._run / "lock.json").exists():
                next_fault += _FAULT_EVERY_S
                self._strike(driver, relay)
            threading.Event().wait(_EVERY_S)  # a sample every so often
        if driver.has_ended:
            ended = driver.wait()
            self.notes.append(f"the run ended by itself with {ended.code}: {ended.err[-500:]}")
        return sorted(owners)

    def _strike(self, driver: ArenaProcess, relay: Relay) -> None:
        """Inject one fault, of the first kind that finds something to strike."""
        scene = Scene(_owner(self._run), driver, relay, None, self._dice)
        for kind in self._dice.sample(_KINDS, len(_KINDS)):
            at, struck = now(), kind.strike(scene)
            if struck is not None:
                self.injected.append(Injected(0, kind.area, kind.name, at, struck.what))
                return

    def _figures(
        self, driver: int, forker: int, owners: Iterable[str], mark: str
    ) -> dict[str, float]:
        found: dict[str, float] = {}
        for name, pid in (("driver", driver), ("forker", forker)):
            with suppress(OSError):
                found[f"{name} MB"] = memory_mb(pid)
                found[f"{name} descriptors"] = descriptors(pid)
        with suppress(subprocess.SubprocessError):  # the engine is busy: the next sample has it
            found["containers"] = sum(len(containers_of(one)) for one in owners)
            found["volumes"] = sum(len(volumes_of(one)) for one in owners)
        found["processes"] = len(marked(f"{_MARK}={mark}"))
        found["temporary files"], found["temporary MB"] = files_below(self._temporary)
        return found

    def report(self) -> tuple[str, bool]:
        """Return the figures in lines, and whether all is flat, and as quick as at first."""
        warm = self._seconds * _WARMING
        samples = [one for one in self.samples if one.at_s >= warm]
        lines, fine = [f"{'figure':20} {'mean':>10} {'growth':>10} {'in 24 h':>10}"], True
        for name in FIGURES:
            found = trend(name, samples)
            if found is None:
                lines.append(f"{name:20} too few samples")
                continue
            fine &= found.is_flat
            numbers = f"{found.mean:10.1f} {found.growth:10.1f} {found.of_a_day:10.0f}"
            lines.append(f"{name:20} {numbers} {'flat' if found.is_flat else 'GROWS'}")
        first, last = self._paces(warm)
        fine &= last >= _LEAST_PACE * first and not self.notes
        lines.append(f"episodes a minute: {first:.1f} at first, {last:.1f} at last")
        forked = Counter(line.partition(":")[0] for line in self.said)
        lines.append(f"forker: {dict(forked)}; faults: {len(self.injected)}")
        return "\n".join([*lines, *self.notes, "passed" if fine else "FAILED", ""]), fine

    def _paces(self, warm: float) -> tuple[float, float]:
        """Return the episodes a minute after warming up, and at the end."""
        with suppress(sqlite3.Error, ValueError):
            rows = [row for row in rows_of(self._run) if row[4] == "finished" and row[7]]
            ends = [datetime.fromisoformat(row[7] or "").timestamp() - self._began for row in rows]
            window = self._seconds * _COMPARED
            return (
                episodes_a_minute(ends, warm, warm + window),
                episodes_a_minute(ends, self._seconds - window, self._seconds),
            )
        return 0.0, 0.0


def _owner(run: Path) -> str:
    return str(json.loads((run / "lock.json").read_bytes())["run"])


def _owners(run: Path, forker: int) -> set[str]:
    """Return whose containers are this soak's: its run's, and its forking program's."""
    found = {_owner(run)} if (run / "lock.json").exists() else set()
    names = docker("ps", "--all", "--format", '{{.Label "arena.owner"}}').splitlines()
    return found | {name for name in names if name.startswith(f"episodes-{forker}-")}


def main(minutes: float, tasks: Sequence[str]) -> int:
    """Run so long, on all tasks or those named; 0 if nothing grows and nothing slows down."""
    shutil.rmtree(_FOLDER, ignore_errors=True)
    soak = _Soak(minutes, tasks)
    soak.run()
    said, fine = soak.report()
    kept = {
        "samples": [asdict(one) for one in soak.samples],
        "faults": [asdict(one) for one in soak.injected],
        "forker": soak.said,
        "notes": soak.notes,
    }
    (_FOLDER / "soak.json").write_text(json.dumps(kept, indent=1))
    sys.stdout.write(said)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 60, sys.argv[2:]))
