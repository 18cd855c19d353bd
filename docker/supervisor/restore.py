"""The folder of the live state becomes equal to its pristine copy."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

from attributes import (
    Attributes,
    attributes_of,
    flags_of,
    mark_top,
    restore_attributes,
    restore_flags,
)
from failure import Failure
from tree import is_settled, kind_of, mark_of, now_ns, tells_changes

_CHUNK = 1 << 30
_OPEN = stat.S_IRWXU


class Golden(NamedTuple):
    """One entry of the pristine copy, and where it belongs.

    Attributes:
        source: where it is.
        path: where the live state has it.
        target: of a link.
        inner: of a folder: what it holds, by name.
        attributes: extended ones, ACLs among them.
    """

    source: bytes
    path: bytes
    kind: str
    status: os.stat_result
    target: bytes
    inner: dict[bytes, Golden]
    attributes: Attributes


class Restorer:
    """Restores one folder as often as asked, and remembers what need not be copied again.

    While it works nothing else may write to the folder: its marks would miss that.
    """

    def __init__(self, folder: str, pristine: str) -> None:
        self._folder = os.fsencode(folder)
        self._pristine = os.fsencode(pristine)
        self._golden: Golden | None = None
        self._flags: int | None = None
        self._seen: dict[bytes, os.stat_result] = {}
        self._marks: dict[bytes, tuple[int, ...]] = {}

    def restore(self) -> None:
        """Make the folder equal to the pristine copy: content, type, owner, mode, mtime, ACLs.

        So do extended attributes. Inode flags become those that the folder itself had at first.

        A file is left alone where its mark is what it was when it was last restored.

        Raises:
            Failure: it cannot be done: no space, no permission, a pristine entry of another kind.
        """
        try:
            os.makedirs(self._folder, exist_ok=True)
            golden = self._golden = self._golden or _read(self._pristine, self._folder)
            try:
                self._restore_all(golden)
            except OSError as cause:
                if cause.errno != errno.ENOSPC:
                    raise
                # What fills the folder may be what would have been removed later.
                _remove_inner(self._folder)
                self._marks = {}
                self._restore_all(golden)
        except OSError as cause:
            msg = f"the state cannot be restored: {cause}{self._room(cause)}"
            raise Failure(msg) from cause

    def _restore_all(self, golden: Golden) -> None:
        self._seen = {}
        if self._flags is None:
            with opened_folder(self._folder) as opened:
                self._flags = flags_of(opened)
        self._restore_folder(golden, os.lstat(self._folder))
        self._remember()

    def _room(self, cause: OSError) -> str:
        """Say how much room there is and how much it takes, where there is too little."""
        if cause.errno != errno.ENOSPC or self._golden is None:
            return ""
        found = os.statvfs(self._folder)
        has, takes = found.f_blocks * found.f_frsize >> 20, _size(self._golden) >> 20
        return f" (there are {has} MB in all; the pristine copy takes {takes} MB)"

    def _restore_folder(self, golden: Golden, found: os.stat_result) -> None:
        """Restore what a folder holds, and then the folder's own mode and time."""
        if found.st_mode & _OPEN != _OPEN:
            os.chmod(golden.path, _OPEN)
        if found.st_uid == os.geteuid():
            # First: what is made anew in here inherits them.
            restore_attributes(golden.path, golden.attributes)
            with opened_folder(golden.path) as opened:
                restore_flags(opened, self._flags or 0)
        there = {}
        with os.scandir(golden.path) as listed:
            for entry in listed:
                if entry.name in golden.inner:
                    there[entry.name] = entry.stat(follow_symlinks=False)
                else:
                    remove(entry.path)
        for name, inner in golden.inner.items():
            self._restore_entry(inner, there.get(name))
        if golden is self._golden and found.st_uid != os.geteuid():
            return  # a mount point that belongs to root: its mode is the engine's matter
        now = os.lstat(golden.path)
        _same_owner_and_mode(golden.path, golden.status, now)
        if now.st_mtime_ns != golden.status.st_mtime_ns:
            os.utime(golden.path, ns=_times(golden))

    def _restore_entry(self, golden: Golden, found: os.stat_result | None) -> None:
        if found is not None and kind_of(found) != golden.kind:
            remove(golden.path)
            found = None
        if golden.kind == "d":
            if found is None:
                _make_apart(golden.path)
            self._restore_folder(golden, found or os.lstat(golden.path))
        elif golden.kind == "l":
            _restore_link(golden, found)
        elif found is not None and self._marks.get(golden.path) == mark_of(found):
            self._seen[golden.path] = found
        else:
            self._seen[golden.path] = _copy(golden, found, self._flags or 0)

    def _remember(self) -> None:
        """Keep the marks of the files that cannot change from now on without showing it."""
        now = now_ns()
        telling = tells_changes(self._folder)
        self._marks = {
            path: mark_of(status)
            for path, status in self._seen.items()
            if telling and is_settled(status, now)
        }


def _read(source: bytes, path: bytes) -> Golden:
    """Read the pristine copy of one entry with all it holds. Raises OSError, Failure."""
    status = os.lstat(source)
    kind = kind_of(status)
    inner = {}
    if kind == "d":
        for name in sorted(os.listdir(source)):
            inner[name] = _read(os.path.join(source, name), os.path.join(path, name))
    elif kind not in "fl":
        msg = f"pristine: {os.fsdecode(source)} is neither file, folder nor link"
        raise Failure(msg)
    target = os.readlink(source) if kind == "l" else b""
    attributes = {} if kind == "l" else attributes_of(source)
    return Golden(source, path, kind, status, target, inner, attributes)


def _size(golden: Golden) -> int:
    return golden.status.st_blocks * 512 + sum(_size(inner) for inner in golden.inner.values())


def _make_apart(path: bytes) -> None:
    """Make a folder; on ext4 in a part of the disk that few have used lately.

    There ext4 looks at each inode that was freed in the last minutes before it gives one anew.
    Beside volumes that went with their containers, some hundred new files take half a second. A
    folder below a "top of trees" goes where the hash of its name says: so it is made under a name
    that no other had.
    """
    parent, name = os.path.split(path)
    with contextlib.suppress(OSError), opened_folder(parent) as opened:
        mark_top(opened)  # on another file system it makes no difference
    fresh = os.path.join(parent, name + b"." + os.urandom(8).hex().encode())
    os.mkdir(fresh, _OPEN)
    os.rename(fresh, path)


def _restore_link(golden: Golden, found: os.stat_result | None) -> None:
    if found is not None and os.readlink(golden.path) != golden.target:
        os.unlink(golden.path)
        found = None
    if found is None:
        os.symlink(golden.target, golden.path)
        found = os.lstat(golden.path)
    owner = (golden.status.st_uid, golden.status.st_gid)
    if (found.st_uid, found.st_gid) != owner:
        os.chown(golden.path, *owner, follow_symlinks=False)
    if found.st_mtime_ns != golden.status.st_mtime_ns:
        os.utime(golden.path, ns=_times(golden), follow_symlinks=False)


def _copy(golden: Golden, found: os.stat_result | None, flags: int) -> os.stat_result:
    """Give a file its pristine content, owner, mode, mtime and attributes; return its status.

    It is written in place, which spares the file system most of the work, unless that would
    reach what has another name too, or what keeps inode flags that are not usual here.
    """
    source = os.open(golden.source, os.O_RDONLY | os.O_CLOEXEC)
    try:
        copy = _opened_copy(golden, found, flags)
        try:
            restore_attributes(copy, golden.attributes)
            _write(copy, source, golden.path)
            now = os.fstat(copy)
            if now.st_size != golden.status.st_size:
                os.ftruncate(copy, golden.status.st_size)
            _same_owner_and_mode(copy, golden.status, now)
            os.utime(copy, ns=_times(golden))
            return os.fstat(copy)
        finally:
            os.close(copy)
    finally:
        os.close(source)


def _opened_copy(golden: Golden, found: os.stat_result | None, flags: int) -> int:
    """Open a file to write to: the one that is there where it will do, a new one otherwise."""
    how = os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW
    if found is not None:
        own = found.st_uid == os.geteuid()
        if own and found.st_nlink == 1 and found.st_mode & stat.S_IWUSR:
            copy = os.open(golden.path, how)
            if flags_of(copy) == flags:
                return copy
            os.close(copy)
        os.unlink(golden.path)
    return os.open(golden.path, how | os.O_CREAT | os.O_EXCL, 0o600)


def _write(copy: int, source: int, path: bytes) -> None:
    try:
        while os.sendfile(copy, source, None, _CHUNK):
            pass
    except OSError as cause:
        cause.filename = os.fsdecode(path)  # the call itself knows none
        raise


def _same_owner_and_mode(
    target: bytes | int, golden: os.stat_result, found: os.stat_result
) -> None:
    if (found.st_uid, found.st_gid) != (golden.st_uid, golden.st_gid):
        os.chown(target, golden.st_uid, golden.st_gid)
        # A change of owner takes the bits set-user-ID and set-group-ID away.
        os.chmod(target, stat.S_IMODE(golden.st_mode))
    elif stat.S_IMODE(found.st_mode) != stat.S_IMODE(golden.st_mode):
        os.chmod(target, stat.S_IMODE(golden.st_mode))


def _times(golden: Golden) -> tuple[int, int]:
    return (golden.status.st_atime_ns, golden.status.st_mtime_ns)


def remove(path: bytes) -> None:
    """Remove a file, link, …, or a folder with all it holds, whatever its mode."""
    if not stat.S_ISDIR(os.lstat(path).st_mode):
        os.unlink(path)
        return
    os.chmod(path, _OPEN)
    _remove_inner(path)
    os.rmdir(path)


def _remove_inner(folder: bytes) -> None:
    with os.scandir(folder) as listed:
        inner = [entry.path for entry in listed]
    for path in inner:
        remove(path)


@contextlib.contextmanager
def opened_folder(path: bytes) -> Iterator[int]:
    """Open a folder to read its attributes. Raises OSError."""
    opened = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield opened
    finally:
        os.close(opened)
