"""The listening process, and who may talk to it: who knows its token, and no web page."""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import secrets
import socket
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena_core.errors import PortTakenError, PrerequisiteError, UsageError
from arena_core.user_cache import user_cache
from orchestrator.api.arena import Arena
from orchestrator.sandbox.states import archive
from orchestrator.serve.host import EpisodeHost
from orchestrator.serve.messages import FROM_CHECKPOINT, MOST_BYTES, TooLongError
from orchestrator.serve.session import TextActions

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK: Final = "127.0.0.1"
PORT: Final = 8642
IDLE_S: Final = 300.0
_GRACE_S: Final = 5


@contextmanager
def token_file(path: Path | None, port: int) -> Iterator[tuple[str, Path]]:
    """Write a new token that nobody but this user can read, and remove it when the block ends.

    Args:
        path: where; `serve-PORT.token` in Arena's cache folder where omitted.
        port: of the service.

    Yields:
        The token and its file.
    """
    token = secrets.token_urlsafe(32)
    path = path or user_cache() / f"serve-{port}.token"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        written = path.with_name(f"{path.name}.{os.getpid()}")
        written.unlink(missing_ok=True)
        handle = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(token + "\n")
        written.replace(path)
    except OSError as cause:
        message = f"{path}: the token cannot be written there: {cause.strerror}"
        raise UsageError(message, hint="name another file with --token-file") from cause
    try:
        yield token, path
    finally:
        if path.is_file() and path.read_text(encoding="ascii").strip() == token:
            path.unlink()


class Guard:
    """Lets a request through that knows the token, and names this service as its host.

    A page of a browser that runs on this machine could send requests to a local port as well: it
    does so with an `Origin`, or under a host name of its own that leads here.
    """

    def __init__(self, app: ASGIApp, *, token: str, port: int) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()
        self._hosts = {f"127.0.0.1:{port}".encode(), f"localhost:{port}".encode()}
        self._hosts.add(b"localhost")  # through the Unix socket, which has no port

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            raise RuntimeError(f"there is no {scope['type']} here")
        most = _most_bytes(scope)
        if (refused := self._refused(dict(scope["headers"]), most)) is not None:
            await _refuse(send, *refused)
        else:
            await self._app(scope, _bounded(receive, most), send)

    def _refused(self, headers: dict[bytes, bytes], most: int) -> tuple[int, str] | None:
        if b"origin" in headers:
            return 403, "requests of web pages are refused (they have an Origin)"
        if headers.get(b"host") not in self._hosts:
            return 403, "the Host is not this service's: call it as 127.0.0.1"
        if not hmac.compare_digest(headers.get(b"authorization", b""), self._expected):
            return 401, "the token is missing or wrong: Authorization: Bearer TOKEN"
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > most:
            return 413, f"a request has at most {most} bytes"
        return None


def _most_bytes(scope: Scope) -> int:
    """Return how many bytes a request may have."""
    return archive.MOST_BYTES if scope["path"] == FROM_CHECKPOINT else MOST_BYTES


def _bounded(receive: Receive, most: int) -> Receive:
    """Return a channel that breaks off a body longer than may be."""
    read = 0

    async def bounded() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > most:
            raise TooLongError(f"a request has at most {most} bytes")
        return message

    return bounded


async def _refuse(send: Send, status: int, why: str) -> None:
    headers = [(b"content-type", b"application/json")]
    if status == 401:  # noqa: PLR2004
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps({"error": why}).encode()})


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A running service.

    Attributes:
        url: where it answers.
        token_file: holds the token that every request names; nobody but this user can read it.
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
    checkpoints: bool = False,
    browser: Mapping[str, str] | str | None = None,
    token_path: Path | None = None,
    socket_path: Path | None = None,
    references: bool = False,
) -> AsyncIterator[Served]:
    """Serve episodes over HTTP until the block ends; those that are played then are given back.

    Args:
        arena: an open Arena with as many workers as `slots`.
        slots: how many episodes may be played side by side.
        port: on 127.0.0.1; 0 for a free one.
        idle_s: how long an episode waits for its client's next request.
        out: each episode's evidence goes into a folder of its own there; None for nowhere.
        staged: online, live origins are staged on this machine.
        checkpoints: clients may go back in episodes and fork them: harnesses, not agents.
        browser: that all episodes are played in, as in a run's file; no client chooses it.
        token_path: where the token is written; in Arena's cache folder where omitted.
        socket_path: of a Unix socket that it answers on as well, for a container that has it.
        references: clients may let the oracle play their episodes: harnesses, not agents.
    """
    try:
        from orchestrator.serve.app import make_app  # noqa: PLC0415  of the extra `serve`
    except ImportError as cause:
        message = f"the package '{cause.name}' is not installed"
        raise PrerequisiteError(message, hint="pip install 'arena-orchestrator[serve]'") from cause

    host = EpisodeHost(
        arena,
        slots=slots,
        idle_s=idle_s,
        out=out,
        staged=staged,
        checkpoints=checkpoints,
        browser=browser,
    )
    app = make_app(arena, host, TextActions(), references=references)
    try:
        async with _listening(app, port, token_path, socket_path) as (url, token, path):
            try:
                yield Served(url=url, token=token, token_file=path, host=host)
            finally:
                await host.close()
    finally:
        await host.forget()


@asynccontextmanager
async def _listening(
    app: ASGIApp, port: int, token_path: Path | None, socket_path: Path | None
) -> AsyncIterator[tuple[str, str, Path]]:
    """Answer HTTP on loopback, and on a Unix socket where one is named, until the block ends.

    Yields:
        The URL, the token, and its file.
    """
    import uvicorn  # noqa: PLC0415  of an extra

    with _bound(port) as listener, _bound_in_files(socket_path) as further:
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
            working = asyncio.create_task(server._serve([listener, *further]))  # noqa: SLF001
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


@contextmanager
def _bound_in_files(path: Path | None) -> Iterator[list[socket.socket]]:
    """Listen on a Unix socket that only this user and root may open; remove it at the end."""
    if path is None:
        yield []
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        try:
            if path.is_socket() and not _is_answered(path):
                path.unlink()  # of a service that was killed
            listener.bind(str(path))
            path.chmod(0o600)
        except OSError as cause:
            message = f"--socket {path}: {cause.strerror or cause}"
            raise UsageError(message, hint="name a new file, with a shorter path") from cause
        listener.listen(128)
        try:
            yield [listener]
        finally:
            path.unlink(missing_ok=True)


def _is_answered(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asked:
        return asked.connect_ex(str(path)) == 0
