"""The ledger of a run: which attempts were started and which finished, in one SQLite file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from arena_core.errors import StoreError
from arena_core.worlds import World
from orchestrator.spending import Spent, total
from orchestrator.store.trials import Trial

_SCHEMA = """
CREATE TABLE IF NOT EXISTS attempt (
    task TEXT NOT NULL,
    world TEXT NOT NULL,
    repeat INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('started', 'finished', 'retried', 'abandoned')),
    outcome TEXT,
    started_at TEXT NOT NULL,
    ended_at TEXT,
    input_tokens INTEGER,
    output_tokens INTEGER,
    usd REAL,
    evidence_sha256 TEXT,
    PRIMARY KEY (task, world, repeat, attempt)
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS one_finish
    ON attempt (task, world, repeat) WHERE state = 'finished';
"""

# A ledger of an earlier version has none of them.
_COSTS = {"input_tokens": "INTEGER", "output_tokens": "INTEGER", "usd": "REAL"}
_LATER = {**_COSTS, "evidence_sha256": "TEXT"}
_ENTERED = "task, world, repeat, attempt, state, outcome, started_at"


class AttemptState(StrEnum):
    """What became of an attempt.

    `retried`: it broke off for a reason that is not the agent's, and another attempt followed.
    `abandoned`: the run ended in its middle (Ctrl-C, kill); it counts for nothing.
    """

    STARTED = "started"
    FINISHED = "finished"
    RETRIED = "retried"
    ABANDONED = "abandoned"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One line of the ledger.

    Attributes:
        spent: on models, for `Ledger.enter` to write down.
    """

    trial: Trial
    number: int
    state: AttemptState
    outcome: str | None
    spent: Spent = field(default_factory=Spent)

    @property
    def folder(self) -> str:
        """The name of its evidence folder."""
        return self.trial.folder(self.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedEpisode:
    """What the ledger alone says of a finished trial.

    Attributes:
        seconds: from the attempt's start to its end, the opening and the checks included.
        usd: None where nobody knows, or no model was asked.
    """

    trial: Trial
    outcome: str
    seconds: float
    usd: float | None


class Ledger:
    """Attempts of one run; an attempt is written before it starts, and finishes in one commit.

    Attributes:
        recovered: how many attempts were entered from the evidence, since it was opened.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self.recovered = 0
        self._connection = connection
        self._path = path

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the ledger, creating it where there is none.

        Raises:
            StoreError: the file cannot be opened or is no ledger.
        """
        try:
            connection = sqlite3.connect(path, isolation_level=None, timeout=10)
            connection.executescript(_SCHEMA)
        except sqlite3.Error as cause:
            message = f"{path}: cannot be opened as a run's ledger: {cause}"
            raise StoreError(message, hint="is this a run folder of Arena?") from cause
        return cls(connection, path)

    @classmethod
    def in_memory(cls, path: Path) -> Self:
        """Return an empty ledger that stands for a file and leaves it as it is."""
        connection = sqlite3.connect(":memory:", isolation_level=None)
        connection.executescript(_SCHEMA)
        return cls(connection, path)

    def detached(self) -> Self:
        """Return a copy in memory, and close this."""
        copy = sqlite3.connect(":memory:", isolation_level=None)
        self._connection.backup(copy)
        self.close()
        return type(self)(copy, self._path)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def start(self, trial: Trial) -> int:
        """Write down that an attempt begins, and return its number (from 1)."""
        [[latest]] = self._all(
            "SELECT coalesce(max(attempt), 0) FROM attempt"
            " WHERE task = ? AND world = ? AND repeat = ?",
            _key(trial),
        )
        number = int(latest) + 1
        self._write(
            f"INSERT INTO attempt ({_ENTERED}) VALUES (?, ?, ?, ?, 'started', NULL, ?)",  # noqa: S608
            (*_key(trial), number, _now()),
        )
        return number

    def end(
        self,
        trial: Trial,
        number: int,
        state: AttemptState,
        outcome: str | None,
        evidence_sha256: str | None = None,
    ) -> None:
        """Write down how an attempt ended; `finished` closes its trial for good.

        Args:
            trial: what was played.
            number: of the attempt.
            state: what became of it.
            outcome: its score in words; None where it has none.
            evidence_sha256: the digest of what it left behind, see `digests`; None leaves what is
                there.
        """
        self._write(
            "UPDATE attempt SET state = ?, outcome = ?, ended_at = ?,"
            " evidence_sha256 = coalesce(?, evidence_sha256)"
            " WHERE task = ? AND world = ? AND repeat = ? AND attempt = ?",
            (state, outcome, _now(), evidence_sha256, *_key(trial), number),
        )

    def spend(self, trial: Trial, number: int, spent: Spent) -> None:
        """Write down all that an attempt spent on models so far; `usd` is empty where unknown."""
        self._write(
            "UPDATE attempt SET input_tokens = ?, output_tokens = ?, usd = ?"
            " WHERE task = ? AND world = ? AND repeat = ? AND attempt = ?",
            (spent.input_tokens, spent.output_tokens, spent.usd, *_key(trial), number),
        )

    def spent(self) -> Spent:
        """Return what all attempts spent on models, those too that came to nothing."""
        if not self._costs():
            return Spent()
        rows = self._all(
            "SELECT input_tokens, output_tokens, usd FROM attempt WHERE input_tokens IS NOT NULL"
        )
        return total(Spent.reported(taken, given, usd) for taken, given, usd in rows)

    def unreported(self) -> int:
        """Return of how many episodes that an agent played to an end it said no spending."""
        if not self._costs():
            return 0
        rows = self._all(
            "SELECT COUNT(*) FROM attempt WHERE state = 'finished' AND input_tokens IS NULL"
            " AND outcome IN ('success', 'failure', 'unscored: judge_unavailable')"
        )
        return int(rows[0][0])

    def evidence_digests(self) -> dict[str, str]:
        """Return, by the name of its folder, the digest of each attempt's evidence as it was saved.

        Attempts of an earlier version of Arena, and those entered again from the evidence, have
        none.
        """
        if "evidence_sha256" not in self._columns():
            return {}
        rows = self._all(
            "SELECT task, world, repeat, attempt, evidence_sha256 FROM attempt"
            " WHERE evidence_sha256 IS NOT NULL"
        )
        return {
            Trial(task, World(world), repeat).folder(attempt): digest
            for task, world, repeat, attempt, digest in rows
        }

    def keep_costs(self) -> None:
        """Give a ledger of an earlier version the columns of costs and of evidence's digests."""
        for name in _LATER.keys() - self._columns():
            self._write(f"ALTER TABLE attempt ADD COLUMN {name} {_LATER[name]}", ())

    def _costs(self) -> set[str]:
        return self._columns() & _COSTS.keys()

    def _columns(self) -> set[str]:
        return {str(row[1]) for row in self._all("PRAGMA table_info(attempt)")}

    def enter(self, attempt: Attempt) -> None:
        """Write down an attempt that was played, and of which the ledger knows nothing."""
        self._write(
            f"INSERT INTO attempt ({_ENTERED}) VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
            (*_key(attempt.trial), attempt.number, attempt.state, attempt.outcome, _now()),
        )
        if attempt.spent.replies:
            self.spend(attempt.trial, attempt.number, attempt.spent)
        self.recovered += 1

    def attempts(self) -> tuple[Attempt, ...]:
        """Return every attempt in the order of trials."""
        rows = self._all(
            "SELECT task, world, repeat, attempt, state, outcome FROM attempt"
            " ORDER BY task, world, repeat, attempt"
        )
        return tuple(
            Attempt(
                trial=Trial(task, World(world), repeat),
                number=attempt,
                state=AttemptState(state),
                outcome=outcome,
            )
            for task, world, repeat, attempt, state, outcome in rows
        )

    def finished(self) -> tuple[Attempt, ...]:
        """Return the attempt that closed each finished trial."""
        return tuple(one for one in self.attempts() if one.state is AttemptState.FINISHED)

    def finished_episodes(self) -> tuple[FinishedEpisode, ...]:
        """Return what is known of each finished trial without its evidence."""
        usd = "usd" if "usd" in self._columns() else "NULL"
        rows = self._all(
            "SELECT task, world, repeat, outcome,"  # noqa: S608  one of two words
            f" (julianday(ended_at) - julianday(started_at)) * 86400.0, {usd}"
            " FROM attempt WHERE state = 'finished' AND ended_at IS NOT NULL"
            " ORDER BY task, world, repeat"
        )
        return tuple(
            FinishedEpisode(
                trial=Trial(task, World(world), repeat),
                outcome=outcome or "",
                seconds=seconds,
                usd=cost,
            )
            for task, world, repeat, outcome, seconds, cost in rows
        )

    def _write(self, statement: str, values: tuple[object, ...]) -> None:
        try:
            self._connection.execute(statement, values)
        except sqlite3.Error as cause:
            message = f"{self._path}: the ledger cannot be written: {cause}"
            raise StoreError(message, hint="is the disk full or the folder read-only?") from cause

    def _all(self, statement: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(statement, values).fetchall()
        except sqlite3.Error as cause:
            message = f"{self._path}: the ledger cannot be read: {cause}"
            hint = "arena eval --resume sets it aside, and enters again what the evidence shows"
            raise StoreError(message, hint=hint) from cause


def is_damaged(path: Path) -> bool:
    """Whether a file is there that SQLite cannot read to its end."""
    if not path.is_file():
        return False
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as reader:
            reader.execute("SELECT * FROM attempt").fetchall()
    except sqlite3.OperationalError:
        return False  # no table yet, busy, no right to it: said by whoever opens it
    except sqlite3.DatabaseError:
        return True
    return False


def _key(trial: Trial) -> tuple[object, ...]:
    return (trial.task, trial.world.value, trial.repeat)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
