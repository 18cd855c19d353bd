"""The kiosk: runs inside its container, on Debian's Python and pymysql."""

from __future__ import annotations

import http.server
import ssl
import threading
from http.cookies import SimpleCookie
from pathlib import Path
from urllib.parse import parse_qs

import pymysql

CERTIFICATE = Path("/etc/arena/tls/origin.crt")
LOGIN = """<!doctype html><title>Sign in - Kiosk</title>
<form id="search"><input name="q"></form>
<form id="login" method="post" action="/login">
<input type="hidden" name="csrf" value="token-1">
<input name="user"><input name="pass" type="password">
<button name="go" value="1">Sign in</button></form>"""


def run_sql(sql: str, *values: str) -> tuple[tuple[object, ...], ...]:
    connection = pymysql.connect(
        unix_socket="/tmp/db.sock",  # noqa: S108
        user="arena",
        database="kiosk",
        autocommit=True,
    )
    with connection, connection.cursor() as cursor:
        cursor.execute(sql, values)
        return tuple(cursor.fetchall())


class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        cookies = SimpleCookie(self.headers.get("Cookie", ""))
        user = cookies["session"].value if "session" in cookies else ""
        if self.path == "/health":
            ((count,),) = run_sql("SELECT COUNT(*) FROM account")
            self.answer(200, f"kiosk ready with {count} accounts")
        elif self.path == "/login":
            self.answer(200, LOGIN, cookies=["csrf=token-1; Path=/"])
        elif self.path == "/me" and user:
            self.answer(200, f"<title>{user}</title>signed in as {user}")
        elif self.path == "/me":
            self.answer(302, "", location="/login")
        elif self.path == "/welcome" and "pending" in cookies:
            pending = cookies["pending"].value
            self.answer(200, "welcome", cookies=[f"session={pending}; Path=/; HttpOnly"])
        elif self.path == "/away":
            self.answer(302, "", location="http://elsewhere.test/login")
        else:
            self.answer(200, f"<title>Kiosk</title>asked as {self.headers['Host']}")

    def do_POST(self) -> None:
        size = int(self.headers.get("Content-Length", "0"))
        sent = {name: value[0] for name, value in parse_qs(self.rfile.read(size).decode()).items()}
        if self.path == "/login":
            self.sign_in(sent)
        elif self.path == "/note":
            run_sql("INSERT INTO note (author, text) VALUES (%s, %s)", "ada", sent["text"])
            self.answer(200, "written")
        elif self.path == "/upload":
            Path("/srv/kiosk/files", sent["name"]).write_text(sent["text"], encoding="utf-8")
            self.answer(200, "kept")

    def sign_in(self, sent: dict[str, str]) -> None:
        cookies = SimpleCookie(self.headers.get("Cookie", ""))
        if "csrf" not in cookies or cookies["csrf"].value != sent.get("csrf"):
            self.answer(403, "<title>Forged</title>")
            return
        known = run_sql(
            "SELECT name FROM account WHERE name = %s AND password = %s",
            sent.get("user", ""),
            sent.get("pass", ""),
        )
        if not known or sent.get("go") != "1":
            self.answer(200, LOGIN.replace("Sign in -", "Wrong password -"))
            return
        run_sql("UPDATE account SET last_seen = NOW(6) WHERE name = %s", sent["user"])
        host = self.headers["Host"]
        scheme = "https" if isinstance(self.connection, ssl.SSLSocket) else "http"
        if sent["user"] == "grace":  # gets her session from the page after the form
            self.answer(302, "", location="/welcome", cookies=["pending=grace; Path=/"])
            return
        session = f"session={sent['user']}; Path=/; HttpOnly; Max-Age=86400"
        self.answer(302, "", location=f"{scheme}://{host}/me", cookies=[session])

    def answer(
        self, status: int, body: str, location: str = "", cookies: list[str] | None = None
    ) -> None:
        content = body.encode()
        self.send_response(status)
        for cookie in cookies or []:
            self.send_header("Set-Cookie", cookie)
        if location:
            self.send_header("Location", location)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def main() -> None:
    server = http.server.ThreadingHTTPServer(("0.0.0.0", 8000), Pages)  # noqa: S104
    if CERTIFICATE.exists():
        secure = http.server.ThreadingHTTPServer(("0.0.0.0", 8443), Pages)  # noqa: S104
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE, CERTIFICATE.with_suffix(".key"))
        secure.socket = context.wrap_socket(secure.socket, server_side=True)
        threading.Thread(target=secure.serve_forever, daemon=True).start()
    server.serve_forever()


if __name__ == "__main__":
    main()
