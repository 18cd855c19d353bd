"""Serves a page to the one person who was given its address: on loopback, behind a token.

The token stands in the address's fragment, which is sent nowhere; the page sends it with all that
it asks. No page of an episode reaches the server: their browser has a network of its own. A page of
another browser here lacks the token, and a host name that leads here from elsewhere is refused.
"""

from __future__ import annotations

import hmac
import secrets
import socket
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any, Final

from aiohttp import web
from aiohttp.typedefs import Handler
from pydantic import ValidationError

from arena_core.errors import ArenaError, PortTakenError
from arena_core.foreign import first_fault

HEADER: Final = "X-Arena-Token"
_LOOPBACK: Final = "127.0.0.1"
_CLOSE_S: Final = 2.0
_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
        " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_FILES: Final = {
    "/": ("index.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
}


@asynccontextmanager
async def serve_page(
    package: str, routes: Iterable[web.RouteDef], *, port: int = 0, most_bytes: int
) -> AsyncIterator[str]:
    """Serve a page until the block ends; yield its address, token included.

    Args:
        package: holds `index.html`, `page.css` and `page.js`, which anybody may read.
        routes: of what the page asks; what they raise is answered in one line, as `{"error": …}`.
        port: 0 for a free one.
        most_bytes: that a request may have.

    Raises:
        PortTakenError: the port is in use.
    """
    try:
        listener = socket.create_server((_LOOPBACK, port))
    except OSError as error:
        message = f"port {port}: {error.strerror} on {_LOOPBACK}"
        raise PortTakenError(message, hint="omit the port for a free one") from error
    host = f"{_LOOPBACK}:{listener.getsockname()[1]}"
    token = secrets.token_urlsafe(32)
    app = web.Application(middlewares=[_guard(host, token)], client_max_size=most_bytes)
    app.on_response_prepare.append(_forbid)
    app.router.add_routes([*(web.get(path, _file(package, path)) for path in _FILES), *routes])
    # Some addresses hold the token: none is logged.
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=_CLOSE_S)
    try:
        await runner.setup()
        await web.SockSite(runner, listener).start()
        yield f"http://{host}/#{token}"
    finally:
        await runner.cleanup()
        listener.close()


def _refusal(request: web.Request, host: str, token: str) -> str | None:
    """Say why a request is refused; None where it is let in."""
    if request.headers.get("Host") != host:
        return f"ask for this page as {host}"
    if request.headers.get("Origin", f"http://{host}") != f"http://{host}":
        return "another page asks"
    if request.path in _FILES:
        return None
    given = request.headers.get(HEADER, "")
    if request.method == "GET":  # pictures and events: no header can be given with these
        given = given or request.query.get("token", "")
    if hmac.compare_digest(given.encode("utf-8", "replace"), token.encode()):
        return None
    return "the token is missing or wrong: open the address that was printed"


def _guard(host: str, token: str) -> Any:
    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        if (why := _refusal(request, host, token)) is not None:
            return _fault(why, 403)
        try:
            return await handler(request)
        except ValidationError as error:
            return _fault(first_fault(error), 400)
        except ArenaError as error:
            return _fault(f"{error.message} ({error.hint})" if error.hint else error.message, 400)
        except web.HTTPException as error:
            return _fault(error.text or error.reason, error.status)

    return guarded


def _fault(why: str, status: int) -> web.Response:
    return web.json_response({"error": why}, status=status)


def _file(package: str, path: str) -> Handler:
    name, kind = _FILES[path]

    async def answer(_: web.Request) -> web.StreamResponse:
        text = (files(package) / name).read_text("utf-8")
        return web.Response(text=text, content_type=kind)

    return answer


async def _forbid(_: web.Request, response: web.StreamResponse) -> None:
    """Let nothing run, load or keep an answer but the page itself."""
    response.headers.update(_HEADERS)
