"""How far a study is, by its ledgers alone: no evidence is opened, and nothing heavy is imported.

It reads files of a study that may be played at this moment, and holds nothing up.
"""

from __future__ import annotations

import fcntl
import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from arena_core.errors import StoreError
from arena_core.regular_files import open_regular, read_regular, require_regular
from orchestrator.gateway.variations import in_arm
from orchestrator.runs.store.journal import holds_code, seconds_in

_COUNTED: Final = """
SELECT world,
       sum(state = 'finished'),
       sum(state = 'finished' AND outcome = 'success'),
       sum(state = 'finished' AND outcome LIKE 'unscored%'),
       sum(state = 'started'),
       sum(CASE WHEN state = 'finished' THEN {seconds} END),
       sum(state = 'finished' AND ({seconds}) IS NOT NULL),
       max(ended_at)
FROM attempt GROUP BY world
"""
_SPENT: Final = """
SELECT sum(input_tokens + output_tokens), sum(usd), sum(input_tokens IS NOT NULL AND usd IS NULL)
FROM attempt
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellProgress:
    """How far one agent is on one suite in one world and one arm.

    Attributes:
        agent: its label, with the arm.
        total: episodes that there are to be.
        done: those finished; `succeeded` and `unscored` of them.
        started: attempts without an end: under way, or cut off.
        seconds: all that finished ones took; of `timed` of them that is known.
        registered: it stood in the study before anything was played.
    """

    agent: str
    suite: str
    world: str
    run: str
    total: int
    done: int = 0
    succeeded: int = 0
    unscored: int = 0
    started: int = 0
    seconds: float = 0.0
    timed: int = 0
    registered: bool = True

    @property
    def left(self) -> int:
        """How many are not finished."""
        return self.total - self.done


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyProgress:
    """How far a study is.

    Attributes:
        is_running: a process plays it now.
        usd: what its models cost so far; a floor where `unpriced` attempts have no known price.
        last_ended: when the last episode ended, UTC; None before the first.
        workers: episodes of a world side by side: those under way where it is played now, else
            as the study was registered.
        registered: the digest of what was registered, additions left out.
        head: that of the last seal; None before the first.
    """

    name: str
    path: Path
    cells: tuple[CellProgress, ...]
    is_running: bool
    tokens: int
    usd: float
    unpriced: int
    last_ended: str | None
    workers: int
    max_usd: float | None
    max_tokens: int | None
    amendments: int
    registered: str
    head: str | None

    @property
    def total(self) -> int:
        """Episodes that there are to be."""
        return sum(cell.total for cell in self.cells)

    @property
    def done(self) -> int:
        """Episodes finished."""
        return sum(cell.done for cell in self.cells)

    @property
    def seconds_left(self) -> float | None:
        """How long the rest takes, worlds side by side; None while nothing says it.

        An episode of a cell of which none finished is reckoned as the others of its world, or of
        all, on average. What passes between episodes is not in it.
        """
        by_world: dict[str, float] = {}
        for cell in self.cells:
            if not cell.left:
                continue
            mean = self._mean_of(cell)
            if mean is None:
                return None
            by_world[cell.world] = by_world.get(cell.world, 0.0) + cell.left * mean
        return max(by_world.values(), default=0.0) / max(1, self.workers)

    def _mean_of(self, cell: CellProgress) -> float | None:
        same = [one for one in self.cells if one.world == cell.world]
        for known in ([cell], same, list(self.cells)):
            timed = sum(one.timed for one in known)
            if timed:
                return sum(one.seconds for one in known) / timed
        return None

    def document(self) -> dict[str, Any]:
        """Return it as a JSON document."""
        left = self.seconds_left
        return {
            "name": self.name,
            "folder": str(self.path),
            "running": self.is_running,
            "episodes": self.total,
            "done": self.done,
            "seconds_left": None if left is None else round(left, 1),
            "tokens": self.tokens,
            "usd": round(self.usd, 6),
            "unpriced": self.unpriced,
            "amendments": self.amendments,
            "registered": self.registered,
            "head": self.head,
            "cells": [
                {
                    "agent": cell.agent,
                    "suite": cell.suite,
                    "world": cell.world,
                    "run": cell.run,
                    "registered": cell.registered,
                    "episodes": cell.total,
                    "done": cell.done,
                    "succeeded": cell.succeeded,
                    "unscored": cell.unscored,
                }
                for cell in self.cells
            ],
        }


def read_progress(path: Path) -> StudyProgress:
    """Read how far a study is."""
    registration = _document(path / "registration.json", path)
    try:
        return _progress(path, registration)
    except (KeyError, TypeError, ValueError, AttributeError) as cause:
        message = (
            f"{path / 'registration.json'}: is not a valid registration:"
            f" {type(cause).__name__} {cause}"
        )
        raise StoreError(message, hint=f"arena study verify {path}") from cause


def _workers(lock: Mapping[str, Any]) -> int:
    """Return how many workers a run began with; for `auto` the most that it used."""
    asked = lock["workers"]
    return asked if isinstance(asked, int) else int(lock.get("workers_used", (1, 1))[1])  # `auto`


def _progress(path: Path, registration: Mapping[str, Any]) -> StudyProgress:
    cells: list[CellProgress] = []
    tokens, usd, unpriced, last = 0, 0.0, 0, ""
    amendments = registration.get("amendments", [])
    later = [run for one in amendments for run in one.get("runs", [])]
    workers = 1
    lock: Mapping[str, Any] = {}
    for number, run in enumerate([*registration["runs"], *later]):
        folder = path / "runs" / run["folder"]
        lock = _document(folder / "lock.json", path)
        workers = _workers(lock) if number == 0 else workers
        by_world, spent = _counted(folder / "ledger.sqlite")
        tokens, usd, unpriced = tokens + spent[0], usd + spent[1], unpriced + spent[2]
        for world, tasks in run["tasks"].items():
            counts = by_world.get(world, (0, 0, 0, 0, 0.0, 0, ""))
            last = max(last, counts[6])
            cells.append(
                CellProgress(
                    agent=in_arm(run["agent"], run.get("arm")),
                    suite=run["suite"],
                    world=world,
                    run=run["folder"],
                    total=(run.get("own_episodes") or {}).get(world, tasks * lock["repeats"]),
                    done=counts[0],
                    succeeded=counts[1],
                    unscored=counts[2],
                    started=counts[3],
                    seconds=counts[4],
                    timed=counts[5],
                    registered=number < len(registration["runs"]),
                )
            )
    limits = _limits(registration, lock)
    is_running = _is_held(path / ".writer")
    return StudyProgress(
        name=registration["name"],
        path=path,
        cells=tuple(cells),
        is_running=is_running,
        tokens=tokens,
        usd=usd,
        unpriced=unpriced,
        last_ended=last or None,
        workers=(_under_way(cells) if is_running else 0) or workers,
        max_usd=limits.get("max_usd"),
        max_tokens=limits.get("max_tokens"),
        amendments=len(amendments),
        registered=str(amendments[0]["previous"] if amendments else registration["sha256"]),
        head=_last_head(path / "seals.jsonl"),
    )


def _last_head(path: Path) -> str | None:
    try:
        lines = read_regular(path).rpartition(b"\n")[0].splitlines()
    except OSError:
        return None
    return str(json.loads(lines[-1])["sha256"]) if lines else None


def _under_way(cells: Sequence[CellProgress]) -> int:
    """Return how many episodes of one world, of that with most, are under way."""
    worlds = {cell.world for cell in cells}
    return max(
        (sum(cell.started for cell in cells if cell.world == one) for one in worlds), default=0
    )


def _limits(registration: Mapping[str, Any], lock: Mapping[str, Any]) -> Mapping[str, Any]:
    given = [
        one["budget"]["limits"] for one in registration.get("amendments", []) if one.get("budget")
    ]
    found = given[-1] if given else registration.get("budget", lock.get("limits", {}))
    return found or {}


def _counted(
    path: Path,
) -> tuple[dict[str, tuple[int, int, int, int, float, int, str]], tuple[int, float, int]]:
    """Return counts by world, and tokens, dollars and attempts without a price."""
    if not path.is_file():
        return {}, (0, 0.0, 0)
    try:
        require_regular(path)
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as reader:
            if holds_code(reader):
                raise StoreError(f"{path}: is not a run's ledger: it holds views or triggers")
            columns = {str(row[1]) for row in reader.execute("PRAGMA table_info(attempt)")}
            counted = _COUNTED.format(seconds=seconds_in(columns))
            rows: Sequence[Sequence[Any]] = reader.execute(counted).fetchall()
            spent = reader.execute(_SPENT).fetchone() if "usd" in columns else (0, 0.0, 0)
    except (sqlite3.Error, OSError) as cause:
        message = f"{path}: the ledger cannot be read: {cause}"
        hint = "arena study run continues and rebuilds the ledger from the evidence"
        raise StoreError(message, hint=hint) from cause
    by_world = {
        str(row[0]): (row[1], row[2], row[3], row[4], row[5] or 0.0, row[6], row[7] or "")
        for row in rows
    }
    return by_world, (spent[0] or 0, spent[1] or 0.0, spent[2] or 0)


def _is_held(path: Path) -> bool:
    """Whether a process holds the study for writing."""
    try:
        with open_regular(path) as handle:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _document(path: Path, study: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(read_regular(path))
    except FileNotFoundError as cause:
        message = f"{study}: is not a study's folder (it has no {path.relative_to(study)})"
        raise StoreError(message, hint="`arena study run FILE` makes one") from cause
    except OSError as cause:
        raise StoreError(f"{path}: cannot be read: {cause.strerror}") from cause
    except (ValueError, RecursionError) as cause:
        raise StoreError(f"{path}: is not valid JSON: {cause}") from cause
    if not isinstance(found, dict):
        raise StoreError(f"{path}: is not a JSON object")
    return found
