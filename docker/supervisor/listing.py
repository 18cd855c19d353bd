"""What questions about the folder are answered with: its stamp, and its entries with content."""

from __future__ import annotations

import hashlib
import os
import stat
import time

from tree import Entry, is_settled, kind_of, mark_of, now_ns, tells_changes, walk

_TICK_S = 0.001
_TICKS = 50


class Listing:
    """Answers questions about one folder; hashes of contents are kept between questions."""

    def __init__(self, folder: str, counted: tuple[str, ...]) -> None:
        self._folder = os.fsencode(folder)
        self._counted = frozenset(os.fsencode(part) for part in counted)
        self._digests: dict[bytes, tuple[tuple[int, ...], str]] = {}

    def stamp(self) -> str:
        """Return one digest that changes whenever an entry outside the counted parts does.

        Where the file system does not show every change, the contents are part of it.
        """
        entries, settled = self._look()
        contents = not tells_changes(self._folder)
        # What changes all the time has no stamp: none that is told ever comes back.
        total = hashlib.sha256(b"" if settled else os.urandom(16))
        for entry in entries:
            found = entry.status
            content = ""
            if contents and stat.S_ISREG(found.st_mode):
                content = _digest(os.path.join(self._folder, entry.path))
            facts = (*mark_of(found), found.st_mode, found.st_uid, found.st_gid, content)
            total.update(b"%b\0%b\n" % (entry.path, repr(facts).encode()))
        return total.hexdigest()

    def files(self, folders: list[str]) -> list[dict[str, str]]:
        """Return every entry of some folders, themselves included, as find(1) would name them.

        Raises:
            OSError: one cannot be read; a missing folder has no entries.
        """
        found = []
        for root in map(os.fsencode, folders):
            telling = tells_changes(root)
            for entry in walk(root):
                path = os.path.join(root, entry.path) if entry.path else root
                found.append(self._described(path, entry, telling=telling))
        return found

    def _described(self, path: bytes, entry: Entry, *, telling: bool) -> dict[str, str]:
        found = entry.status
        kind = kind_of(found)
        content = ""
        if kind == "f":
            content = self._known_digest(path, entry) if telling else _digest(path)
        elif kind == "l":
            content = os.readlink(path).decode(errors="backslashreplace")
        return {
            "path": path.decode(errors="backslashreplace"),
            "kind": kind,
            "mode": f"{stat.S_IMODE(found.st_mode):o}",
            "owner": f"{found.st_uid}:{found.st_gid}",
            "content": content,
        }

    def _known_digest(self, path: bytes, entry: Entry) -> str:
        mark, digest = self._digests.get(path, ((), ""))
        if mark != mark_of(entry.status):
            now = now_ns()
            digest = _digest(path)
            if is_settled(entry.status, now):
                self._digests[path] = (mark_of(entry.status), digest)
            else:
                self._digests.pop(path, None)
        return digest

    def _look(self) -> tuple[list[Entry], bool]:
        """Return the entries, and whether that was a tick later than the last change of any."""
        entries: list[Entry] = []
        for _ in range(_TICKS):
            now = now_ns()
            entries = list(walk(self._folder, self._counted))
            if all(is_settled(entry.status, now) for entry in entries):
                return entries, True
            time.sleep(_TICK_S)
        return entries, False


def _digest(path: bytes) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
