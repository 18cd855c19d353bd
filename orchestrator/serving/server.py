"""The service as a process runs it: on loopback, with a token in a file, until its end."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena_core.errors import PortTakenError, PrerequisiteError
from orchestrator.api.arena import Arena
from orchestrator.serving.guard import Guard, token_file
from orchestrator.serving.host import EpisodeHost
from orchestrator.serving.text_actions import TextActions

if TYPE_CHECKING:
    from starlette.types import ASGIApp

LOOPBACK: Final = "127.0.0.1"
PORT: Final = 8642
IDLE_S: Final = 300.0
_GRACE_S: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A running service.

    Attributes:
        url: where it answers.
        token_file: holds the token that every request names; nobody but this user can read it.
        host: of the episodes that it plays.
    """

    url: str
    token: str
    token_file: Path
    host: EpisodeHost


@asynccontextmanager
async def serve(
    arena: Arena,
    *,
    slots: int,
    port: int = PORT,
    idle_s: float = IDLE_S,
    out: Path | None = None,
    staged: bool = False,
    token_path: Path | None = None,
) -> AsyncIterator[Served]:
    """Serve episodes over HTTP until the block ends; those that are played then are given back.

    Args:
        arena: an open Arena with as many workers as `slots`.
        slots: how many episodes may be played side by side.
        port: on 127.0.0.1; 0 for a free one.
        idle_s: how long an episode waits for its client's next request.
        out: each episode's evidence goes into a folder of its own there; None for nowhere.
        staged: online, live origins are staged on this machine.
        token_path: where the token is written; in Arena's cache folder where omitted.

    Raises:
        PrerequisiteError: the extra `serve` is not installed.
        PortTakenError: the port is in use.
        UsageError: the token cannot be written.
    """
    try:
        from orchestrator.serving.app import make_app  # noqa: PLC0415  of the extra `serve`
    except ImportError as cause:
        message = f"the package '{cause.name}' is not installed"
        raise PrerequisiteError(message, hint="pip install 'arena-orchestrator[serve]'") from cause

    host = EpisodeHost(arena, slots=slots, idle_s=idle_s, out=out, staged=staged)
    app = make_app(arena, host, TextActions())
    try:
        async with _listening(app, port, token_path) as (url, token, path):
            try:
                yield Served(url=url, token=token, token_file=path, host=host)
            finally:
                await host.close()
    finally:
        await host.forget()


@asynccontextmanager
async def _listening(
    app: ASGIApp, port: int, token_path: Path | None
) -> AsyncIterator[tuple[str, str, Path]]:
    """Answer HTTP on loopback for who knows the token, until the block ends.

    Yields:
        The URL, the token, and its file.

    Raises:
        PortTakenError: the port is in use.
        UsageError: the token cannot be written.
    """
    import uvicorn  # noqa: PLC0415  of an extra

    with _bound(port) as listener:
        port = listener.getsockname()[1]
        with token_file(token_path, port) as (token, path):
            config = uvicorn.Config(
                Guard(app, token=token, port=port),
                log_config=None,
                access_log=False,
                lifespan="off",
                timeout_graceful_shutdown=_GRACE_S,
                server_header=False,
            )
            server = uvicorn.Server(config)
            # Signals are its caller's: uvicorn's own handlers would take them.
            working = asyncio.create_task(server._serve([listener]))  # noqa: SLF001
            try:
                yield f"http://{LOOPBACK}:{port}", token, path
            finally:
                server.should_exit = True
                await working


def _bound(port: int) -> socket.socket:
    # Named as TCP: on such sockets alone asyncio sends at once what is written. Else each answer
    # waits 40 ms for the client's acknowledgement.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
    except OSError as cause:
        listener.close()
        message = f"--port {port}: {cause.strerror} on {LOOPBACK}"
        raise PortTakenError(message, hint="another --port, or 0 for a free one") from cause
    listener.listen(128)
    return listener
