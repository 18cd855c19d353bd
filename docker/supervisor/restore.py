"""The folder of the live state becomes equal to its pristine copy."""

from __future__ import annotations

import os
import stat

from failure import Failure
from tree import Entry, is_settled, kind_of, now_ns, tells_changes, walk

_CHUNK = 1 << 30
_OPEN = stat.S_IRWXU


class Restorer:
    """Restores one folder as often as asked, and remembers what need not be copied again."""

    def __init__(self, folder: str, pristine: str) -> None:
        self._folder = os.fsencode(folder)
        self._pristine = os.fsencode(pristine)
        self._golden: dict[bytes, dict[bytes, Entry]] | None = None
        self._marks: dict[bytes, tuple[int, ...]] = {}

    def restore(self) -> None:
        """Make the folder equal to the pristine copy: content, type, owner, mode and mtime.

        A file is left alone where its mark is what it was when it was last restored.

        Raises:
            Failure: it cannot be done: no space, no permission, a pristine entry of another kind.
        """
        try:
            if self._golden is None:
                self._golden = _by_folder(self._pristine)
            os.makedirs(self._folder, exist_ok=True)
            self._restore_folder(b"", os.lstat(self._folder))
            self._remember()
        except OSError as cause:
            raise Failure(f"the state cannot be restored: {cause}") from cause

    def _restore_folder(self, inner: bytes, found: os.stat_result) -> None:
        """Restore what a folder holds, and then the folder's own mode and time."""
        path = self._live(inner)
        golden = self._children(inner)
        status = self._status(inner)
        if found.st_mode & _OPEN != _OPEN:
            os.chmod(path, _OPEN)
        with os.scandir(path) as listed:
            names = {entry.name for entry in listed}
        for name in sorted(names - golden.keys()):
            _remove(os.path.join(path, name))
        for name, entry in golden.items():
            self._restore_entry(entry, os.lstat(os.path.join(path, name)) if name in names else None)
        _same_owner_and_mode(path, status, os.lstat(path), mounted=not inner)
        if os.lstat(path).st_mtime_ns != status.st_mtime_ns and (inner or _owns(path)):
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    def _restore_entry(self, entry: Entry, found: os.stat_result | None) -> None:
        path = self._live(entry.path)
        if found is not None and kind_of(found) != kind_of(entry.status):
            _remove(path)
            found = None
        match kind_of(entry.status):
            case "d":
                if found is None:
                    os.mkdir(path, _OPEN)
                self._restore_folder(entry.path, found or os.lstat(path))
            case "l":
                self._restore_link(entry, path, found)
            case _:
                if found is None or self._marks.get(entry.path) != Entry(b"", found).mark:
                    self._copy(entry, path, found)

    def _restore_link(self, entry: Entry, path: bytes, found: os.stat_result | None) -> None:
        target = os.readlink(os.path.join(self._pristine, entry.path))
        if found is not None and (
            os.readlink(path) != target or found.st_gid != entry.status.st_gid
        ):
            os.unlink(path)
            found = None
        if found is None:
            os.symlink(target, path)
        if found is None or found.st_mtime_ns != entry.status.st_mtime_ns:
            times = (entry.status.st_atime_ns, entry.status.st_mtime_ns)
            os.utime(path, ns=times, follow_symlinks=False)

    def _copy(self, entry: Entry, path: bytes, found: os.stat_result | None) -> None:
        """Put a new file in the place of one that may be written through another name."""
        if found is not None:
            os.unlink(path)
        status = entry.status
        source = os.open(os.path.join(self._pristine, entry.path), os.O_RDONLY | os.O_CLOEXEC)
        try:
            copy = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                while os.sendfile(copy, source, None, _CHUNK):
                    pass
                _same_owner_and_mode(copy, status, os.fstat(copy))
                os.utime(copy, ns=(status.st_atime_ns, status.st_mtime_ns))
            finally:
                os.close(copy)
        finally:
            os.close(source)

    def _remember(self) -> None:
        """Keep the marks of the files that cannot change without showing it."""
        self._marks = {}
        if tells_changes(self._folder):
            now = now_ns()
            for entry in walk(self._folder):
                if stat.S_ISREG(entry.status.st_mode) and is_settled(entry, now):
                    self._marks[entry.path] = entry.mark

    def _live(self, inner: bytes) -> bytes:
        return os.path.join(self._folder, inner) if inner else self._folder

    def _children(self, inner: bytes) -> dict[bytes, Entry]:
        return {} if self._golden is None else self._golden.get(inner, {})

    def _status(self, inner: bytes) -> os.stat_result:
        return os.lstat(os.path.join(self._pristine, inner))


def _by_folder(pristine: bytes) -> dict[bytes, dict[bytes, Entry]]:
    """Read the pristine copy: the entries of each folder by name."""
    folders: dict[bytes, dict[bytes, Entry]] = {}
    for entry in walk(pristine):
        if kind_of(entry.status) not in "dfl":
            raise Failure(f"pristine: {os.fsdecode(entry.path)} is neither file, folder nor link")
        if entry.path:
            parent, name = os.path.split(entry.path)
            folders.setdefault(parent, {})[name] = entry
    if not os.path.isdir(pristine):
        raise Failure(f"pristine: there is no folder {os.fsdecode(pristine)}")
    return folders


def _same_owner_and_mode(
    target: bytes | int, golden: os.stat_result, found: os.stat_result, *, mounted: bool = False
) -> None:
    """Give owner and mode; those of a mount point that belongs to root are the engine's matter."""
    if mounted and found.st_uid != os.geteuid():
        return
    if (found.st_uid, found.st_gid) != (golden.st_uid, golden.st_gid):
        os.chown(target, golden.st_uid, golden.st_gid)
    mode = stat.S_IMODE(golden.st_mode)
    if stat.S_IMODE(found.st_mode) != mode:
        os.chmod(target, mode)


def _owns(path: bytes) -> bool:
    return os.lstat(path).st_uid == os.geteuid()


def empty(folder: str, keep: frozenset[str]) -> None:
    """Make a folder where it is missing, and remove all it holds but the paths to keep.

    What belongs to another user was not made by a service, and stays.

    Raises:
        Failure: something in it cannot be removed.
    """
    path = os.fsencode(folder)
    kept = {os.fsencode(one) for one in keep}
    try:
        os.makedirs(path, exist_ok=True)
        with os.scandir(path) as listed:
            inner = [entry.path for entry in listed]
        for one in inner:
            if one not in kept and _owns(one):
                _remove(one)
    except OSError as cause:
        raise Failure(f"{folder} cannot be emptied: {cause}") from cause


def _remove(path: bytes) -> None:
    """Remove a file, link, …, or a folder with all it holds, whatever its mode."""
    if not stat.S_ISDIR(os.lstat(path).st_mode):
        os.unlink(path)
        return
    os.chmod(path, _OPEN)
    with os.scandir(path) as listed:
        inner = [entry.path for entry in listed]
    for one in inner:
        _remove(one)
    os.rmdir(path)
