"""A network namespace for one browser: its only way out is what listens inside it.

The kernel holds it, whatever a page does: WebRTC, QUIC, name lookups and whatever Chromium will
bring next find a loopback interface with the gateways on it, and nothing else.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from arena_core.errors import BrowserError
from orchestrator.browser import inside
from orchestrator.browser.programs import script

_SECONDS: Final = 10.0
_BYTES: Final = 512
_DISPLAYS: Final = Path("/tmp/.X11-unix")  # noqa: S108  the X Window System's own


class NoNamespaceError(Exception):
    """This machine gives no network namespace; the text says why."""


class Namespace:
    """A network namespace with nothing in it but a loopback interface."""

    def __init__(self, control: socket.socket, keeper: int, folder: Path) -> None:
        self._control = control
        self._keeper = keeper
        self._folder = folder
        self._turn = asyncio.Lock()

    @classmethod
    @asynccontextmanager
    async def open(cls, folder: Path) -> AsyncIterator[Namespace]:
        """Make a namespace; it goes with the last process in it.

        Args:
            folder: for the program that lets others in; it must last as long as the namespace.

        Raises:
            NoNamespaceError: neither root's rights nor user namespaces, or not Linux.
        """
        if sys.platform != "linux":
            message = f"{sys.platform} has none"
            raise NoNamespaceError(message)
        _demand_executable(folder)
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                keeper = await _start_keeper(theirs)
            try:
                await _await_ready(ours)
                yield cls(ours, keeper.pid, folder)
            finally:
                ours.close()  # which ends the keeper
                await _end(keeper)

    async def listen(self) -> socket.socket:
        """Return a socket that is bound to a free port of the namespace's loopback.

        Raises:
            BrowserError: the namespace is gone.
        """
        return await self._ask(inside.LISTEN)

    async def connecting(self) -> socket.socket:
        """Return a fresh socket of the namespace: what it connects to is reached from inside.

        Raises:
            BrowserError: the namespace is gone.
        """
        return await self._ask(inside.CONNECT)

    async def _ask(self, wish: bytes) -> socket.socket:
        async with self._turn:
            try:
                self._control.sendall(wish)
                return await asyncio.to_thread(_take_socket, self._control)
            except OSError as error:
                message = f"the browser's network namespace gives no socket: {error}"
                raise BrowserError(message) from error

    def way_in(self, executable: Path) -> Path:
        """Return a program that starts `executable` inside, with whatever arguments it gets."""
        words = [*_interpreter(), "enter", str(self._keeper), str(executable.absolute())]
        return script(self._folder / executable.name, f'exec {shlex.join(words)} "$@"')


def unreachable_display(environment: Mapping[str, str]) -> str:
    """Say why a window could not be shown from inside a namespace; empty where it could.

    X servers listen on a path, which all namespaces share; those on abstract sockets alone or on
    TCP (`ssh -X`) are out of reach there.
    """
    display = environment.get("DISPLAY", "")
    host, _, screen = display.rpartition(":")
    if not display or "WAYLAND_DISPLAY" in environment:
        return ""
    if host not in {"", "unix"}:
        return f"the display {display} is reached over the network"
    path = _DISPLAYS / f"X{screen.partition('.')[0]}"
    return "" if path.exists() else f"the display {display} has no socket {path}"


def _demand_executable(folder: Path) -> None:
    probe = script(folder / "probe", "exit 0")
    if not os.access(probe, os.X_OK):
        message = f"nothing can be executed in {folder}"
        raise NoNamespaceError(message)


def _interpreter() -> list[str]:
    return [sys.executable, "-IS", str(Path(inside.__file__).absolute())]


async def _start_keeper(control: socket.socket) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *_interpreter(),
        "keep",
        str(control.fileno()),
        pass_fds=(control.fileno(),),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is Arena's matter
    )


async def _await_ready(control: socket.socket) -> None:
    control.settimeout(_SECONDS)
    try:
        answer = await asyncio.to_thread(control.recv, _BYTES)
    except OSError as error:
        raise NoNamespaceError(str(error)) from error
    if answer != inside.READY:
        raise NoNamespaceError(answer.decode(errors="replace") or "its keeper does not start")


def _take_socket(control: socket.socket) -> socket.socket:
    """Take what the keeper sends; OSError where nothing comes within the socket's time limit."""
    _, handed, _, _ = socket.recv_fds(control, _BYTES, 1)
    if not handed:
        message = "its keeper is gone"
        raise OSError(message)
    return socket.socket(fileno=handed[0])


async def _end(keeper: asyncio.subprocess.Process) -> None:
    try:
        async with asyncio.timeout(_SECONDS):
            await keeper.wait()
    except TimeoutError:
        keeper.kill()
        await keeper.wait()
