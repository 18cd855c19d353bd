"""Folders whose content nobody keeps: emptied at every start and rewind."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable

from attributes import restore_attributes
from failure import Failure
from restore import remove


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
