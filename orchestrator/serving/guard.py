"""Who may talk to a local service: who knows its token, under its own name, and no web page."""

from __future__ import annotations

import hmac
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena_core.errors import UsageError
from arena_core.user_cache import user_cache

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES: Final = 2**20


@contextmanager
def token_file(path: Path | None, port: int) -> Iterator[tuple[str, Path]]:
    """Write a new token that nobody but this user can read, and remove it when the block ends.

    Args:
        path: where; `serve-PORT.token` in Arena's cache folder where omitted.
        port: of the service.

    Yields:
        The token and its file.

    Raises:
        UsageError: the file cannot be written.
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

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] != "http":
            message = f"there is no {scope['type']} here"
            raise RuntimeError(message)
        elif (refused := self._refused(dict(scope["headers"]))) is not None:
            await _refuse(send, *refused)
        else:
            await self._app(scope, _bounded(receive), send)

    def _refused(self, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        if b"origin" in headers:
            return 403, "requests of web pages are refused (they have an Origin)"
        if headers.get(b"host") not in self._hosts:
            return 403, "the Host is not this service's: call it as 127.0.0.1"
        if not hmac.compare_digest(headers.get(b"authorization", b""), self._expected):
            return 401, "the token is missing or wrong: Authorization: Bearer TOKEN"
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > MOST_BYTES:
            return 413, f"a request has at most {MOST_BYTES} bytes"
        return None


class _TooLongError(Exception):
    """A body of unknown length was longer than is read."""


def _bounded(receive: Receive) -> Receive:
    """Return a channel that breaks off a body longer than may be."""
    read = 0

    async def bounded() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > MOST_BYTES:
            text = f"a request has at most {MOST_BYTES} bytes"
            raise _TooLongError(text)
        return message

    return bounded


async def _refuse(send: Send, status: int, why: str) -> None:
    headers = [(b"content-type", b"application/json")]
    if status == 401:  # noqa: PLR2004
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps({"error": why}).encode()})
