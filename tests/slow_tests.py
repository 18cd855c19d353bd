"""The tests that `make test` leaves to `make test-all`: their order, their time, when each ran.

`last_runs.json` beside this file says for each slow test on which day it last passed and how long
it took. A run with `--oldest-first` plays those first that never ran or ran longest ago, leaves out
what would not be done by `ARENA_TESTS_UNTIL` (Unix time), and writes the file anew: whoever commits
it moves the others to the front. Where days are equal, the turn goes round with the number of
commits, so that clones which commit nothing do not play the same tests for ever.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

RECORD: Final = Path(__file__).with_name("last_runs.json")
# What a slow test takes at most, where neither its mark nor an earlier run says anything else.
USUAL_MINUTES: Final = 4
NEVER: Final = ""


@dataclass(frozen=True, slots=True)
class LastRun:
    """When a test last passed, and how long it took."""

    day: str
    seconds: float


def read_record(path: Path = RECORD) -> dict[str, LastRun]:
    """Return what is known of earlier runs, by node id."""
    if not path.exists():
        return {}
    found: Mapping[str, Mapping[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return {name: LastRun(one["day"], one["seconds"]) for name, one in found.items()}


def write_record(runs: Mapping[str, LastRun], path: Path = RECORD) -> None:
    """Write one line a test, sorted, so that two runs seldom touch the same lines."""
    lines = [
        f"{json.dumps(name)}: {json.dumps({'day': one.day, 'seconds': one.seconds})}"
        for name, one in sorted(runs.items())
    ]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def oldest_first(
    tests: Sequence[tuple[str, str]], runs: Mapping[str, LastRun], turn: int
) -> list[str]:
    """Return node ids in the order to be played.

    Args:
        tests: node id and module of each test, as collected.
        runs: when each last ran.
        turn: at which module the round starts among those of one day.
    """
    modules = sorted({module for _, module in tests})
    place = {module: (number - turn) % len(modules) for number, module in enumerate(modules)}

    def age(test: tuple[str, str]) -> tuple[str, int]:
        name, module = test
        return (runs[name].day if name in runs else NEVER), place[module]

    return [name for name, _ in sorted(tests, key=age)]


def expected_seconds(name: str, minutes: Sequence[float], runs: Mapping[str, LastRun]) -> float:
    """Return how long a test will take: once and a half as last time, else what its marks say."""
    if name in runs:
        return 10 + 1.5 * runs[name].seconds
    return 60 * max(minutes, default=USUAL_MINUTES)


def _commits() -> int:
    counted = subprocess.run(
        ["git", "rev-list", "--count", "HEAD"],
        cwd=RECORD.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    return int(counted.stdout) if counted.returncode == 0 else 0


@dataclass(slots=True, eq=False)
class OldestFirst:
    """The plug-in behind `--oldest-first`."""

    record: Path = RECORD
    runs: dict[str, LastRun] = field(default_factory=dict)
    taken: dict[str, float] = field(default_factory=dict)
    until: float = field(default_factory=lambda: float(os.environ.get("ARENA_TESTS_UNTIL", "inf")))

    def __post_init__(self) -> None:
        self.runs = read_record(self.record)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Play those first that have waited longest."""
        tests = [(item.nodeid, str(item.path)) for item in items]
        place = {name: at for at, name in enumerate(oldest_first(tests, self.runs, _commits()))}
        items.sort(key=lambda item: place[item.nodeid])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Leave a test out, and say so, where it would not be done in time."""
        minutes = [
            float(mark.kwargs.get("minutes", USUAL_MINUTES)) for mark in item.iter_markers("slow")
        ]
        seconds = expected_seconds(item.nodeid, minutes, self.runs)
        if time.time() + seconds > self.until:
            pytest.skip(f"no {seconds / 60:.1f} minutes are left for it (ARENA_TESTS_UNTIL)")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how long a test took, its fixtures included; one that failed stays old."""
        self.taken[report.nodeid] = self.taken.get(report.nodeid, 0.0) + report.duration
        if not report.passed:
            self.taken[report.nodeid] = float("-inf")

    def pytest_sessionfinish(self) -> None:
        """Write down what passed today."""
        today = datetime.now(UTC).date().isoformat()
        passed = {
            name: LastRun(today, round(seconds, 1))
            for name, seconds in self.taken.items()
            if seconds >= 0
        }
        if passed:
            write_record({**self.runs, **passed}, self.record)
