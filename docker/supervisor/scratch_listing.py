"""What lies in the scratch folders: a request can leave something that a later one reads."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator

from scratch import OF_DATABASES, entries_below, is_pid_file, outermost
from tree import Entry, kind_of, mark_of


class ScratchListing:
    """Answers questions about the folders that every start and rewind empties.

    Times of folders are no part of it: a database's temporary file moves them and leaves nothing.
    """

    def __init__(
        self, folders: tuple[str, ...], passing: tuple[str, ...] = (), clock: str = ""
    ) -> None:
        """Keep what to look at.

        Args:
            folders: of the configuration; one inside another is looked at once.
            passing: patterns of names that are others at every start. No entry is told of them,
                but the stamp changes with them as well.
            clock: the file of the site's clock: what it holds is put back at every reset.
        """
        self._roots = tuple(os.fsencode(root) for root in outermost(folders))
        self._passing = passing
        self._clock = os.fsencode(clock)

    def stamp(self) -> str:
        """Return one digest that changes whenever an entry does, a folder's times apart.

        A file system in memory does not move a file's time at every write, so the contents are
        part of it. Raises OSError.
        """
        total = hashlib.sha256()
        for path, entry in self._entries(OF_DATABASES):
            found = entry.status
            still = stat.S_ISDIR(found.st_mode) or path == self._clock
            mark = found.st_ino if still else mark_of(found)
            facts = (mark, found.st_mode, found.st_uid, found.st_gid, self._content(path, found))
            total.update(b"%b\0%b\n" % (path, repr(facts).encode()))
        return total.hexdigest()

    def files(self) -> list[dict[str, str]]:
        """Return every entry below the folders; a service's note of its own number is `pid`.

        Raises:
            OSError: one cannot be read.
        """
        return [
            {
                "path": path.decode(errors="backslashreplace"),
                "kind": kind_of(entry.status),
                "mode": f"{stat.S_IMODE(entry.status.st_mode):o}",
                "owner": f"{entry.status.st_uid}:{entry.status.st_gid}",
                "content": self._shown(path, entry),
            }
            for path, entry in self._entries((*OF_DATABASES, *self._passing))
        ]

    def _shown(self, path: bytes, entry: Entry) -> str:
        # The clock's eight bytes may happen to look like a number and the end of its line.
        is_note = path != self._clock and is_pid_file(path, entry)
        return "pid" if is_note else self._content(path, entry.status)

    def _content(self, path: bytes, status: os.stat_result) -> str:
        return "clock" if path == self._clock else _content(path, status)

    def _entries(self, without: tuple[str, ...]) -> Iterator[tuple[bytes, Entry]]:
        """Yield the full path of every entry, and what the file system says of it."""
        for root in self._roots:
            yield from entries_below(root, without)


def _content(path: bytes, status: os.stat_result) -> str:
    if stat.S_ISLNK(status.st_mode):
        return os.readlink(path).decode(errors="backslashreplace")
    if not stat.S_ISREG(status.st_mode):
        return ""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return ""  # it went meanwhile
    except PermissionError:
        if status.st_uid == os.geteuid() or os.access(path, os.W_OK):
            raise
        return ""
