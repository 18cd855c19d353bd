"""Whether every trial of runs was finished exactly once, by their ledgers alone.

It shares no code with Arena: it reads locks and suites as JSON, and ledgers by SQL.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

Trial = tuple[str, str, int]
# One row of a ledger: task, world, repeat, attempt, state.
Attempted = tuple[str, str, int, int, str]


def ledger_faults(runs: Iterable[Path], *, kept_in: Path | None = None) -> list[str]:
    """Return what is wrong with runs that are one run, or all shards of one; nothing if all is.

    Args:
        runs: their folders.
        kept_in: the run that they were merged into, which must hold the same attempts.
    """
    folders = list(runs)
    rows = [row for run in folders for row in _attempts(run)]
    finished = Counter(row[:3] for row in rows if row[4] == "finished")
    wanted = {trial for run in folders for trial in _trials(run, shared=False)}
    faults = [f"{run.name}: plays {row[:3]} of another share" for run, row in _strays(folders)]
    faults += [
        f"{trial}: finished {finished[trial]} times"
        for trial in sorted(wanted)
        if finished[trial] != 1
    ]
    faults += [f"{trial}: nobody asked for it" for trial in sorted(finished.keys() - wanted)]
    faults += [f"{row}: has no end" for row in rows if row[4] == "started"]
    for trial in sorted({row[:3] for row in rows}):
        numbers = sorted(row[3] for row in rows if row[:3] == trial)
        if numbers != list(range(1, len(numbers) + 1)):
            faults.append(f"{trial}: has the attempts {numbers}")
    for run in (*folders, *([] if kept_in is None else [kept_in])):
        faults += [f"{run.name}: {what}" for what in _unchained(run)]
    if kept_in is not None and sorted(rows) != sorted(_attempts(kept_in)):
        faults.append(f"{kept_in.name}: holds other attempts than its shards")
    return faults


def _strays(folders: Iterable[Path]) -> Iterator[tuple[Path, Attempted]]:
    for run in folders:
        share = set(_trials(run, shared=True))
        yield from ((run, row) for row in _attempts(run) if row[:3] not in share)


def _trials(run: Path, *, shared: bool) -> Iterator[Trial]:
    """Yield what the lock asks for; of a shard its share alone, where that is wanted."""
    lock, suite = _read(run / "lock.json"), _read(run / "suite.json")
    number, count = map(int, (lock.get("shard") or "1/1").split("/"))
    for task in suite["tasks"]:
        for world in lock["worlds"]:
            if task["id"] not in lock["tasks"] or world not in task["worlds"]:
                continue
            for repeat in range(lock["repeats"]):
                name = f"{world}-{task['id']}-r{repeat}"
                digest = int(hashlib.sha256(name.encode()).hexdigest(), 16)
                if not shared or digest % count == number - 1:
                    yield task["id"], world, repeat


def _attempts(run: Path) -> list[Attempted]:
    return _select(run, "SELECT task, world, repeat, attempt, state FROM attempt")


def _unchained(run: Path) -> Iterator[str]:
    """Yield each attempt of a run's journal that its ledger lost, or the other way round."""
    noted = {
        tuple(entry[name] for name in ("task", "world", "repeat", "attempt"))
        for (content,) in _select(run, "SELECT content FROM entry ORDER BY number")
        if "task" in (entry := json.loads(content))
    }
    for lost in sorted(noted ^ {row[:4] for row in _attempts(run)}):
        yield f"{lost} is in its ledger or its journal alone"


def _select(run: Path, words: str) -> list[Any]:
    with closing(sqlite3.connect(f"file:{run / 'ledger.sqlite'}?mode=ro", uri=True)) as ledger:
        return ledger.execute(words).fetchall()


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
