"""The tables `mail` and `mail_folder`: what is in the mailboxes, as rows that a check can ask for.

A mail that was moved keeps its row. The files are what counts: after a rewind, and whenever the
post room starts, the tables are made to agree with them.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

import MySQLdb
from letter import read_letter
from maildir import Kept, folders, kept, mailboxes, mark

# A folder that changed a moment ago may change again within the same tick of the file system.
_RACY_NS = 50_000_000
_FLAGS = (("S", "seen"), ("R", "answered"), ("F", "flagged"), ("P", "forwarded"), ("D", "draft"))
_COLUMNS = (*(column for _, column in _FLAGS), "labels")
_SAID = (
    *("subject", "sender", "recipients", "copies", "sent", "message_id", "answers", "body"),
    *("attachments", "digest"),
)
_WRITTEN = ("mailbox", "folder", *_SAID, *_COLUMNS, "file")
_ALL = f"SELECT mailbox, folder, file, id, digest, {', '.join(_COLUMNS)} FROM mail"  # noqa: S608
_NEW = f"INSERT INTO mail ({', '.join(_WRITTEN)}) VALUES ({', '.join(['%s'] * len(_WRITTEN))})"  # noqa: S608
_CHANGED = f"UPDATE mail SET {', '.join(f'{one} = %s' for one in _COLUMNS)} WHERE id = %s"  # noqa: S608

SCHEMA = """
CREATE TABLE mail (
  id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  mailbox VARCHAR(64) NOT NULL, folder VARCHAR(190) NOT NULL,
  subject VARCHAR(500) NOT NULL, sender VARCHAR(190) NOT NULL, recipients TEXT NOT NULL,
  copies TEXT NOT NULL, sent DATETIME, message_id VARCHAR(250) NOT NULL,
  answers VARCHAR(250) NOT NULL, body MEDIUMTEXT NOT NULL, attachments TEXT NOT NULL,
  digest CHAR(64) NOT NULL, seen TINYINT NOT NULL, answered TINYINT NOT NULL,
  flagged TINYINT NOT NULL, forwarded TINYINT NOT NULL, draft TINYINT NOT NULL,
  labels VARCHAR(190) NOT NULL, file VARCHAR(190) NOT NULL,
  KEY place (mailbox, folder)
);
CREATE TABLE mail_folder (
  mailbox VARCHAR(64) NOT NULL, name VARCHAR(190) NOT NULL, PRIMARY KEY (mailbox, name)
)
"""


class Place(NamedTuple):
    """Where a mail is."""

    mailbox: str
    folder: str
    base: str


class _Row(NamedTuple):
    """What is known of a mail whose row is in the table."""

    id: int
    digest: str
    state: tuple[object, ...]


class Register:
    """Keeps the tables equal to the mailboxes."""

    def __init__(self, root: str, connection: dict[str, Any]) -> None:
        """Remember what the tables say; `update` makes them say what is true."""
        self._root = root
        self._database = MySQLdb.connect(charset="utf8mb4", autocommit=False, **connection)
        self._lock = threading.Lock()
        self._marks: dict[str, tuple[int, ...]] = {}
        self._rows: dict[Place, _Row] = {}
        self._folders: set[tuple[str, str]] = set()
        cursor = self._database.cursor()
        cursor.execute(_ALL)
        for mailbox, folder, base, number, digest, *state in cursor.fetchall():
            self._rows[Place(mailbox, folder, base)] = _Row(number, digest, tuple(state))
        cursor.execute("SELECT mailbox, name FROM mail_folder")
        self._folders.update(cursor.fetchall())
        self._database.commit()

    def update(self) -> None:
        """Write into the tables what has changed in the mailboxes since the last time."""
        with self._lock:
            there = {
                (mailbox, name): path
                for mailbox in mailboxes(self._root)
                for name, path in folders(f"{self._root}/{mailbox}").items()
            }
            changed = [place for place, path in there.items() if self._has_changed(path)]
            if changed or set(there) != self._folders:
                self._write(there, changed)

    def answers(self) -> bool:
        """Whether the database answers."""
        with self._lock:
            try:
                cursor = self._database.cursor()
                cursor.execute("SELECT 1")
                self._database.commit()
            except MySQLdb.Error:
                return False
            return True

    def _has_changed(self, path: str) -> bool:
        now, known = mark(path), self._marks.get(path)
        if now == known and time.time_ns() - max(now) > _RACY_NS:
            return False
        is_settled = time.time_ns() - max(now) > _RACY_NS
        self._marks[path] = now if is_settled else ()
        return True

    def _write(self, there: dict[tuple[str, str], str], changed: list[tuple[str, str]]) -> None:
        cursor = self._database.cursor()
        for gone in sorted(self._folders - set(there)):
            cursor.execute("DELETE FROM mail_folder WHERE mailbox = %s AND name = %s", gone)
        for new in sorted(set(there) - self._folders):
            cursor.execute("INSERT INTO mail_folder VALUES (%s, %s)", new)
        looked_at = set(changed)
        files = {
            Place(mailbox, folder, one.base): one
            for mailbox, folder in sorted(changed)
            for one in sorted(kept(there[mailbox, folder]))
        }
        gone_rows = {
            place: row
            for place, row in self._rows.items()
            if place not in files
            and (
                (place.mailbox, place.folder) in looked_at
                or (place.mailbox, place.folder) not in there
            )
        }
        for place, file in files.items():
            known = self._rows.get(place)
            if known is None:
                self._rows[place] = self._arrived(cursor, place, file, gone_rows)
            elif known.state != (state := _state(file)):
                self._flag(cursor, known.id, state)
                self._rows[place] = known._replace(state=state)
        for place, row in gone_rows.items():
            del self._rows[place]
            cursor.execute("DELETE FROM mail WHERE id = %s", (row.id,))
        self._database.commit()
        self._folders = set(there)

    def _arrived(self, cursor: Any, place: Place, file: Kept, gone: dict[Place, _Row]) -> _Row:
        """Give a mail a row: the one that it had in another folder, if it was moved."""
        letter = read_letter(Path(file.path).read_bytes())
        state = _state(file)
        for other, row in gone.items():
            if other.mailbox == place.mailbox and row.digest == letter.digest:
                del gone[other], self._rows[other]
                cursor.execute(
                    "UPDATE mail SET folder = %s, file = %s WHERE id = %s",
                    (place.folder, place.base, row.id),
                )
                if row.state != state:
                    self._flag(cursor, row.id, state)
                return row._replace(state=state)
        values = (place.mailbox, place.folder, *letter, *state, place.base)
        cursor.execute(
            _NEW,
            values,
        )
        return _Row(cursor.lastrowid, letter.digest, state)

    def _flag(self, cursor: Any, number: int, state: tuple[object, ...]) -> None:
        cursor.execute(_CHANGED, (*state, number))


def _state(file: Kept) -> tuple[object, ...]:
    return (*(int(letter in file.flags) for letter, _ in _FLAGS), " ".join(file.labels))
