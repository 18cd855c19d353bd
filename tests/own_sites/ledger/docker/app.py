"""The ledger: pages on Python's own web server, rows in SQLite."""

import html
import http.server
import socket
import sqlite3
from http.cookies import SimpleCookie
from urllib.parse import parse_qs

LEDGER = "/srv/site/state/data/ledger.db"
SESSIONS = {"ada": "session-of-ada", "grace": "session-of-grace"}
LOGIN = (
    '<form action="/login" method="post" id="login"><label>Name <input name="name"></label>'
    ' <label>Password <input name="password" type="password"></label> <button>Log in</button></form>'
)
WRITE = (
    '<form action="/" method="post"><label>New entry <input name="text"></label>'
    " <button>Write</button></form>"
)
SETTLE = '<form action="/settle" method="post"><button>Settle all</button></form>'


def ask(sql, *values):
    ledger = sqlite3.connect(LEDGER, timeout=10)
    try:
        with ledger:
            return ledger.execute(sql, values).fetchall()
    finally:
        ledger.close()


def write(author, text):
    ledger = sqlite3.connect(LEDGER, timeout=10)
    try:
        with ledger:
            entry = ledger.execute(
                "INSERT INTO entry (author, text, written_at) VALUES (?, ?, datetime('now'))",
                (author, text),
            ).lastrowid
            ledger.execute("INSERT INTO line (entry_id, text) VALUES (?, ?)", (entry, text))
    finally:
        ledger.close()


class Pages(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"

    def do_GET(self):
        user = self.user()
        if self.path == "/health":
            ((count,),) = ask("SELECT COUNT(*) FROM entry")
            self.answer(200, f"ready with {count} entries")
        elif self.path == "/login":
            self.page("Log in", LOGIN)
        elif self.path == "/account" and user:
            self.page("Your account", f"<p>{user}</p>")
        elif self.path == "/settle" and user == "grace":
            self.page("Settle", SETTLE + self.entries("WHERE NOT settled"))
        elif self.path == "/settle" or self.path == "/account":
            self.go("/login")
        elif self.path in {"/about", "/rules"}:
            self.page(self.path[1:].title(), "<p>Write what you spend; the keeper settles it.</p>")
        elif self.path == "/":
            ask(
                "INSERT INTO visit VALUES (?, 1) ON CONFLICT (path) DO UPDATE SET count = count + 1",
                self.path,
            )
            self.page("Ledger", (WRITE if user else "") + self.entries(""))
        else:
            self.page("Page not found", "", status=404)

    def do_POST(self):
        size = int(self.headers.get("Content-Length", "0"))
        sent = {name: value[0] for name, value in parse_qs(self.rfile.read(size).decode()).items()}
        user = self.user()
        if self.path == "/login":
            self.log_in(sent.get("name", ""), sent.get("password", ""))
        elif self.path == "/" and user:
            write(user, sent.get("text", ""))
            self.go("/")
        elif self.path == "/settle" and user == "grace":
            ask("UPDATE entry SET settled = 1 WHERE NOT settled")
            self.go("/settle")
        else:
            self.go("/login")

    def log_in(self, name, password):
        if not ask("SELECT 1 FROM account WHERE name = ? AND password = ?", name, password):
            self.page("Log in", "<p>Wrong.</p>" + LOGIN)
            return
        ask("UPDATE account SET last_seen = datetime('now') WHERE name = ?", name)
        self.go("/account", f"session={SESSIONS[name]}; Path=/; HttpOnly")

    def user(self):
        cookies = SimpleCookie(self.headers.get("Cookie", ""))
        given = cookies["session"].value if "session" in cookies else ""
        return next((name for name, session in SESSIONS.items() if session == given), "")

    def entries(self, where):
        rows = ask(f"SELECT text, author, settled FROM entry {where} ORDER BY id")
        items = [
            f"<li>{html.escape(text)} <small>{author}{', settled' if settled else ''}</small></li>"
            for text, author, settled in rows
        ]
        return f"<ul>{''.join(items)}</ul>"

    def page(self, title, main, status=200):
        links = (
            '<a href="/">Ledger</a> <a href="/login">Log in</a> <a href="/account">Account</a>'
            ' <a href="/settle">Settle</a> <a href="/about">About</a> <a href="/rules">Rules</a>'
        )
        self.answer(
            status,
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            f'<link rel="icon" href="data:,"></head><body><nav>{links}</nav>'
            f"<main><h1>{title}</h1>{main}</main></body></html>",
        )

    def go(self, to, cookie=None):
        self.answer(303, "", {"Location": to, **({"Set-Cookie": cookie} if cookie else {})})

    def answer(self, status, body, headers=None):
        content = body.encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("0.0.0.0", 8000), Pages, bind_and_activate=False)
        self.socket.close()
        self.socket = socket.socket(fileno=3)


Server().serve_forever()
