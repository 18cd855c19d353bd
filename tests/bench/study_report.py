"""How long the report of a study of a thousand episodes takes, and how much memory."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bench.figures import Figure, Series, at_most, taken_at_most
from bench.machine import Taken, taken_by
from support.runs.many_episodes import make_many
from support.studies.make_findings import make_findings

from orchestrator.analysis.study_report.page import ReportedRun, write_study_report
from orchestrator.runs.store.run_folder import RunFolder

_ARENA: Final = Path(sys.executable).with_name("arena")
_EPISODES: Final = 1000
_ROUNDS: Final = 3
_GOAL_S: Final = 10
_GOAL_MIB: Final = 1024


def study_report_figures() -> list[Figure]:
    """Write the report in processes of their own, whose memory is nothing else's.

    The page alone, and with all that `arena compare --html` does before: it scores the episodes,
    analyses them and draws the figures, as `arena study report` does.
    """
    with TemporaryDirectory(prefix="arena-bench-") as made:
        folder = Path(made)
        make_many(folder / "runs" / "many", _EPISODES)
        own = [sys.executable, "-m", "bench.study_report", str(folder)]
        pages = [taken_by(own)[0] for _ in range(_ROUNDS)]
        command = (_ARENA, "compare", folder / "runs" / "many", "--html", folder / "compared")
        compared = [taken_by(command)[0] for _ in range(_ROUNDS)]
    return [
        *_of(f"page of a study of {_EPISODES} episodes", pages),
        *_of(f"arena compare --html of {_EPISODES} episodes", compared),
    ]


def _of(what: str, taken: Sequence[Taken]) -> Iterator[Figure]:
    yield taken_at_most(f"{what}, s", taken, _GOAL_S)
    mib = Series([one.mib for one in taken])
    yield at_most(f"{what}, MiB of memory", mib, _GOAL_MIB, "MiB")


def _write(folder: Path) -> None:
    run = ReportedRun(label="many", folder=RunFolder.open(folder / "runs" / "many"))
    write_study_report(make_findings(tasks=100), [run], folder / "report")


if __name__ == "__main__":
    _write(Path(sys.argv[1]))
