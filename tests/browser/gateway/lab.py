"""A real Chromium, its pages on real aiohttp servers, a gateway between them."""

from __future__ import annotations

import base64
import hashlib
import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import trustme
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from playwright.async_api import Page

from orchestrator.browser.process.launch import Browser
from orchestrator.gateway.arm import Arm
from orchestrator.gateway.policy import Policy, Route, SocketAddress
from orchestrator.gateway.server import Gateway


@dataclass(frozen=True, slots=True)
class Authority:
    """A certificate authority of one test run; Chromium trusts it by its public key."""

    ca: trustme.CA

    @property
    def spki(self) -> str:
        """Base64 of the SHA-256 of its public key."""
        key = x509.load_pem_x509_certificate(self.ca.cert_pem.bytes()).public_key()
        encoded = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return base64.b64encode(hashlib.sha256(encoded).digest()).decode()

    def server_context(self, host: str, folder: Path) -> ssl.SSLContext:
        """Return TLS for a server of that host.

        The server sends the authority's certificate too: Chromium looks for its key in the chain.
        """
        chain = folder / f"{host}.pem"
        pem = self.ca.issue_cert(host).private_key_and_cert_chain_pem.bytes()
        chain.write_bytes(pem + self.ca.cert_pem.bytes())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain)
        return context


class Lab:
    """A browser, and what one test starts around it."""

    def __init__(self, browser: Browser, authority: Authority, folder: Path) -> None:
        self.browser = browser
        self.authority = authority
        self.folder = folder
        self._open = AsyncExitStack()

    async def serve(self, app: web.Application, *, tls_host: str = "") -> SocketAddress:
        """Serve an application on loopback, over TLS where a host is given."""
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        self._open.push_async_callback(runner.cleanup)
        context = self.authority.server_context(tls_host, self.folder) if tls_host else None
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
        await site.start()
        _, port = runner.addresses[0][:2]
        return SocketAddress("127.0.0.1", port)

    async def gateway(self, *routes: Route, arm: Arm | None = None) -> Gateway:
        opening = Gateway.open(Policy(routes), bind=await self.browser.listen(), arm=arm)
        return await self._open.enter_async_context(opening)

    async def page(self, gateway: Gateway) -> Page:
        """Open an empty page in a context that is bound to a gateway."""
        context = await self.browser._browser.new_context(proxy={"server": gateway.url})
        self._open.push_async_callback(context.close)
        return await context.new_page()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Lab]:
        async with self._open:
            yield self
