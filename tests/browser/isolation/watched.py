"""Pages that try to get past the gateway, and a capture of all packets while they are open.

A program for a network namespace of its own:

    watched.py own|flags|bare FOLDER [WAY …]    prints what did get past, as JSON

`own`: Arena's browser in its namespace. `flags`: Arena's browser where it can have none. `bare`: a
Chromium with a proxy and nothing else. No packet can leave: the namespace has one cable, to itself.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import struct
import sys
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

from aiohttp import web
from playwright.async_api import async_playwright

from orchestrator.browser.process import namespace_keeper
from orchestrator.browser.process.chromium import BrowserOptions
from orchestrator.browser.process.launch import Browser, launch
from orchestrator.browser.session.context import SessionOptions
from orchestrator.gateway.policy import Policy, Route, SocketAddress
from orchestrator.gateway.server import Gateway

HOST: Final = "shop.arena.test"
# Where pages try to get to, on this namespace's loopback and beyond its cable: each way its own.
FIRST_PORT: Final = 4001
_TRY_S: Final = 3.0
_ALL: Final = 0x0003
_ICE: Final = """
const peer = new RTCPeerConnection({iceServers: [%s]});
peer.createDataChannel('x');
peer.setLocalDescription();"""
_CLICK: Final = """
const link = document.body.appendChild(document.createElement('a'));
link.textContent = 'go'; link.href = '%s'; %s; link.click();"""
SCRIPTS: Final = {
    "stun": _ICE % "{urls: ['stun:127.0.0.1:PORT', 'stun:198.51.100.7:PORT']}",
    "stun by name": _ICE % "{urls: 'stun:stun.example:PORT'}",
    "turn": _ICE
    % """
{urls: ['turn:127.0.0.1:PORT?transport=udp', 'turn:127.0.0.1:PORT?transport=tcp'],
 username: 'u', credential: 'c'}""",
    "name lookups": """
for (const [rel, host] of [['dns-prefetch', 'a'], ['preconnect', 'b'], ['prefetch', 'c']]) {
  const link = document.createElement('link');
  link.rel = rel; link.href = `http://${host}.example/`; document.head.append(link);
}
const link = document.createElement('a');
link.href = 'http://d.example/'; document.body.append(link);
for (const kind of ['mouseover', 'mousedown']) {
  link.dispatchEvent(new MouseEvent(kind, {bubbles: true}));
}""",
    "webtransport": """
try { new WebTransport('https://127.0.0.1:PORT/').ready.catch(() => 0) } catch {}""",
    "websocket": "new WebSocket('ws://127.0.0.1:PORT/')",
    "speculation": """
const rules = document.createElement('script');
rules.type = 'speculationrules';
rules.textContent = JSON.stringify({
  prefetch: [{urls: ['http://127.0.0.1:PORT/a', 'http://e.example/'], eagerness: 'immediate'}],
  prerender: [{urls: ['http://127.0.0.1:PORT/b'], eagerness: 'immediate'}]});
document.head.append(rules);""",
    "requests": """
for (const host of ['127.0.0.1', 'localhost', '[::1]', '198.51.100.7', 'f.example']) {
  fetch(`http://${host}:PORT/`, {mode: 'no-cors', keepalive: true}).catch(() => 0);
  navigator.sendBeacon(`http://${host}:PORT/`, 'x');
  new EventSource(`http://${host}:PORT/`);
  new Image().src = `https://${host}:PORT/`;
}""",
    "worker": """
const code = `fetch('http://127.0.0.1:PORT/', {mode: 'no-cors'})`;
const url = URL.createObjectURL(new Blob([code]));
new Worker(url); new SharedWorker(url);
navigator.serviceWorker?.register('/worker.js').catch(() => 0);""",
    "download": _CLICK % ("http://127.0.0.1:PORT/file", "link.download = 'file'"),
    "ping": _CLICK % ("#there", "link.ping = 'http://127.0.0.1:PORT/'"),
    "mailto": _CLICK % ("mailto:somebody@example.com", ""),
    "other programs": _CLICK % ("ssh://127.0.0.1:PORT/", ""),
    "ftp": _CLICK % ("ftp://127.0.0.1:PORT/", ""),
    "file": _CLICK % ("file:///etc/hostname", "")
    + "fetch('file:///etc/hostname').catch(() => 0); open('file:///etc/hostname');",
    "report": """
const image = new Image(); image.src = 'http://127.0.0.1:PORT/blocked-by-policy';""",
}
_REPORT: Final = "img-src 'none'; report-uri http://127.0.0.1:PORT/report"


class Capture:
    """Every packet of this namespace that is not one of a connection to an allowed port."""

    def __init__(self, allowed: set[int]) -> None:
        self._allowed = allowed
        self._seen: set[str] = set()
        self._channel = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL))
        threading.Thread(target=self._run, daemon=True).start()

    def seen(self) -> list[str]:
        return sorted(self._seen)

    def _run(self) -> None:
        while True:
            if note := self._note(self._channel.recv(65_536)):
                self._seen.add(note)

    def _note(self, frame: bytes) -> str:
        (kind,) = struct.unpack_from("!H", frame, 12)
        if kind == 0x0806:
            return f"who has {socket.inet_ntoa(frame[38:42])}"
        if kind != 0x0800:
            return f"frame of kind {kind:#06x}"
        body = frame[14 + 4 * (frame[14] & 0xF) :]
        to = socket.inet_ntoa(frame[30:34])
        ports = struct.unpack_from("!HH", body)
        if frame[23] != socket.IPPROTO_TCP:
            return f"protocol {frame[23]} to {to}:{ports[1]}"
        if self._allowed.intersection(ports):
            return ""
        return f"TCP to {to}:{ports[1]}" if body[13] & 0x12 == 0x02 else ""


async def _page(request: web.Request) -> web.Response:
    way = request.query["way"]
    port = str(FIRST_PORT + list(SCRIPTS).index(way))
    policy = _REPORT.replace("PORT", port)
    headers = {"content-security-policy": policy} if way == "report" else {}
    script = SCRIPTS[way].replace("PORT", port)
    text = f"<!doctype html><title>{way}</title><p>page<script>{script}</script>"
    return web.Response(text=text, content_type="text/html", headers=headers)


async def _serve() -> int:
    app = web.Application()
    app.router.add_get("/", _page)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    return int(runner.addresses[0][1])


async def _watch(kind: str, ways: Sequence[str]) -> list[str]:
    allowed: set[int] = set()
    capture = Capture(allowed)
    site = await _serve()
    allowed.add(site)
    upstream = SocketAddress("127.0.0.1", site)
    policy = Policy((Route(site="shop", live=False, host=HOST, port=80, connect_to=upstream),))
    pages = [f"http://{HOST}/?way={quote(way)}" for way in ways]
    async with AsyncExitStack() as stack:
        browser = await stack.enter_async_context(_arena(kind)) if kind != "bare" else None
        bind = await browser.listen() if browser else "127.0.0.1"
        gateway = await stack.enter_async_context(Gateway.open(policy, bind=bind))
        allowed.add(int(gateway.url.rpartition(":")[2]))
        if browser:
            options = SessionOptions(proxy_url=gateway.url)
            session = await stack.enter_async_context(browser.session(options))
            await session.open(pages)
            await asyncio.sleep(_TRY_S)
        else:
            await _try_bare(gateway.url, pages)
        opened = {exchange.url for exchange in gateway.journal.since(0)}
    return capture.seen() + [f"never opened: {page}" for page in pages if page not in opened]


async def _try_bare(proxy: str, pages: Sequence[str]) -> None:
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=shutil.which("chromium"))
        context = await chromium.new_context(proxy={"server": proxy, "bypass": "<-loopback>"})
        for each in pages:
            await (await context.new_page()).goto(each, wait_until="commit")
        await asyncio.sleep(_TRY_S)
        await chromium.close()


@asynccontextmanager
async def _arena(kind: str) -> AsyncIterator[Browser]:
    async with launch(BrowserOptions(isolated=kind == "own")) as browser:
        if (kind == "own") == bool(browser.not_isolated):
            sys.exit(f"asked for {kind}, but: {browser.not_isolated or 'isolated'}")
        yield browser


def main() -> None:
    kind, folder, *ways = sys.argv[1:]
    namespace_keeper._furnish()
    programs = Path(folder)
    # What a page could start through a link of another scheme leaves a file instead.
    for name in ("xdg-open", "xdg-email"):
        program = programs / name
        program.write_text(f"#!/bin/sh\n: > {programs}/called-{name}\n", encoding="utf-8")
        program.chmod(0o755)
    os.environ["PATH"] = f"{programs}:{os.environ['PATH']}"
    passed = asyncio.run(_watch(kind, ways or list(SCRIPTS)))
    passed += [f"started: {called.name}" for called in programs.glob("called-*")]
    sys.stdout.write(json.dumps(passed))


if __name__ == "__main__":
    main()
