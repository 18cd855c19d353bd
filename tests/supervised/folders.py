"""Folders to restore, what "equal" means, and what may happen to one."""

from __future__ import annotations

import contextlib
import mmap
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

from hypothesis import strategies as st

NAMES = ("a", "b.txt", "deep", "deep/c", "deep/er", "deep/er/d", "link", "empty", "new", "deep/new")
Entry = tuple[str, int, int, int, int, bytes]


def fill(pristine: Path) -> None:
    (pristine / "deep" / "er").mkdir(parents=True)
    (pristine / "empty").mkdir(mode=0o750)
    (pristine / "a").write_bytes(b"alpha")
    (pristine / "b.txt").write_bytes(bytes(range(256)) * 300)
    (pristine / "deep" / "c").write_bytes(b"")
    (pristine / "deep" / "er" / "d").write_bytes(b"omega")
    (pristine / "link").symlink_to("deep/c")
    (pristine / "a").chmod(0o640)
    (pristine / "deep" / "er" / "d").chmod(0o400)
    for number, path in enumerate(sorted(pristine.rglob("*"))):
        os.utime(path, ns=(10**18, 10**18 + number), follow_symlinks=False)
    (pristine / "deep" / "er").chmod(0o555)


def seen(folder: Path) -> dict[str, Entry]:
    """What "equal" means: type and mode, owner, size, mtime, content."""
    found = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        status = path.lstat()
        content = b""
        if stat.S_ISREG(status.st_mode):
            content = path.read_bytes()
        elif stat.S_ISLNK(status.st_mode):
            content = os.fsencode(path.readlink())
        found[str(path.relative_to(folder))] = (
            f"{status.st_mode:o}",
            status.st_uid,
            status.st_gid,
            0 if stat.S_ISDIR(status.st_mode) else status.st_size,
            status.st_mtime_ns,
            content,
        )
    return found


def overwrite_unnoticed(path: Path) -> None:
    """Change the content, and nothing that a glance would show."""
    status = path.lstat()
    with path.open("r+b") as file:
        file.write(b"!" * min(3, status.st_size))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def write_mapped(path: Path) -> None:
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[0:1] = b"?"


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


CHANGES: dict[str, Callable[[Path, Path], object]] = {
    "write": lambda path, _: path.write_bytes(b"something else"),
    "append": lambda path, _: path.write_bytes(path.read_bytes() + b"+"),
    "truncate": lambda path, _: os.truncate(path, 1),
    "overwrite unnoticed": lambda path, _: overwrite_unnoticed(path),
    "write mapped": lambda path, _: write_mapped(path),
    "remove": lambda path, _: remove(path),
    "shut": lambda path, _: path.chmod(0),
    "open": lambda path, _: path.chmod(0o6777),
    "touch": lambda path, _: os.utime(path, follow_symlinks=False),
    "make folder": lambda path, _: path.mkdir(),
    "move": lambda path, other: path.rename(other),
    "link": lambda path, other: path.symlink_to(other),
    "link hard": lambda path, other: path.hardlink_to(other),
    "make pipe": lambda path, _: os.mkfifo(path),
}
change = st.tuples(st.sampled_from(sorted(CHANGES)), *2 * [st.sampled_from(NAMES)])


def apply(changes: list[tuple[str, str, str]], folder: Path) -> None:
    for name, path, other in changes:
        with contextlib.suppress(OSError, ValueError):  # what cannot be done is not done
            CHANGES[name](folder / path, folder / other)
