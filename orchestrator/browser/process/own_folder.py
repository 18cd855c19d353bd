"""The folder of one browser: gone with it, or swept by the next if its owner was killed."""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from orchestrator.browser.process.profile import remove_profile

PREFIX: Final = "arena-browser-"
# Locked for as long as its process lives: the kernel lets go of it however that ends, and no number
# of a process, which another may get, or which another container counts anew, is to be trusted.
OWNER: Final = "owner"
_LOG = logging.getLogger(__name__)


@contextmanager
def own_folder() -> Iterator[Path]:
    """Make a temporary folder that is this process's; it is gone when the block ends."""
    with tempfile.TemporaryDirectory(prefix=PREFIX) as made:
        folder = Path(made)
        beside = folder / f".{OWNER}"
        handle = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            os.write(handle, f"{os.getpid()}\n".encode())  # for people who look there
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            beside.rename(folder / OWNER)  # it is never seen without its lock
            yield folder
        finally:
            os.close(handle)


def sweep_folders() -> tuple[Path, ...]:
    """Remove this user's folders whose processes are dead, and their profiles; return them.

    A link is never followed, and what has no lock file, such as a folder of an earlier version,
    stays. What cannot be removed is left for the next time.
    """
    swept: list[Path] = []
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        try:
            if _is_ours(folder) and _is_left(folder / OWNER):
                remove_profile(folder)
                shutil.rmtree(folder)
                swept.append(folder)
        except OSError as why:
            _LOG.info("%s is left: %s", folder, why.strerror)
    if swept:
        _LOG.info("removed %d folders of browsers whose owners were killed", len(swept))
    return tuple(swept)


def _is_ours(folder: Path) -> bool:
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()


def _is_left(owner: Path) -> bool:
    """Whether nobody holds a lock file; one that is not there, or is none, says nothing."""
    try:
        handle = os.open(owner, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return False
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    else:
        return True
    finally:
        os.close(handle)
