"""How long the report of a study of a thousand episodes takes, and how much memory."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bench.figures import Figure, Series, at_most
from make_findings import make_findings
from many_episodes import make_many

from orchestrator.store.run_folder import RunFolder
from orchestrator.study_report.page import ReportedRun, write_study_report

_EPISODES: Final = 1000
_ROUNDS: Final = 3
_GOAL_S: Final = 10
_GOAL_MIB: Final = 1024


def study_report_figures() -> list[Figure]:
    """Write the report in processes of their own, whose memory is nothing else's."""
    with TemporaryDirectory(prefix="arena-bench-") as made:
        folder = Path(made)
        make_many(folder / "runs" / "many", _EPISODES)
        written = [_written(folder) for _ in range(_ROUNDS)]
    what = f"report of {_EPISODES} episodes"
    return [
        at_most(f"{what}, s", Series([seconds for seconds, _ in written]), _GOAL_S, "s"),
        at_most(f"{what}, MiB of memory", Series([mib for _, mib in written]), _GOAL_MIB, "MiB"),
    ]


def _written(folder: Path) -> tuple[float, float]:
    words = (sys.executable, "-m", "bench.study_report", str(folder))
    said = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()
    return float(said[0]), float(said[1])


def _write(folder: Path) -> None:
    began = time.perf_counter()
    run = ReportedRun(label="many", folder=RunFolder.open(folder / "runs" / "many"))
    write_study_report(make_findings(tasks=100), [run], folder / "report")
    seconds = time.perf_counter() - began
    print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


if __name__ == "__main__":
    _write(Path(sys.argv[1]))
