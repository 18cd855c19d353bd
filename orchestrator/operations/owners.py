"""Names for what a process starts for itself, so that the next one removes what a killed one left.

Each owner has a file that its process keeps locked; the kernel takes the lock back when the process
ends, however it ends. A file that is not locked any more names an owner whose process is dead.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Protocol

from arena_core.errors import ArenaError
from arena_core.user_cache import user_cache

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
        engine: where the containers are.
        kind: what the name begins with.
        on_note: called with what was removed, or could not be.
    """
    folder, address = user_cache() / "owners", os.environ.get("DOCKER_HOST", "")
    owner = f"{kind}-{os.getpid()}-{secrets.token_hex(4)}"
    handle: int | None = None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = _locked(folder / f"{owner}{_SUFFIX}", address)
    except OSError as cause:
        on_note(f"what this process leaves if it is killed is not found again: {cause}")
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
    """Remove what dead processes left on this engine."""
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
