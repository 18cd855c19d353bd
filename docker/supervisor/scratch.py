"""Folders whose content nobody keeps: emptied at every start and rewind."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from attributes import attributes_of, restore_attributes
from blocks import Budget, read_content
from failure import Failure
from restore import Wanted, facts_of, remove, restore_file, restore_link
from tree import Entry, kind_of

# What databases keep in memory and on no disk: they count these changes themselves, and the files
# come and go while somebody only reads.
OF_DATABASES = ("#sql*", "PostgreSQL.*")
_LONGEST_NUMBER = 10


class Scratch:
    """Some folders, and what they were like when the container started."""

    def __init__(self, folders: Iterable[str]) -> None:
        self._folders = tuple(map(os.fsencode, folders))
        self._modes: dict[bytes, int] = {}
        self._kept: dict[bytes, os.stat_result] = {}
        self._foreign: set[tuple[bytes, int]] | None = None

    def empty(self) -> None:
        """Make the folders where they are missing, and remove all they hold but what is kept.

        Modes, ACLs and owners become what they were. What belongs to another user and was there
        when the container started stays.

        Raises:
            Failure: something in one cannot be removed, or what is kept was.
        """
        foreign: set[tuple[bytes, int]] = set()
        for folder in self._folders:
            try:
                self._make(folder)
                self._empty(folder, foreign)
                self._restore_mode(folder)
            except OSError as cause:
                msg = f"{os.fsdecode(folder)} cannot be emptied: {cause}"
                raise Failure(msg) from cause
        if self._foreign is None:
            self._foreign = foreign
        for path, was in self._kept.items():
            _require_same(path, was)

    def keep(self, paths: Iterable[str]) -> None:
        """From now on leave these, which are there, as they are now; what is kept once stays so."""
        for path in map(os.fsencode, paths):
            if path not in self._kept:
                self._kept[path] = os.lstat(path)
                self._note_modes(os.path.dirname(path))

    def entries(self, budget: Budget) -> Iterator[Wanted]:
        """Yield what lies in the folders and would be missed, each folder ahead of what it holds.

        Left out are what is kept, sockets and the like, notes of a process's number, what a
        database has for itself, and what belongs to another user.

        Raises:
            OSError: one cannot be read.
            Refusal: there is more than the budget has left.
        """
        for root in map(os.fsencode, outermost(map(os.fsdecode, self._folders))):
            yield from self._entries(root, budget)

    def _entries(self, root: bytes, budget: Budget) -> Iterator[Wanted]:
        for path, entry in entries_below(root, OF_DATABASES):
            found = entry.status
            kind = kind_of(found)
            if path in self._kept or kind not in "fdl" or found.st_uid != os.geteuid():
                continue
            if is_pid_file(path, entry):
                continue
            wanted = Wanted(path, kind, facts_of(found))
            if kind == "l":
                yield wanted._replace(target=os.readlink(path))
                continue
            content = read_content(path, None, budget) if kind == "f" else wanted.content
            yield wanted._replace(content=content, attributes=attributes_of(path))

    def fill(self, entries: Sequence[Wanted]) -> None:
        """Put entries into the emptied folders, each folder ahead of what it holds.

        Raises:
            Failure: one cannot be made.
        """
        try:
            for wanted in entries:
                if wanted.kind == "f":
                    restore_file(wanted, None, 0)
                elif wanted.kind == "l":
                    restore_link(wanted, None)
                else:
                    os.makedirs(wanted.path, exist_ok=True)
            for wanted in reversed(entries):
                if wanted.kind == "d":
                    restore_attributes(wanted.path, wanted.attributes)
                    os.chmod(wanted.path, wanted.facts.mode)
        except OSError as cause:
            msg = f"a scratch folder cannot be filled: {cause}"
            raise Failure(msg) from cause

    def _make(self, folder: bytes) -> None:
        with contextlib.suppress(FileNotFoundError):
            if not stat.S_ISDIR(os.lstat(folder).st_mode):
                os.unlink(folder)  # a link, say, to what must not be emptied
        os.makedirs(folder, exist_ok=True)

    def _empty(self, folder: bytes, foreign: set[tuple[bytes, int]]) -> None:
        with os.scandir(folder) as listed:
            inner = [entry for entry in listed if entry.path not in self._kept]
        for entry in inner:
            found = entry.stat(follow_symlinks=False)
            if self._holds_kept(entry.path) and stat.S_ISDIR(found.st_mode):
                self._empty(entry.path, foreign)
                self._restore_mode(entry.path)
            elif found.st_uid == os.geteuid():
                remove(entry.path)
            elif self._foreign is None:
                foreign.add((entry.path, found.st_ino))
            elif (entry.path, found.st_ino) not in self._foreign:
                remove(entry.path)

    def _note_modes(self, folder: bytes) -> None:
        """Keep what the folders are like that lead to what is kept."""
        while any((folder + b"/").startswith(root + b"/") for root in self._folders):
            self._modes.setdefault(folder, stat.S_IMODE(os.lstat(folder).st_mode))
            folder = os.path.dirname(folder)

    def _holds_kept(self, path: bytes) -> bool:
        return any(kept.startswith(path + b"/") for kept in self._kept)

    def _restore_mode(self, folder: bytes) -> None:
        found = os.lstat(folder)
        if found.st_uid != os.geteuid():
            return  # a mount point that belongs to root: nobody in here could change it
        restore_attributes(folder, {})
        mode = stat.S_IMODE(os.lstat(folder).st_mode)
        if self._modes.setdefault(folder, mode) != mode:
            os.chmod(folder, self._modes[folder])


def _require_same(path: bytes, was: os.stat_result) -> None:
    try:
        found = os.lstat(path)
        if found.st_ino == was.st_ino and found.st_mode != was.st_mode:
            os.chmod(path, stat.S_IMODE(was.st_mode))
    except OSError as cause:
        msg = f"{os.fsdecode(path)} was removed: {cause}"
        raise Failure(msg) from cause
    if found.st_ino != was.st_ino:
        msg = f"{os.fsdecode(path)} was replaced"
        raise Failure(msg)


def entries_below(folder: bytes, without: tuple[str, ...]) -> Iterator[tuple[bytes, Entry]]:
    """Yield every entry below a folder by its full path, but those of some patterns of names."""
    try:
        names = sorted(os.listdir(folder))
    except FileNotFoundError:
        return
    except PermissionError:
        if os.access(folder, os.W_OK):
            raise
        return  # another user's: nothing here can have written to it
    for name in names:
        path = os.path.join(folder, name)
        if any(fnmatchcase(os.fsdecode(name), pattern) for pattern in without):
            continue
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            continue  # it went meanwhile
        yield path, Entry(path, status)
        if stat.S_ISDIR(status.st_mode):
            yield from entries_below(path, without)


def outermost(folders: Iterable[str]) -> tuple[str, ...]:
    """Return the folders that are in no other."""
    kept: list[str] = []
    for folder in sorted({os.path.normpath(folder) for folder in folders}):
        if not any(folder.startswith(other + "/") for other in kept):
            kept.append(folder)
    return tuple(kept)


def is_pid_file(path: bytes, entry: Entry) -> bool:
    """Whether the first line of a file is the number of a process that runs.

    Such a number is another one at every start; of a server's lock file the rest is as well.
    """
    if not stat.S_ISREG(entry.status.st_mode):
        return False
    try:
        with open(path, "rb") as file:
            first = file.readline(_LONGEST_NUMBER + 1).strip()
    except (FileNotFoundError, PermissionError):
        return False
    return first.isdigit() and os.path.exists(b"/proc/" + first)
