"""Locks of this machine: whose turn it is on an owner's containers, and which owners are dead."""

from __future__ import annotations

import asyncio
import fcntl
import os
import re
import secrets
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Final, Protocol

from arena_core.errors import ArenaError, LeaseError
from arena_core.user_cache import user_cache

WAIT_S = 900.0
# As it is installed, and as `python -m orchestrator.cli.entry` calls it.
_SIGNED = re.compile(r"\(process (\d+)\)")
_COMMAND = frozenset({"arena", "entry.py"})


@asynccontextmanager
async def command_lock(
    owner: str,
    on_wait: Callable[[str], None],
    *,
    sites: Iterable[str] = (),
    wait_s: float = WAIT_S,
    insist: bool = True,
) -> AsyncIterator[None]:
    """Be the only process that works on an owner's containers, until the block ends.

    Where the lock's file cannot be made, it is said, and the block goes on alone.

    Args:
        owner: the label of the containers, such as `up`.
        sites: only the containers of these; of all where none is named.
        insist: raise when the time is up; otherwise go on without the turn.
    """
    names = sorted(set(sites))  # in one order, so that no two commands wait for each other
    async with AsyncExitStack() as turns:
        for name in (owner, *(f"{owner}-{site}" for site in names)):
            kind = fcntl.LOCK_SH if names and name == owner else fcntl.LOCK_EX
            turn = _turn(_path(name), kind, on_wait, wait_s=wait_s, insist=insist)
            await turns.enter_async_context(turn)
        yield


@asynccontextmanager
async def _turn(
    path: Path, kind: int, on_wait: Callable[[str], None], *, wait_s: float, insist: bool
) -> AsyncIterator[None]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as cause:
        on_wait(
            f"other commands may work on the same sites: {path} cannot be locked: {cause.strerror}"
        )
        yield
        return
    lock = _Lock(handle, kind)
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

    def __init__(self, handle: int, kind: int) -> None:
        self._handle = handle
        self._kind = kind
        self._guard = threading.Lock()
        self._is_held = False
        self._is_given_up = False

    def take_at_once(self) -> bool:
        try:
            fcntl.flock(self._handle, self._kind | fcntl.LOCK_NB)
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
            fcntl.flock(self._handle, self._kind)
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
        signed = _SIGNED.search(words)
        # Several may share the lock, and the one that signed last may have ended.
        return words if signed and Path(f"/proc/{signed[1]}").exists() else "another process"

    def sign(self) -> None:
        if self._is_held:
            os.ftruncate(self._handle, 0)
            os.pwrite(self._handle, f"`{_program()[:120]}` (process {os.getpid()})\n".encode(), 0)

    def release(self) -> None:
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


_SUFFIX: Final = ".owner"


class Sweeper(Protocol):
    """What removes containers; the engine."""

    async def sweep(self, owner: str | None) -> tuple[str, ...]:
        """Remove the containers of an owner, and return their names."""


@asynccontextmanager
async def process_owner(
    engine: Sweeper, kind: str, on_note: Callable[[str], None]
) -> AsyncIterator[str]:
    """Yield a name for what this process starts; what it left is removed when the block ends.

    What processes that were killed left on this engine is removed first. Where no file can be
    locked, that is noted, and nothing of a killed process can be found later by itself.

    Args:
        on_note: called with what was removed, or could not be.
    """
    folder, address = user_cache() / "owners", os.environ.get("DOCKER_HOST", "")
    owner = f"{kind}-{os.getpid()}-{secrets.token_hex(4)}"
    handle: int | None = None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = _locked(folder / f"{owner}{_SUFFIX}", address)
    except OSError as cause:
        on_note(f"what this process leaves if it is killed is not found again: {cause.strerror}")
    else:
        await _sweep_dead(engine, folder, address, on_note)
    try:
        yield owner
    finally:
        try:
            await engine.sweep(owner)
        except ArenaError as failure:
            on_note(f"containers may be left: {failure.message}; arena down --owner {owner}")
        else:
            if handle is not None:
                (folder / f"{owner}{_SUFFIX}").unlink(missing_ok=True)
        finally:
            if handle is not None:
                os.close(handle)


async def _sweep_dead(
    engine: Sweeper, folder: Path, address: str, on_note: Callable[[str], None]
) -> None:
    for path in _files(folder):
        handle = _of_dead(path, address)
        if handle is None:
            continue
        try:
            removed = await engine.sweep(path.name.removesuffix(_SUFFIX))
            path.unlink(missing_ok=True)
            if removed:
                on_note(f"removed what a killed process left: {', '.join(removed)}")
        except ArenaError as failure:
            on_note(f"what a killed process left cannot be removed now: {failure.message}")
        finally:
            os.close(handle)


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"*{_SUFFIX}"))


def _locked(path: Path, address: str) -> int:
    """Return the handle of a new file that is locked from its first moment under its name on."""
    partial = path.with_suffix(".new")
    handle = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.write(handle, address.encode())
    partial.replace(path)
    return handle


def _of_dead(path: Path, address: str) -> int | None:
    """Return a dead process's file, locked; None where it lives or used another engine."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None  # another process has just removed it
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.pread(handle, 4096, 0).decode(errors="replace") == address:
            return handle
    except OSError:
        pass  # its process lives
    os.close(handle)
    return None
