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
    """Answers questions about one folder."""

    def __init__(self, folder: str, counted: tuple[str, ...]) -> None:
        self._folder = os.fsencode(folder)
        self._counted = frozenset(os.fsencode(part) for part in counted)

    def stamp(self) -> str:
        """Return one digest that changes whenever an entry outside the counted parts does.

        Of a counted part it has the names only: what a database writes there it counts itself, but
        not that it made a file for somebody (SELECT … INTO OUTFILE). Where the file system does not
        show every change, the contents are part of it.
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
        for part in sorted(self._counted):
            for path in _names(os.path.join(self._folder, part)):
                total.update(b"%b\n" % path)
        return total.hexdigest()

    def files(self, folders: list[str]) -> list[dict[str, str]]:
        """Return every entry of some folders, themselves included, as find(1) would name them.

        Every file is read, whatever its times say: a page that a process had mapped and written to
        before may be written to again without moving them.

        Raises:
            OSError: one cannot be read; a missing folder has no entries.
        """
        return [
            _described(os.path.join(root, entry.path) if entry.path else root, entry)
            for root in map(os.fsencode, folders)
            for entry in walk(root)
        ]

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


def _described(path: bytes, entry: Entry) -> dict[str, str]:
    found = entry.status
    kind = kind_of(found)
    content = ""
    if kind == "f":
        content = _digest(path)
    elif kind == "l":
        content = os.readlink(path).decode(errors="backslashreplace")
    return {
        "path": path.decode(errors="backslashreplace"),
        "kind": kind,
        "mode": f"{stat.S_IMODE(found.st_mode):o}",
        "owner": f"{found.st_uid}:{found.st_gid}",
        "content": content,
    }


def _names(folder: bytes) -> list[bytes]:
    """Return the path of every entry below a folder, folders with a slash at the end."""
    names = []
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as listed:
                for entry in listed:
                    inner = entry.is_dir(follow_symlinks=False)
                    names.append(entry.path + (b"/" if inner else b""))
                    waiting += [entry.path] if inner else []
        except FileNotFoundError:
            continue
    return sorted(names)


def _digest(path: bytes) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
