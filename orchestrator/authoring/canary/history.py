"""What earlier looks found, in one SQLite file of this machine: status, since when, evidence."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from arena_core.errors import FormatError, StoreError
from arena_core.worlds import World
from orchestrator.authoring.canary.findings import CanaryStatus, TaskFinding
from orchestrator.runs.store.browser_lock import kind_by_version
from tasks.schema import Task

VERSION: Final = 2
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS look (
    id INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    suite TEXT NOT NULL,
    suite_version INTEGER NOT NULL,
    origins TEXT NOT NULL,
    images TEXT NOT NULL,
    browser TEXT NOT NULL,
    chosen TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE TABLE IF NOT EXISTS finding (
    look INTEGER NOT NULL REFERENCES look (id),
    task TEXT NOT NULL,
    task_sha256 TEXT NOT NULL,
    status TEXT NOT NULL
        CHECK (status IN ('valid', 'drifted', 'blocked', 'unreachable', 'unknown')),
    since TEXT NOT NULL,
    because TEXT NOT NULL,
    kind TEXT,
    sites TEXT NOT NULL,
    kinds TEXT NOT NULL,
    evidence TEXT,
    screenshot TEXT,
    document TEXT NOT NULL,
    PRIMARY KEY (look, task)
) STRICT;
CREATE INDEX IF NOT EXISTS of_a_task ON finding (task, look);
"""


class Origins(StrEnum):
    """What answered for the sites with a live origin.

    `resolved`: some live host was sent elsewhere, by `--resolve`.
    """

    REPLICA = "replica"
    LIVE = "live"
    STAGED = "staged"
    RESOLVED = "resolved"


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryPlace:
    """What is looked at, and with what; each has a history of its own.

    Attributes:
        browser: as `--browser` names it, whatever its version: a wall may stand before one alone.
    """

    suite: str
    origins: Origins
    browser: str

    @property
    def world(self) -> World:
        return World.OFFLINE if self.origins is Origins.REPLICA else World.ONLINE


@dataclass(frozen=True, slots=True, kw_only=True)
class LookTerms:
    """One look, and what it looked with.

    Attributes:
        at: when it began, UTC in ISO 8601.
        images: of the sites, by tag.
        browser: its version.
    """

    place: CanaryPlace
    at: str
    suite_version: int
    images: Mapping[str, str]
    browser: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryEntry:
    """What one look found of one task.

    Attributes:
        at: of the look.
        task_sha256: of the task as it was written then: a task that is changed lives anew.
        since: the look from which on it has had this status.
        kind: what drifted, or the kind of wall; None otherwise.
        kinds: all of the task that may drift.
        evidence, screenshot: paths; they may be gone.
    """

    place: CanaryPlace
    at: str
    task: str
    task_sha256: str
    status: CanaryStatus
    since: str
    because: str
    kind: str | None
    sites: tuple[str, ...]
    kinds: tuple[str, ...]
    evidence: str | None
    screenshot: str | None


def history_folder() -> Path:
    """Return the folder of history and plays: `arena/canary` in the user's data folder."""
    from platformdirs import user_data_path  # noqa: PLC0415  only where something is kept

    return user_data_path("arena", appauthor=False) / "canary"


def history_file(folder: Path | None = None) -> Path:
    """Return the file of a history: this user's, or that of another folder."""
    return (folder or history_folder()) / "history.sqlite"


def digest_of(task: Task) -> str:
    """Return SHA-256 over a task as it is written."""
    return hashlib.sha256(task.model_dump_json().encode()).hexdigest()


class History:
    """All looks of this machine; each is added in one commit."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    @classmethod
    @contextmanager
    def at(cls, path: Path) -> Iterator[History]:
        """Open the file, made where there is none."""
        try:
            connection = _opened(path)
        except (sqlite3.Error, OSError) as cause:
            message = f"{path}: cannot be used as the canary's history: {cause}"
            raise StoreError(message, hint="move it away to begin a new one") from cause
        with closing(connection):
            try:
                yield cls(connection, path)
            except sqlite3.Error as cause:
                message = f"{path}: cannot be read or written as the canary's history: {cause}"
                raise StoreError(message, hint="move it away to begin a new one") from cause

    def add(
        self, terms: LookTerms, findings: Sequence[tuple[Task, TaskFinding]]
    ) -> Mapping[str, CanaryEntry]:
        """Write one look down, and return what was written, by task."""
        place = terms.place
        entries = {task.id: self._entry(terms, task, finding) for task, finding in findings}
        documents = {finding.task: document_of(finding) for _, finding in findings}
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            look = self._connection.execute(
                "INSERT INTO look (at, suite, suite_version, origins, images, browser, chosen)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    *(terms.at, place.suite, terms.suite_version, place.origins.value),
                    *(json.dumps(dict(terms.images)), terms.browser, place.browser),
                ),
            ).lastrowid
            self._connection.executemany(
                f"INSERT INTO finding VALUES ({', '.join('?' * 12)})",  # noqa: S608
                [
                    (look, *_values(one), json.dumps(documents[one.task]))
                    for one in entries.values()
                ],
            )
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")
        return entries

    def last(self, place: CanaryPlace, task: Task, *, valid: bool = False) -> CanaryEntry | None:
        """Return the last entry of a task as it is written now; with `valid` the last valid one."""
        rows = self._entries(
            "AND finding.task = ? AND finding.task_sha256 = ?"
            + (" AND finding.status = 'valid'" if valid else "")
            + " ORDER BY look.id DESC LIMIT 1",
            place,
            task.id,
            digest_of(task),
        )
        return next(iter(rows), None)

    def document(self, place: CanaryPlace, task: Task) -> dict[str, Any] | None:
        """Return the whole of what was found last of a task as it is written now, as JSON."""
        rows = self._connection.execute(
            "SELECT document FROM finding JOIN look ON look.id = finding.look"
            " WHERE look.suite = ? AND look.origins = ? AND look.chosen = ? AND finding.task = ?"
            " AND finding.task_sha256 = ? ORDER BY look.id DESC LIMIT 1",
            (place.suite, place.origins.value, place.browser, task.id, digest_of(task)),
        ).fetchall()
        return json.loads(rows[0][0]) if rows else None

    def entries(self, place: CanaryPlace) -> tuple[CanaryEntry, ...]:
        """Return everything that was found in a place, oldest first."""
        return self._entries("ORDER BY look.id, finding.task", place)

    def places(self) -> tuple[CanaryPlace, ...]:
        """Return every place that was looked at, sorted; of browsers, the latest last."""
        rows = self._connection.execute(
            "SELECT suite, origins, chosen FROM look GROUP BY suite, origins, chosen"
            " ORDER BY suite, origins, max(id)"
        )
        return tuple(
            CanaryPlace(suite=suite, origins=Origins(origins), browser=browser)
            for suite, origins, browser in rows
        )

    def last_place(self, suite: str, origins: Origins) -> CanaryPlace | None:
        """Return where a suite was looked at last, by the browser of that look."""
        found = [one for one in self.places() if (one.suite, one.origins) == (suite, origins)]
        return found[-1] if found else None

    def rests_on(self) -> tuple[str, ...]:
        """Return the paths of evidence and screenshots that what is known now rests on.

        They are those of each task's last look and of its last valid one, in each place.
        """
        rows = self._connection.execute(
            "SELECT evidence, screenshot FROM finding JOIN look ON look.id = finding.look"
            " WHERE (look.id, task) IN (SELECT max(look.id), task FROM finding"
            " JOIN look ON look.id = finding.look GROUP BY suite, origins, chosen, task)"
            " OR (look.id, task) IN (SELECT max(look.id), task FROM finding"
            " JOIN look ON look.id = finding.look WHERE status = 'valid'"
            " GROUP BY suite, origins, chosen, task)"
        )
        return tuple(path for row in rows for path in row if path is not None)

    def _entry(self, terms: LookTerms, task: Task, finding: TaskFinding) -> CanaryEntry:
        before = self.last(terms.place, task)
        is_same = before is not None and before.status is finding.status
        return CanaryEntry(
            place=terms.place,
            at=terms.at,
            task=task.id,
            task_sha256=digest_of(task),
            status=finding.status,
            since=before.since if before is not None and is_same else terms.at,
            because=finding.because,
            kind=kind_in(finding),
            sites=task.sites,
            kinds=finding.kinds,
            evidence=finding.evidence,
            screenshot=finding.screenshot,
        )

    def _entries(self, where: str, place: CanaryPlace, *values: str) -> tuple[CanaryEntry, ...]:
        rows = self._connection.execute(
            "SELECT look.at, finding.task, task_sha256, status, since, because, kind, sites, kinds,"  # noqa: S608  no value stands in it
            " evidence, screenshot FROM finding JOIN look ON look.id = finding.look"
            f" WHERE look.suite = ? AND look.origins = ? AND look.chosen = ? {where}",
            (place.suite, place.origins.value, place.browser, *values),
        )
        return tuple(_read(place, row) for row in rows)


def _opened(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, isolation_level=None, timeout=10)
    [[version]] = connection.execute("PRAGMA user_version").fetchall()
    if version > VERSION:
        connection.close()
        message = f"{path}: is of version {version}, and this Arena knows {VERSION}"
        raise FormatError(message, hint="use the Arena that wrote it, or a later one")
    connection.executescript(_SCHEMA)
    if version == 1:
        _part_browsers(connection)
    connection.execute(f"PRAGMA user_version = {VERSION}")
    return connection


def _part_browsers(connection: sqlite3.Connection) -> None:
    """Say of the looks of an earlier version in which browser they were."""
    connection.execute("BEGIN IMMEDIATE")
    columns = {row[1] for row in connection.execute("PRAGMA table_info(look)")}
    if "chosen" not in columns:
        connection.execute("ALTER TABLE look ADD COLUMN chosen TEXT NOT NULL DEFAULT ''")
    for (named,) in connection.execute("SELECT DISTINCT browser FROM look").fetchall():
        values = (kind_by_version(named).value, named)
        connection.execute("UPDATE look SET chosen = ? WHERE browser = ? AND chosen = ''", values)
    connection.execute("COMMIT")


def kind_in(finding: TaskFinding) -> str | None:
    """Return what drifted, or the kind of wall; None otherwise."""
    if finding.drift is not None:
        return finding.drift.kind
    return None if finding.wall is None else finding.wall.kind.value


def document_of(finding: TaskFinding) -> dict[str, Any]:
    """Return a finding as JSON."""
    return asdict(finding)


def _values(entry: CanaryEntry) -> tuple[str | None, ...]:
    return (
        entry.task,
        entry.task_sha256,
        entry.status.value,
        entry.since,
        entry.because,
        entry.kind,
        json.dumps(entry.sites),
        json.dumps(entry.kinds),
        entry.evidence,
        entry.screenshot,
    )


def _read(place: CanaryPlace, row: Sequence[Any]) -> CanaryEntry:
    at, task, digest, status, since, because, kind, sites, kinds, evidence, screenshot = row
    return CanaryEntry(
        place=place,
        at=at,
        task=task,
        task_sha256=digest,
        status=CanaryStatus(status),
        since=since,
        because=because,
        kind=kind,
        sites=tuple(json.loads(sites)),
        kinds=tuple(json.loads(kinds)),
        evidence=evidence,
        screenshot=screenshot,
    )
