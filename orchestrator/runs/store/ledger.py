"""The ledger of a run: which attempts were started and which finished, in one SQLite file."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from arena_core.errors import StoreError
from arena_core.regular_files import MEGABYTE, require_regular
from arena_core.worlds import World
from orchestrator.agents.model_exchange import Spent, total
from orchestrator.runs.store import journal
from orchestrator.runs.store.commits import Commits
from orchestrator.runs.store.journal import SECONDS_BY_DATES, seconds_in

_FOLDER = re.compile(rf"({'|'.join(World)})-(.+)-r(\d+)-a(\d+)")
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
    seconds REAL,
    input_tokens INTEGER,
    output_tokens INTEGER,
    usd REAL,
    evidence_sha256 TEXT,
    PRIMARY KEY (task, world, repeat, attempt)
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS one_finish
    ON attempt (task, world, repeat) WHERE state = 'finished';
"""
# A ledger of an earlier version lacks them.
_COSTS = {"input_tokens": "INTEGER", "output_tokens": "INTEGER", "usd": "REAL"}
_LATER = {**_COSTS, "evidence_sha256": "TEXT", "seconds": "REAL"}
_ENTERED = "task, world, repeat, attempt, state, outcome, started_at"
Found = TypeVar("Found")
_LARGEST: Final = 8192 * MEGABYTE
_BUSY_S: Final = 10.0


@dataclass(frozen=True, slots=True, order=True)
class EpisodeKey:
    """One task in one world, for one repeat (from 0)."""

    task: str
    world: World
    repeat: int = 0

    @property
    def name(self) -> str:
        return f"{self.world}-{self.task}-r{self.repeat}"

    def folder(self, attempt: int) -> str:
        return f"{self.name}-a{attempt}"


def attempt_of(folder: str) -> tuple[EpisodeKey, int] | None:
    """Return the episode and attempt whose evidence folder has this name; None for another name."""
    found = _FOLDER.fullmatch(folder)
    if found is None:
        return None
    world, task, repeat, attempt = found.groups()
    return EpisodeKey(task, World(world), int(repeat)), int(attempt)


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

    key: EpisodeKey
    number: int
    state: AttemptState
    outcome: str | None
    spent: Spent = field(default_factory=Spent)

    @property
    def folder(self) -> str:
        return self.key.folder(self.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedEpisode:
    """What the ledger alone says of a finished episode.

    Attributes:
        seconds: from the attempt's start to its end, the opening and the checks included, by a
            clock that nobody sets; None where that is not known.
        usd: None where nobody knows, or no model was asked.
    """

    key: EpisodeKey
    outcome: str
    seconds: float | None
    usd: float | None


class Ledger:
    """Attempts of one run; an attempt is written before it starts, and finishes in one write.

    Attributes:
        recovered: how many attempts were entered from the evidence, since it was opened.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self.recovered = 0
        self._connection = connection
        self._commits = Commits(connection)
        self._path = path
        self._began: dict[tuple[EpisodeKey, int], float] = {}

    @classmethod
    def open(cls, path: Path) -> Self:
        try:
            _require_regular(path)
            connection = sqlite3.connect(path, isolation_level=None, timeout=_BUSY_S)
            if journal.holds_code(connection):
                connection.close()
                raise StoreError(f"{path}: is not a run's ledger: it holds views or triggers")
            connection.executescript(_SCHEMA)
        except (sqlite3.Error, OSError) as cause:
            why = cause.strerror if isinstance(cause, OSError) else cause
            message = f"{path}: cannot be opened as a run's ledger: {why}"
            raise StoreError(message, hint="is this a run folder of Arena?") from cause
        return cls(connection, path)

    @classmethod
    def in_memory(cls, path: Path) -> Self:
        connection = sqlite3.connect(":memory:", isolation_level=None)
        connection.executescript(_SCHEMA)
        return cls(connection, path)

    def detached(self) -> Self:
        copy = sqlite3.connect(":memory:", isolation_level=None)
        self._connection.backup(copy)
        self.close()
        return type(self)(copy, self._path)

    def gather(self) -> None:
        """Write what one turn of the event loop brings in one transaction, see `saved`."""
        self._commits.gathers = True

    async def saved(self) -> None:
        """Return when all that was written is on the disk."""
        try:
            await self._commits.saved()
        except sqlite3.Error as cause:
            raise self._unwritten(cause) from cause

    def when_saved(self, tell: Callable[[], None]) -> None:
        """Call once all that was written is on the disk; never where that fails."""
        try:
            self._commits.when_saved(tell)
        except sqlite3.Error as cause:
            raise self._unwritten(cause) from cause

    def close(self) -> None:
        try:
            self._commits.commit()
        except sqlite3.Error as cause:
            raise self._unwritten(cause) from cause
        finally:
            self._connection.close()

    def start(self, key: EpisodeKey) -> int:
        """Write down that an attempt begins, and return its number (from 1)."""
        [[latest]] = self._all(
            "SELECT coalesce(max(attempt), 0) FROM attempt"
            " WHERE task = ? AND world = ? AND repeat = ?",
            _values(key),
        )
        number = int(latest) + 1
        self._write(
            f"INSERT INTO attempt ({_ENTERED}) VALUES (?, ?, ?, ?, 'started', NULL, ?)",  # noqa: S608
            (*_values(key), number, _now()),
            of=(*_values(key), number),
        )
        self._began[key, number] = time.monotonic()
        return number

    def end(
        self,
        key: EpisodeKey,
        number: int,
        state: AttemptState,
        outcome: str | None,
        evidence_sha256: str | None = None,
        *,
        began: float | None = None,
    ) -> None:
        """Write down how an attempt ended; `finished` closes its episode for good.

        Args:
            key: of what was played.
            number: of the attempt.
            state: what became of it.
            outcome: its score in words; None where it has none.
            evidence_sha256: the digest of what it left behind, see `digests`; None leaves what is
                there.
            began: `time.monotonic()` as it was when this process entered it in another `Ledger`;
                without, what another process began has no duration.
        """
        began = self._began.pop((key, number), began)
        seconds = None if began is None else round(time.monotonic() - began, 3)
        self._write(
            "UPDATE attempt SET state = ?, outcome = ?, ended_at = ?,"
            " seconds = coalesce(?, seconds), evidence_sha256 = coalesce(?, evidence_sha256)"
            " WHERE task = ? AND world = ? AND repeat = ? AND attempt = ?",
            (state, outcome, _now(), seconds, evidence_sha256, *_values(key), number),
            of=(*_values(key), number),
        )

    def spend(self, key: EpisodeKey, number: int, spent: Spent) -> None:
        """Write down all that an attempt spent on models so far; `usd` is empty where unknown.

        It is on the disk at once: what is paid for is counted, whenever the run is killed.
        """
        self._write(
            "UPDATE attempt SET input_tokens = ?, output_tokens = ?, usd = ?"
            " WHERE task = ? AND world = ? AND repeat = ? AND attempt = ?",
            (spent.input_tokens, spent.output_tokens, spent.usd, *_values(key), number),
            at_once=True,
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
        return self._read(
            lambda: {
                _key_of(task, world, repeat).folder(attempt): str(digest)
                for task, world, repeat, attempt, digest in rows
            }
        )

    def keep_costs(self) -> None:
        """Give a ledger of an earlier version the columns that came since."""
        absent = _LATER.keys() - self._columns()
        for name in absent:
            self._write(f"ALTER TABLE attempt ADD COLUMN {name} {_LATER[name]}", ())
        if "seconds" in absent:
            self._write(f"UPDATE attempt SET seconds = {SECONDS_BY_DATES}", ())  # noqa: S608

    def keep_journal(self, run: str, lock: str) -> None:
        """Begin the journal of a ledger that has none, see `journal`."""
        if not self._has_journal():
            self._write_all(lambda: journal.begin(self._connection, run, lock))

    def _has_journal(self) -> bool:
        return self._read(lambda: journal.is_kept(self._connection))

    def read_journal(self) -> journal.Journal | None:
        """Read the journal; None where an earlier version of Arena wrote the ledger."""
        if not self._has_journal():
            return None
        return self._read(lambda: journal.read_journal(self._connection))

    def head(self) -> journal.Head:
        """Return where the journal stands; at its beginning if there is none."""
        if not self._has_journal():
            return journal.Head(entries=0, sha256="")
        return self._read(lambda: journal.read_head(self._connection))

    def rows(self) -> Mapping[journal.Key, journal.Row]:
        return self._read(lambda: journal.rows_of(self._connection))

    def _costs(self) -> set[str]:
        return self._columns() & _COSTS.keys()

    def _columns(self) -> set[str]:
        return {str(row[1]) for row in self._all("PRAGMA table_info(attempt)")}

    def enter(self, attempt: Attempt) -> None:
        """Write down an attempt that was played, and of which the ledger knows nothing."""
        self._write(
            f"INSERT INTO attempt ({_ENTERED}) VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
            (*_values(attempt.key), attempt.number, attempt.state, attempt.outcome, _now()),
            of=(*_values(attempt.key), attempt.number),
        )
        if attempt.spent.replies:
            self.spend(attempt.key, attempt.number, attempt.spent)
        self.recovered += 1

    def take_over(self, other: Ledger) -> None:
        """Write down what the ledger of a shard holds: its attempts, and its journal's entries."""
        columns = ", ".join((*_ENTERED.split(", "), "ended_at", *_LATER))
        rows = other._all(f"SELECT {columns} FROM attempt ORDER BY task, world, repeat, attempt")  # noqa: S608
        entries = other._read(lambda: journal.contents(other._connection))
        places = ", ".join("?" * len(columns.split(", ")))

        def write() -> None:
            self._connection.executemany(
                f"INSERT INTO attempt ({columns}) VALUES ({places})",  # noqa: S608
                rows,
            )
            journal.go_on(self._connection, entries)

        self._write_all(write)

    def attempts(self) -> tuple[Attempt, ...]:
        return self._read(lambda: _attempts_of(self._connection))

    def finished(self) -> tuple[Attempt, ...]:
        return tuple(one for one in self.attempts() if one.state is AttemptState.FINISHED)

    def count_finished(self, world: World) -> int:
        """Return how many episodes of a world are finished."""
        [[count]] = self._all(
            "SELECT count(*) FROM attempt WHERE state = 'finished' AND world = ?", (world.value,)
        )
        return int(count)

    def finished_episodes(self) -> tuple[FinishedEpisode, ...]:
        """Return what is known of each finished episode without its evidence."""
        columns = self._columns()
        usd, seconds_taken = "usd" if "usd" in columns else "NULL", seconds_in(columns)
        rows = self._all(
            f"SELECT task, world, repeat, outcome, {seconds_taken}, {usd}"  # noqa: S608  of our own
            " FROM attempt WHERE state = 'finished' AND ended_at IS NOT NULL"
            " ORDER BY task, world, repeat"
        )
        return self._read(
            lambda: tuple(
                FinishedEpisode(
                    key=_key_of(task, world, repeat),
                    outcome=_text(outcome) or "",
                    seconds=seconds,
                    usd=cost,
                )
                for task, world, repeat, outcome, seconds, cost in rows
            )
        )

    def _write(
        self,
        statement: str,
        values: tuple[object, ...],
        of: journal.Key | None = None,
        *,
        at_once: bool = False,
    ) -> None:
        def write() -> None:
            self._connection.execute(statement, values)
            if of is not None and journal.is_kept(self._connection):
                journal.note(self._connection, of)

        self._write_all(write, at_once=at_once)

    def _write_all(self, write: Callable[[], None], *, at_once: bool = False) -> None:
        try:
            with self._commits.write(at_once=at_once):
                write()
        except sqlite3.Error as cause:
            raise self._unwritten(cause) from cause

    def _unwritten(self, cause: sqlite3.Error) -> StoreError:
        message = f"{self._path}: the ledger cannot be written: {cause}"
        return StoreError(message, hint="is the disk full or the folder read-only?")

    def _all(self, statement: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        return self._read(lambda: self._connection.execute(statement, values).fetchall())

    def _read(self, read: Callable[[], Found]) -> Found:
        try:
            return read()
        except (sqlite3.Error, TypeError, ValueError) as cause:
            message = f"{self._path}: the ledger cannot be read: {cause}"
            hint = "arena eval --resume sets it aside, and enters again what the evidence shows"
            raise StoreError(message, hint=hint) from cause


def _attempts_of(connection: sqlite3.Connection) -> tuple[Attempt, ...]:
    """Read all attempts; TypeError or ValueError where they hold what no run has written."""
    rows = connection.execute(
        "SELECT task, world, repeat, attempt, state, outcome FROM attempt"
        " ORDER BY task, world, repeat, attempt"
    )
    return tuple(
        Attempt(
            key=_key_of(task, world, repeat),
            number=_whole(attempt),
            state=AttemptState(state),
            outcome=_text(outcome),
        )
        for task, world, repeat, attempt, state, outcome in rows.fetchall()
    )


def _key_of(task: object, world: object, repeat: object) -> EpisodeKey:
    """A column of SQLite takes values of any type."""
    if not isinstance(task, str) or not isinstance(world, str):
        raise TypeError(f"an attempt of the task {task!r} in the world {world!r}")
    return EpisodeKey(task, World(world), _whole(repeat))


def _whole(number: object) -> int:
    if not isinstance(number, int):
        raise TypeError(f"{number!r} where a number is")
    return number


def _text(said: object) -> str | None:
    if said is not None and not isinstance(said, str):
        raise TypeError(f"{said!r} where a text is")
    return said


def _require_regular(path: Path) -> None:
    """Refuse a ledger, or what SQLite would read beside it, that is not a regular file."""
    for ending in ("", "-journal", "-wal", "-shm"):
        require_regular(path.with_name(f"{path.name}{ending}"), most=_LARGEST)


def is_damaged(path: Path) -> bool:
    """Whether a file is there that SQLite cannot read to its end."""
    if not path.is_file():
        return False
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as reader:
            if journal.holds_code(reader):
                return False  # said by whoever opens it
            reader.execute("SELECT * FROM attempt").fetchall()
            _attempts_of(reader)
    except sqlite3.OperationalError:
        return False  # no table yet, busy, no right to it: said by whoever opens it
    except (sqlite3.DatabaseError, TypeError, ValueError):
        return True
    return False


def _values(key: EpisodeKey) -> tuple[object, ...]:
    return (key.task, key.world.value, key.repeat)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
