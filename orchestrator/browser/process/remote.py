"""A browser that Arena did not start: it is reached by its CDP address, and outlives Arena."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Final

from playwright.async_api import Browser as PlaywrightBrowser
from playwright.async_api import Error as PlaywrightError

from arena_core.cookie import Cookie
from arena_core.errors import BrowserError, GatewayError, StateError
from orchestrator.browser.process.chromium import BrowserOptions
from orchestrator.browser.process.kinds import BrowserBuild, BrowserKind, RemoteAddress
from orchestrator.browser.process.launch import Browser, build_of, launch
from orchestrator.browser.process.playwright_driver import running_driver
from orchestrator.browser.session.context import SessionOptions, cookie_of
from orchestrator.browser.session.policy import DirectTraffic, LiveGuard
from orchestrator.browser.session.session import Session, open_session
from orchestrator.gateway.arm import Arm
from orchestrator.gateway.policy import Policy
from orchestrator.gateway.recorded import RecordedDocuments

_LOG = logging.getLogger(__name__)
_CONNECT_S: Final = 60.0
_NOT_HERE: Final = "it runs elsewhere"


class RemoteBrowser(Browser):
    """A browser at an address; each episode gets a context of its own there.

    No gateway and no namespace binds it: the session itself keeps the policy.
    """

    def __init__(
        self,
        browser: PlaywrightBrowser,
        guard: LiveGuard,
        build: BrowserBuild,
        address: RemoteAddress,
        kind: BrowserKind = BrowserKind.CDP,
    ) -> None:
        lost = f"the connection to the browser at {address} was lost"
        super().__init__(browser, guard, _NOT_HERE, build, kind, lost=lost)
        self.address = str(address)
        self._traffic: dict[str, DirectTraffic] = {}
        self._opened = 0

    @asynccontextmanager
    async def open_gateway(
        self,
        policy: Policy,
        *,
        bind: str | socket.socket,
        recorded: RecordedDocuments | None = None,
        arm: Arm | None = None,
    ) -> AsyncIterator[DirectTraffic]:
        """Return what keeps a policy without a gateway, for the session with its `url` as proxy."""
        if isinstance(bind, socket.socket):
            bind.close()
        if recorded is not None:
            message = f"no gateway answers the browser at {self.address} with recorded documents"
            raise StateError(message, hint="open the checkpoint in a browser of this machine")
        if arm is not None or any(route.connect_to is not None for route in policy.routes):
            message = f"the browser at {self.address} reaches live sites alone, by their names"
            raise GatewayError(message, hint="choose a browser of this machine: --browser chromium")
        self._opened += 1
        traffic = DirectTraffic(policy, f"direct:{self._opened}")
        self._traffic[traffic.url] = traffic
        try:
            yield traffic
        finally:
            del self._traffic[traffic.url]

    @asynccontextmanager
    async def session(self, options: SessionOptions) -> AsyncIterator[Session]:
        """Open a context of its own for one episode; the block's end closes it, and no other."""
        traffic = self._traffic.get(options.proxy_url or "")
        direct = replace(options, proxy_url=None)
        if self.kind is BrowserKind.PROFILE and traffic is not None:
            cookies = (*await self._own_cookies(traffic.hosts), *options.cookies)
            direct = replace(direct, cookies=cookies, hides_cookies=True)
        async with (
            self.watched() as watchdog,
            open_session(self._browser, self._guard, watchdog, direct, traffic=traffic) as session,
        ):
            yield session

    async def _own_cookies(self, hosts: Collection[str]) -> list[Cookie]:
        """Return the cookies that the browser's profile has for the sites; none for other hosts.

        They are copied: what an episode does with them changes nothing of the profile.
        """
        found = [one for context in self._browser.contexts[:1] for one in await context.cookies()]
        return [cookie_of(one) for one in found if any(_reaches(one["domain"], to) for to in hosts)]


def _reaches(domain: str, host: str) -> bool:
    """Whether a cookie is sent to a host: one whose domain has a dot in front goes to all below."""
    return host == domain.removeprefix(".") or (domain.startswith(".") and host.endswith(domain))


@asynccontextmanager
async def connect(
    address: RemoteAddress, kind: BrowserKind = BrowserKind.CDP
) -> AsyncIterator[RemoteBrowser]:
    """Connect to a browser; the block's end closes what was opened there, and lets it live."""
    async with AsyncExitStack() as stack:
        playwright = await stack.enter_async_context(running_driver())
        try:
            async with asyncio.timeout(_CONNECT_S):
                found = await playwright.chromium.connect_over_cdp(address.url)
                wire = await found.new_browser_cdp_session()
                build = await build_of(wire)
        except (PlaywrightError, TimeoutError) as error:
            raise _unreached(address, error) from None  # its cause would show the address
        browser = RemoteBrowser(found, LiveGuard(wire), build, address, kind)
        stack.push_async_callback(browser.close)
        _LOG.info("connected to %s at %s", build.product, address)
        yield browser


@asynccontextmanager
async def open_browser(options: BrowserOptions) -> AsyncIterator[Browser]:
    """Start a browser, or connect to the one that the options name."""
    kind = BrowserKind.PROFILE if options.profile else BrowserKind.CDP
    opened = launch(options) if options.remote is None else connect(options.remote, kind)
    async with opened as browser:
        yield browser


def _unreached(address: RemoteAddress, error: Exception) -> BrowserError:
    reason = address.redacted(str(error).partition("\n")[0])
    said = reason or f"no answer within {_CONNECT_S:.0f} s"
    hint = "check that it runs, and that the address is whole; a vendor's may hold for one session"
    return BrowserError(f"the browser at {address} cannot be used: {said}", hint=hint)
