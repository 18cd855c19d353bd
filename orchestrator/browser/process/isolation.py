"""Isolates the browser: a network namespace of its own, and no other program to start.

The kernel holds the namespace, whatever a page does: WebRTC, QUIC, name lookups and whatever
Chromium will bring next find only a loopback interface with the gateways on it.

One line in a page is enough for Chromium, even headless, to start another program: `mailto:` opens
the desktop's mail program, which no gateway and no namespace binds.
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
from orchestrator.browser.process import namespace_keeper
from orchestrator.browser.process.profile import noting

# How Chromium asks a desktop to open something.
_ASKED: Final = ("xdg-open", "xdg-email")
_NOT_FOUND: Final = 3  # their exit code if no program opens the address


def script(path: Path, lines: str) -> Path:
    """Write a program for the shell, and return its path."""
    path.write_text(f"#!/bin/sh\n{lines}\n", encoding="utf-8")
    path.chmod(0o700)
    return path


def without_programs(environment: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return the environment for a browser that starts no other program.

    The folder is empty and must last as long as the browser: it holds what stands in the way.
    """
    for name in _ASKED:
        script(folder / name, f"exit {_NOT_FOUND}")
    before = environment.get("PATH", "/usr/local/bin:/usr/bin:/bin")
    # The desktop's bus, which may be a Unix socket on a path, could be asked for the same.
    return {**environment, "PATH": f"{folder}:{before}", "DBUS_SESSION_BUS_ADDRESS": "disabled:"}


_SECONDS: Final = 10.0
_BYTES: Final = 512
_DISPLAYS: Final = Path("/tmp/.X11-unix")  # noqa: S108  the X Window System's own


class NoNamespaceError(Exception):
    """This machine gives no network namespace; the text says why."""


class Namespace:
    """A network namespace with a loopback interface and nothing else."""

    def __init__(
        self, control: socket.socket, keeper: asyncio.subprocess.Process, folder: Path
    ) -> None:
        self._control = control
        self._keeper = keeper
        self._folder = folder
        self._turn = asyncio.Lock()
        self._is_lost = False

    @classmethod
    @asynccontextmanager
    async def open(cls, folder: Path) -> AsyncIterator[Namespace]:
        """Make a namespace; it ends with the last process in it.

        `folder`, for the program that lets others in, must last as long as the namespace.
        """
        if sys.platform != "linux":
            raise NoNamespaceError(f"network namespaces need Linux, this is {sys.platform}")
        _require_executable(folder)
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                keeper = await _start_keeper(theirs)
            try:
                await _await_ready(ours)
                yield cls(ours, keeper, folder)
            finally:
                ours.close()  # which ends the keeper
                await end(keeper)

    @property
    def is_alive(self) -> bool:
        """Whether it still gives sockets; programs inside go on without."""
        return not self._is_lost and self._keeper.returncode is None

    async def listen(self) -> socket.socket:
        """Return a socket bound to a free port of the namespace's loopback."""
        return await self._ask(namespace_keeper.LISTEN)

    async def connect_socket(self) -> socket.socket:
        """Return a fresh socket that connects from inside the namespace."""
        return await self._ask(namespace_keeper.CONNECT)

    async def _ask(self, wish: bytes) -> socket.socket:
        async with self._turn:
            try:
                self._control.sendall(wish)
                return await asyncio.to_thread(_take_socket, self._control)
            except OSError as error:
                self._is_lost = True
                raise BrowserError(
                    f"the browser's network namespace gives no socket: {error}"
                ) from error

    @property
    def entry(self) -> list[str]:
        """The words before a command that let it run inside."""
        return [*_interpreter(), "enter", str(self._keeper.pid)]


def browser_program(executable: Path, network: Namespace | str, folder: Path) -> Path:
    """Return a program that notes its arguments and becomes a browser, inside its network.

    It is the browser itself where nothing can be executed in the folder.
    """
    entry = [] if isinstance(network, str) else network.entry
    words = shlex.join([*entry, str(executable.absolute())])
    made = script(folder / executable.name, f'{noting(folder)}\nexec {words} "$@"')
    return made if os.access(made, os.X_OK) else executable


def unreachable_display(environment: Mapping[str, str]) -> str:
    """Return why a namespace could not show a window; empty if it could.

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


def _require_executable(folder: Path) -> None:
    probe = script(folder / "probe", "exit 0")
    if not os.access(probe, os.X_OK):
        raise NoNamespaceError(f"nothing can be executed in {folder}")


def _interpreter() -> list[str]:
    return [sys.executable, "-IS", str(Path(namespace_keeper.__file__).absolute())]


async def _start_keeper(control: socket.socket) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *_interpreter(),
        "keep",
        str(control.fileno()),
        pass_fds=(control.fileno(),),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is for Arena alone
    )


async def _await_ready(control: socket.socket) -> None:
    control.settimeout(_SECONDS)
    try:
        answer = await asyncio.to_thread(control.recv, _BYTES)
    except OSError as error:
        raise NoNamespaceError(str(error)) from error
    if answer != namespace_keeper.READY:
        raise NoNamespaceError(answer.decode(errors="replace") or "its keeper does not start")


def _take_socket(control: socket.socket) -> socket.socket:
    """Take a socket from the keeper; OSError if none comes within the socket's time limit."""
    _, handed, _, _ = socket.recv_fds(control, _BYTES, 1)
    if not handed:
        raise OSError("its keeper is gone")
    return socket.socket(fileno=handed[0])


async def end(process: asyncio.subprocess.Process) -> None:
    """Wait for a process that was asked to end, and kill it if it does not."""
    try:
        async with asyncio.timeout(_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
