"""Live origins are read-only inside TLS too, and trusting one key trusts no other."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import ssl
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
import trustme
from browser.session.conftest import Site
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from arena_core.actions import Click
from arena_core.errors import BrowserError
from orchestrator.browser.process.chromium import BrowserOptions
from orchestrator.browser.process.launch import launch
from orchestrator.browser.session.context import SessionOptions

if TYPE_CHECKING:
    from pathlib import Path

    from evaluators.evidence import RequestNote
    from orchestrator.browser.process.launch import Browser
    from orchestrator.browser.session.session import Session

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

WRITES = """<p id=o></p>
    <button onclick="fetch('/w', {method: 'POST', body: 'x'}).then((r) => {
      o.textContent = r.status })">fetch</button>
    <button onclick="navigator.sendBeacon('/w', 'x')">beacon</button>
    <form method=post action=/w><button>form</button></form>
    <form method=post action=/w target=_blank><button>popup</button></form>
    <button onclick="new Worker(window.URL.createObjectURL(new Blob(
      [`fetch('ORIGIN/w', {method: 'POST', mode: 'no-cors'})`])))">worker</button>
    <button onclick="fetch('/w').then((r) => { o.textContent = r.status })">read</button>"""


def _methods(site: Site, path: str) -> list[str]:
    return [method for method, asked in site.requests if asked == path]


@pytest.mark.parametrize("button", ["fetch", "beacon", "form", "popup", "worker"])
async def test_no_write_reaches_a_live_origin(browser: Browser, site: Site, button: str) -> None:
    url = site.page(WRITES.replace("ORIGIN", site.base))
    options = SessionOptions(
        proxy_url=None,
        live_origins=frozenset({site.base}),
        logical=lambda url: url.replace(site.base, "shop:"),
    )
    async with browser.session(options) as session:
        await session.open([url])
        assert await session.settle(10)
        seen = await session.observe(0)
        element = next(n.id for n in seen.nodes if n.role == "button" and n.name == button)
        session.drain()
        assert await session.act(Click(element=element)) is None
        (note,) = await _refused(session)
    assert note.refused == "live sites are read-only in this task"
    assert (note.site, note.may_write) == ("shop", True)
    assert note.url == site.base + "/w"
    assert _methods(site, "/w") == []


async def _refused(session: Session) -> tuple[RequestNote, ...]:
    """A worker sends in its own time: wait until something was refused."""
    async with asyncio.timeout(30):
        while True:
            assert await session.settle(10)
            if refused := session.drain().refused:
                return refused


async def test_a_refused_form_leads_to_a_page_that_says_so(browser: Browser, site: Site) -> None:
    url = site.page("<form method=post action=/w><button>b</button></form>")
    options = SessionOptions(proxy_url=None, live_origins=frozenset({site.base}))
    async with browser.session(options) as session:
        await session.open([url])
        assert await session.settle(10)
        (button,) = [n.id for n in (await session.observe(0)).nodes if n.role == "button"]
        await session.act(Click(element=button))
        assert await session.settle(10)
        assert await session.read_own("h1") == ("Refused by Arena",)


async def test_reading_a_live_origin_and_writing_elsewhere_go_on(
    browser: Browser, site: Site, other_site: Site
) -> None:
    url = other_site.page(WRITES)
    live = SessionOptions(proxy_url=None, live_origins=frozenset({site.base}))
    free = SessionOptions(proxy_url=None)
    async with browser.session(live) as session, browser.session(free) as writer:
        await session.open([url])
        assert await session.settle(10)
        seen = await session.observe(0)
        for name in ("fetch", "popup"):
            element = next(n.id for n in seen.nodes if n.role == "button" and n.name == name)
            assert await session.act(Click(element=element)) is None
            assert await session.settle(10)
        assert _methods(other_site, "/w") == ["POST", "POST"]
        assert session.drain().refused == ()
        await writer.open([site.page(WRITES)])
        assert await writer.settle(10)
        seen = await writer.observe(0)
        for name in ("fetch", "read", "popup"):
            element = next(n.id for n in seen.nodes if n.role == "button" and n.name == name)
            assert await writer.act(Click(element=element)) is None
            assert await writer.settle(10)
        assert _methods(site, "/w") == ["POST", "GET", "POST"]


def _spki(certificate: bytes) -> str:
    key = x509.load_pem_x509_certificate(certificate).public_key()
    der = key.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return base64.b64encode(hashlib.sha256(der).digest()).decode()


async def test_only_the_trusted_key_is_trusted(tmp_path: Path) -> None:
    ours, theirs = trustme.CA(), trustme.CA()
    contexts = []
    for authority in (ours, theirs):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        leaf = authority.issue_cert("127.0.0.1")
        # Chromium looks for the trusted key among the certificates that the server sends.
        chain = tmp_path / "chain.pem"
        chain.write_bytes(
            leaf.private_key_pem.bytes()
            + leaf.cert_chain_pems[0].bytes()
            + authority.cert_pem.bytes()
        )
        context.load_cert_chain(chain)
        contexts.append(context)
    options = BrowserOptions(trusted_spki=_spki(ours.cert_pem.bytes()))
    async with (
        launch(options) as browser,
        browser.session(SessionOptions(proxy_url=None)) as session,
    ):
        with (
            closing(Site(await browser.listen(), contexts[0])) as trusted,
            closing(Site(await browser.listen(), contexts[1])) as stranger,
        ):
            await session.open([trusted.page("<p>secure")])
            assert await session.settle(10)
            assert await session.read_own("p") == ("secure",)
            with pytest.raises(BrowserError, match="ERR_CERT"):
                await session.open([stranger.page("<p>secure")])
