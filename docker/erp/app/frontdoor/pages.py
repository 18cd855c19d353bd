"""The pages of Arena's own: login by a form, logout, who is logged in, and health."""

from __future__ import annotations

import base64
import html
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, unquote

from trytond import security
from trytond.exceptions import LoginException, RateLimitException, UserError
from trytond.pool import Pool
from trytond.protocols.wrappers import with_pool, with_transaction
from trytond.transaction import Transaction
from trytond.wsgi import app
from werkzeug.utils import redirect
from werkzeug.wrappers import Response

DATABASE = "erp"
COOKIE = "erp_session"
_HERE = {"database_name": DATABASE}
_READING = frozenset({"GET", "HEAD"})
_FORM = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Log in - Harbour &amp; Pine office</title>
<link rel="icon" type="image/png" href="/images/tryton-icon.png">
<link rel="stylesheet" href="/dist/tryton-sao.min.css"></head>
<body><main class="container" style="max-width: 28em; padding-top: 4em">
<h1>Harbour &amp; Pine office</h1>{said}
<form id="login" method="post" action="/login">
<div class="form-group"><label for="username">User name</label>
<input class="form-control" id="username" name="username" autocomplete="username"
 value="{name}"></div>
<div class="form-group"><label for="password">Password</label>
<input class="form-control" id="password" name="password" type="password"
 autocomplete="current-password"></div>
<button class="btn btn-primary" type="submit">Log in</button>
</form></main></body></html>
"""


def with_cookie(application: Any) -> Callable[[dict[str, Any], Any], Iterable[bytes]]:
    """Return the application, where requests that only read may show their session by cookie."""

    def called(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        held = _session_of(environ.get("HTTP_COOKIE", ""))
        if held and environ["REQUEST_METHOD"] in _READING and "HTTP_AUTHORIZATION" not in environ:
            environ["HTTP_AUTHORIZATION"] = f"Session {held}"
        answer: Iterable[bytes] = application(environ, start_response)
        return answer

    return called


def _session_of(cookies: str) -> str:
    for one in cookies.split(";"):
        name, _, value = one.strip().partition("=")
        if name == COOKIE:
            return unquote(value)
    return ""


@app.error_handler
def refuse(_app: Any, request: Any, error: Exception) -> Response | None:
    """Say to whoever reads without the right to that it is forbidden, not that something broke."""
    if request.method in _READING and isinstance(error, UserError):
        return Response("Forbidden", HTTPStatus.FORBIDDEN, mimetype="text/plain")
    return None


@app.route("/login", methods=["GET"], defaults=_HERE)
def login_page(request: Any, database_name: str) -> Response:
    """Show the form."""
    return _form("", "")


@app.route("/login", methods=["POST"], defaults=_HERE)
def log_in(request: Any, database_name: str) -> Response:
    """Check the password; keep the session in a cookie, and go to the web client."""
    name, password = request.form.get("username", ""), request.form.get("password", "")
    try:
        found = security.login(
            database_name, name, {"password": password}, context={"_request": request.context}
        )
    except (LoginException, RateLimitException):
        found = None
    if not found:
        return _form("The user name or the password is wrong.", name)
    user, key = found
    held = base64.b64encode(f"{name}:{user}:{key}".encode()).decode()
    answer: Response = redirect("/", HTTPStatus.SEE_OTHER)
    answer.headers.add("Set-Cookie", f"{COOKIE}={quote(held, safe='')}; Path=/; SameSite=Lax")
    return answer


@app.route("/logout", methods=["GET"], defaults=_HERE)
def log_out(request: Any, database_name: str) -> Response:
    """End the session and forget its cookie."""
    if request.user_id and request.authorization.type == "session":
        security.logout(
            database_name,
            request.user_id,
            request.authorization.get("session"),
            context={"_request": request.context},
        )
    answer: Response = redirect("/login", HTTPStatus.SEE_OTHER)
    answer.headers.add("Set-Cookie", f"{COOKIE}=; Path=/; SameSite=Lax; Max-Age=0")
    return answer


@app.route("/account", methods=["GET"], defaults=_HERE)
@app.auth_required
@with_pool
@with_transaction(user="request")
def account(request: Any, pool: Pool) -> Response:
    """Say who is logged in."""
    user = pool.get("res.user")(Transaction().user)
    return Response(f"{user.name} ({user.login})\n", mimetype="text/plain")


@app.route("/health/", methods=["GET"], defaults=_HERE)
@with_pool
@with_transaction()
def health(request: Any, pool: Pool) -> Response:
    """Prove the application and its database."""
    cursor = Transaction().connection.cursor()
    cursor.execute("SELECT COUNT(*) FROM sale_sale")
    return Response("ready\n" if cursor.fetchone()[0] else "empty\n", mimetype="text/plain")


def _form(said: str, name: str) -> Response:
    notice = f'<p class="alert alert-danger" role="alert">{html.escape(said)}</p>' if said else ""
    return Response(_FORM.format(said=notice, name=html.escape(name)), mimetype="text/html")
