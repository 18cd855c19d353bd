"""How long it takes to say how far a study of 10,000 episodes is, as a user calls it."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bench.figures import Figure, Series, at_most
from support.studies.registered_study import make_study

_EPISODES: Final = 10_000
_ROUNDS: Final = 10
_GOAL_MS: Final = 500


def study_figures() -> list[Figure]:
    """Time `arena study status`, the start of the process included."""
    arena = Path(sys.executable).with_name("arena")
    taken = []
    with TemporaryDirectory(prefix="arena-bench-") as made:
        study = make_study(Path(made) / "study")
        for run in ("right", "wrong"):
            _fill(study.runs_path / run / "ledger.sqlite", _EPISODES // 2)
        for _ in range(_ROUNDS):
            began = time.perf_counter()
            subprocess.run([arena, "study", "status", study.path], check=True, capture_output=True)
            taken.append((time.perf_counter() - began) * 1000)
    what = f"arena study status of {_EPISODES:,} episodes, ms (reference: its goal)"
    return [at_most(what, Series(taken), _GOAL_MS)]


def _fill(path: Path, episodes: int) -> None:
    with closing(sqlite3.connect(path)) as ledger:
        ledger.executemany(
            "INSERT OR REPLACE INTO attempt VALUES ('one', 'offline', ?, 1, 'finished', 'success',"
            " '2026-11-22T00:00:00.000+00:00', '2026-11-22T00:00:02.000+00:00', 2.0, 100, 20, 0.01,"
            " 'digest')",
            ((repeat,) for repeat in range(episodes)),
        )
        ledger.commit()
