"""The folder of the live state becomes equal to its pristine copy, or to a state taken before."""

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
from blocks import Content, write_content
from failure import Failure
from tree import is_settled, kind_of, mark_of, now_ns, tells_changes

_OPEN = stat.S_IRWXU


class Facts(NamedTuple):
    """Who owns an entry, who may use it, and when it was changed; times in nanoseconds."""

    mode: int
    uid: int
    gid: int
    mtime_ns: int


class Wanted(NamedTuple):
    """One entry as it should be.

    Attributes:
        path: where the live state has it.
        kind: `f` file, `d` folder, `l` link.
        content: of a file.
        target: of a link.
        inner: of a folder: what it holds, by name.
        attributes: extended ones, ACLs among them.
    """

    path: bytes
    kind: str
    facts: Facts
    content: Content = Content(None, 0)
    target: bytes = b""
    inner: dict[bytes, Wanted] = {}  # noqa: RUF012 - nobody changes it
    attributes: Attributes = {}  # noqa: RUF012 - nobody changes it


class Restorer:
    """Restores one folder as often as asked, and remembers what need not be written again.

    While it works nothing else may write to the folder: its marks would miss that.
    """

    def __init__(self, folder: str, pristine: str) -> None:
        self.folder = os.fsencode(folder)
        self._pristine = os.fsencode(pristine)
        self._golden: Wanted | None = None
        self._flags: int | None = None
        self._seen: dict[bytes, tuple[os.stat_result, Wanted]] = {}
        self._marks: dict[bytes, tuple[tuple[int, ...], Wanted]] = {}

    def golden(self) -> Wanted:
        """Return the pristine copy, as the folder should hold it.

        Raises:
            OSError: it cannot be read.
            Failure: it holds an entry of another kind.
        """
        self._golden = self._golden or _read(self._pristine, self.folder)
        return self._golden

    def restore(self, wanted: Wanted | None = None) -> None:
        """Make the folder equal to what is wanted: content, type, owner, mode, mtime, ACLs.

        So do extended attributes. Inode flags become those that the folder itself had at first.

        A file is left alone where its mark is what it was when the same was last written there.

        Args:
            wanted: the folder with all it should hold; the pristine copy where omitted.

        Raises:
            Failure: it cannot be done: no space, no permission, a pristine entry of another kind.
        """
        try:
            os.makedirs(self.folder, exist_ok=True)
            wanted = wanted or self.golden()
            try:
                self._restore_all(wanted)
            except OSError as cause:
                if cause.errno != errno.ENOSPC:
                    raise
                # What fills the folder may be what would have been removed later.
                _remove_inner(self.folder)
                self._marks = {}
                self._restore_all(wanted)
        except OSError as cause:
            msg = f"the state cannot be restored: {cause}{self._room(cause)}"
            raise Failure(msg) from cause

    def written(self, path: bytes, found: os.stat_result) -> Wanted | None:
        """Return what was written to a file if it was not changed since; None if it may be."""
        mark, wanted = self._marks.get(path, (None, None))
        return wanted if mark == mark_of(found) else None

    def _restore_all(self, wanted: Wanted) -> None:
        self._seen = {}
        if self._flags is None:
            with opened_folder(self.folder) as opened:
                self._flags = flags_of(opened)
        self._restore_folder(wanted, os.lstat(self.folder))
        self._remember()

    def _room(self, cause: OSError) -> str:
        """Say how much room there is and how much it takes, where there is too little."""
        if cause.errno != errno.ENOSPC or self._golden is None:
            return ""
        found = os.statvfs(self.folder)
        has, takes = found.f_blocks * found.f_frsize >> 20, _size(self._golden) >> 20
        return f" (there are {has} MB in all; the pristine copy takes {takes} MB)"

    def _restore_folder(self, wanted: Wanted, found: os.stat_result) -> None:
        """Restore what a folder holds, and then the folder's own mode and time."""
        if found.st_mode & _OPEN != _OPEN:
            os.chmod(wanted.path, _OPEN)
        if found.st_uid == os.geteuid():
            # First: what is made anew in here inherits them.
            restore_attributes(wanted.path, wanted.attributes)
            with opened_folder(wanted.path) as opened:
                restore_flags(opened, self._flags or 0)
        there = {}
        with os.scandir(wanted.path) as listed:
            for entry in listed:
                if entry.name in wanted.inner:
                    there[entry.name] = entry.stat(follow_symlinks=False)
                else:
                    remove(entry.path)
        for name, inner in wanted.inner.items():
            self._restore_entry(inner, there.get(name))
        if wanted.path == self.folder and found.st_uid != os.geteuid():
            return  # a mount point that belongs to root: its mode is the engine's matter
        now = os.lstat(wanted.path)
        _same_owner_and_mode(wanted.path, wanted.facts, now)
        if now.st_mtime_ns != wanted.facts.mtime_ns:
            os.utime(wanted.path, ns=_times(wanted))

    def _restore_entry(self, wanted: Wanted, found: os.stat_result | None) -> None:
        if found is not None and kind_of(found) != wanted.kind:
            remove(wanted.path)
            found = None
        if wanted.kind == "d":
            if found is None:
                _make_apart(wanted.path)
            self._restore_folder(wanted, found or os.lstat(wanted.path))
        elif wanted.kind == "l":
            restore_link(wanted, found)
        elif found is not None and self.written(wanted.path, found) is wanted:
            self._seen[wanted.path] = found, wanted
        else:
            self._seen[wanted.path] = restore_file(wanted, found, self._flags or 0), wanted

    def _remember(self) -> None:
        """Keep the marks of the files that cannot change from now on without showing it."""
        now = now_ns()
        telling = tells_changes(self.folder)
        self._marks = {
            path: (mark_of(status), wanted)
            for path, (status, wanted) in self._seen.items()
            if telling and is_settled(status, now)
        }


def facts_of(status: os.stat_result) -> Facts:
    """Return what an entry should be given again."""
    return Facts(stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid, status.st_mtime_ns)


def _read(source: bytes, path: bytes) -> Wanted:
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
    return Wanted(
        path=path,
        kind=kind,
        facts=facts_of(status),
        content=Content(source, status.st_size if kind == "f" else 0),
        target=os.readlink(source) if kind == "l" else b"",
        inner=inner,
        attributes={} if kind == "l" else attributes_of(source),
    )


def _size(wanted: Wanted) -> int:
    return wanted.content.size + sum(_size(inner) for inner in wanted.inner.values())


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


def restore_link(wanted: Wanted, found: os.stat_result | None) -> None:
    """Make a link lead where it should, whatever it is now. Raises OSError."""
    if found is not None and os.readlink(wanted.path) != wanted.target:
        os.unlink(wanted.path)
        found = None
    if found is None:
        os.symlink(wanted.target, wanted.path)
        found = os.lstat(wanted.path)
    owner = (wanted.facts.uid, wanted.facts.gid)
    if (found.st_uid, found.st_gid) != owner:
        os.chown(wanted.path, *owner, follow_symlinks=False)
    if found.st_mtime_ns != wanted.facts.mtime_ns:
        os.utime(wanted.path, ns=_times(wanted), follow_symlinks=False)


def restore_file(wanted: Wanted, found: os.stat_result | None, flags: int) -> os.stat_result:
    """Give a file its content, owner, mode, mtime and attributes; return its status.

    It is written in place, which spares the file system most of the work, unless that would
    reach what has another name too, or what keeps inode flags that are not usual here.

    Raises:
        OSError: it cannot be written.
    """
    copy = _opened_copy(wanted, found, flags)
    try:
        restore_attributes(copy, wanted.attributes)
        write_content(copy, wanted.content, wanted.path)
        _same_owner_and_mode(copy, wanted.facts, os.fstat(copy))
        os.utime(copy, ns=_times(wanted))
        return os.fstat(copy)
    finally:
        os.close(copy)


def _opened_copy(wanted: Wanted, found: os.stat_result | None, flags: int) -> int:
    """Open a file to write to: the one that is there where it will do, a new one otherwise."""
    how = os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW
    if found is not None:
        own = found.st_uid == os.geteuid()
        if own and found.st_nlink == 1 and found.st_mode & stat.S_IWUSR:
            copy = os.open(wanted.path, how)
            if flags_of(copy) == flags:
                return copy
            os.close(copy)
        os.unlink(wanted.path)
    return os.open(wanted.path, how | os.O_CREAT | os.O_EXCL, 0o600)


def _same_owner_and_mode(target: bytes | int, wanted: Facts, found: os.stat_result) -> None:
    if (found.st_uid, found.st_gid) != (wanted.uid, wanted.gid):
        os.chown(target, wanted.uid, wanted.gid)
        # A change of owner takes the bits set-user-ID and set-group-ID away.
        os.chmod(target, wanted.mode)
    elif stat.S_IMODE(found.st_mode) != wanted.mode:
        os.chmod(target, wanted.mode)


def _times(wanted: Wanted) -> tuple[int, int]:
    return (wanted.facts.mtime_ns, wanted.facts.mtime_ns)


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
