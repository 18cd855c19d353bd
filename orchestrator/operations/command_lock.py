"""One command at a time works on an owner's containers: `arena up`, `reset` and `down` take turns.

The turn is a lock on a file, which the kernel takes back when its process ends, however it ends.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from arena_core.errors import LeaseError
from arena_core.user_cache import user_cache

WAIT_S = 900.0
# As it is installed, and as `python -m orchestrator.cli.entry` calls it.
_COMMAND = frozenset({"arena", "entry.py"})


@asynccontextmanager
async def command_lock(
    owner: str, on_wait: Callable[[str], None], *, wait_s: float = WAIT_S, insist: bool = True
) -> AsyncIterator[None]:
    """Be the only process that works on an owner's containers, until the block ends.

    Where the lock's file cannot be made, it is said, and the block goes on alone.

    Args:
        owner: the label of the containers, such as `up`.
        on_wait: called once, with whom it waits for.
        wait_s: how long to wait.
        insist: raise when the time is up; otherwise go on without the turn.

    Raises:
        LeaseError: the other process still works; names it.
    """
    path = _path(owner)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as cause:
        on_wait(f"other commands may work on the same sites: {path} cannot be locked: {cause}")
        yield
        return
    lock = _Lock(handle)
    if not lock.take_at_once():
        other = lock.holder()
        on_wait(f"{other} is at work on these sites; waiting for it")
        if not await lock.taken_within(wait_s) and insist:
            message = f"{other} has been at work on these sites for more than {wait_s:g} s"
            raise LeaseError(message, hint="wait for it or end it, then try again")
    try:
        lock.sign()
        yield
    finally:
        lock.release()


class _Lock:
    """An open file that is locked, or waited for."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._guard = threading.Lock()
        self._is_held = False
        self._is_given_up = False

    def take_at_once(self) -> bool:
        """Take it, unless somebody else has it."""
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        self._is_held = True
        return True

    async def taken_within(self, wait_s: float) -> bool:
        """Wait until it is free and take it; say no where the time is up before.

        The thread that waits is a daemon: nothing else ends its wait, and it hinders no exit.
        """
        loop, free = asyncio.get_running_loop(), asyncio.Event()

        def body() -> None:
            fcntl.flock(self._handle, fcntl.LOCK_EX)
            with self._guard:
                if self._is_given_up:
                    os.close(self._handle)
                    return
                self._is_held = True
            with suppress(RuntimeError):  # the loop is closed: the process is on its way out
                loop.call_soon_threadsafe(free.set)

        threading.Thread(target=body, name="arena-turn", daemon=True).start()
        try:
            async with asyncio.timeout(wait_s):
                await free.wait()
        except TimeoutError:
            return not self._gave_up()
        except BaseException:
            if not self._gave_up():
                self.release()
            raise
        return True

    def _gave_up(self) -> bool:
        """Stop waiting; say no where it was taken at the last moment."""
        with self._guard:
            self._is_given_up = not self._is_held
            return self._is_given_up

    def holder(self) -> str:
        """Return what the process that has it is called."""
        words = os.pread(self._handle, 200, 0).decode(errors="replace").strip()
        return words or "another process"

    def sign(self) -> None:
        """Write down who has it."""
        if self._is_held:
            os.ftruncate(self._handle, 0)
            os.pwrite(self._handle, f"`{_program()[:120]}` (process {os.getpid()})\n".encode(), 0)

    def release(self) -> None:
        """Let the next one in."""
        with self._guard:
            if self._is_held:
                self._is_held = False
                os.close(self._handle)


def _program() -> str:
    """Return what this process is called: the command as it was given, or a program's own name.

    The words of a program that calls the Python API are its own matter, and may hold secrets.
    """
    name = Path(sys.argv[0]).name
    if name in _COMMAND:
        return " ".join(["arena", *sys.argv[1:]])
    return "python" if name.startswith("-") or not name else name


def _path(owner: str) -> Path:
    return user_cache() / f"{owner}.lock"
