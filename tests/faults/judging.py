"""What is wrong with a run after its faults: its files, its processes, what it left behind."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from orchestrator.browser.process import profile

_PATIENCE_S: Final = 20.0


@dataclass(slots=True)
class Injected:
    """A fault, what it struck, and what came of it; `struck` is None where nothing was there."""

    seed: int
    area: str
    name: str
    at: str
    struck: str | None = None
    came: str = ""


def now() -> str:
    """Return the time as a ledger writes it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


Row = tuple[str, str, int, int, str, str | None, str, str | None]


def rows_of(run: Path) -> list[Row]:
    words = "SELECT task, world, repeat, attempt, state, outcome, started_at, ended_at FROM attempt"
    with closing(sqlite3.connect(f"file:{run / 'ledger.sqlite'}?mode=ro", uri=True)) as ledger:
        return ledger.execute(words).fetchall()


def plays(run: Path, began: str) -> bool:
    """Whether an attempt has begun since."""
    try:
        return any(row[6] > began for row in rows_of(run))
    except sqlite3.Error:
        return False  # there is no ledger yet


def blamed(rows: Sequence[Row]) -> list[str]:
    """Name the episodes in which a reference failed: that was the fault's doing, not its own."""
    return [
        f"{row[:4]}: an oracle's episode is {row[5]!r}"
        for row in rows
        if row[4] == "finished" and row[5] not in {"success", "unscored: infra"}
    ]


def unproven(run: Path) -> Iterator[str]:
    for path in sorted(run.glob("evidence/*/evidence.json")):
        for receipt in json.loads(path.read_bytes()).get("receipts", []):
            if receipt["after"] != receipt["golden"]:
                yield f"{path.parent.name}: began on a replica of {receipt['site']} not proven"


def say_what_came(injected: Sequence[Injected], rows: Sequence[Row]) -> None:
    """Enter what became of the attempts that were under way when each fault struck."""
    for one in injected:
        if one.struck is None:
            one.came = "nothing was there"
        elif not one.came:
            states = [row[4] for row in rows if row[6] <= one.at <= (row[7] or "9")]
            broke = sum(state != "finished" for state in states)
            one.came = f"{broke} attempts broke off" if broke else "nothing broke off"


def marked(mark: str) -> list[str]:
    """Return the command lines of all processes with a variable in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in path.read_bytes().split(b"\0"):
                command = (path.parent / "cmdline").read_bytes().replace(b"\0", b" ")
                found.append(command.decode(errors="replace"))
        except OSError:
            continue  # it ended while we looked
    return found


def processes_left(mark: str) -> list[str]:
    """Wait until no process has a variable in its environment; return those that do not end."""
    due = time.monotonic() + _PATIENCE_S
    while (left := marked(mark)) and time.monotonic() < due:
        threading.Event().wait(0.2)  # the end of another's child is no event to wait for
    return left


# A driver of Playwright's that is killed leaves these, empty; nothing says whose they are.
_OF_A_DRIVER: Final = ("playwright-artifacts-", profile.PREFIX)


def files_left(temporary: Path) -> list[str]:
    """Return what lies in a folder for temporary files, but for empty ones that are known."""
    found = sorted(temporary.rglob("*"))
    known = (f"arena-{os.getuid()}", *_OF_A_DRIVER)
    return [one.name for one in found if one.is_file() or one.is_socket()] + [
        one.name for one in temporary.iterdir() if not one.name.startswith(known)
    ]
