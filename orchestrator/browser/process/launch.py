"""One Chromium for a run, with a session for each episode."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

from playwright.async_api import Browser as PlaywrightBrowser
from playwright.async_api import CDPSession, Playwright
from playwright.async_api import Error as PlaywrightError

from arena_core.errors import BrowserError
from orchestrator.browser.process.chromium import (
    LAUNCH_S,
    BrowserOptions,
    launch_command,
    open_network,
    start_error,
)
from orchestrator.browser.process.isolation import Namespace, without_programs
from orchestrator.browser.process.kinds import BrowserBuild, BrowserKind
from orchestrator.browser.process.own_folder import own_folder, sweep_folders
from orchestrator.browser.process.playwright_driver import running_driver
from orchestrator.browser.process.profile import note_profile, remove_profile
from orchestrator.browser.session.context import SessionOptions
from orchestrator.browser.session.policy import LiveGuard
from orchestrator.browser.session.session import Session, open_session
from orchestrator.browser.tabs.cdp_channel import BrowserWatchdog

_LOG = logging.getLogger(__name__)

_CLOSE_S = 10.0
ANSWER_S = 5.0
CRASHED = "the browser or its driver crashed"
_LOOPBACK = "127.0.0.1"


class Browser:
    """A running Chromium.

    Attributes:
        build: what it says of itself.
        kind: what was started.
        version: such as `131.0.6778.85`, with `(headless shell)` after it for that one.
        not_isolated: why it has no network namespace of its own; empty if it has one.
    """

    def __init__(
        self,
        browser: PlaywrightBrowser,
        guard: LiveGuard,
        network: Namespace | str,
        build: BrowserBuild,
        kind: BrowserKind,
        *,
        lost: str = CRASHED,
    ) -> None:
        self._browser = browser
        self._guard = guard
        self._namespace = None if isinstance(network, str) else network
        self.not_isolated = network if isinstance(network, str) else ""
        self._watchdogs: set[BrowserWatchdog] = set()
        self._is_closing = False
        self._is_dead = False
        self._lost = lost
        self.build, self.kind = build, kind
        shell = " (headless shell)" if kind is BrowserKind.SHELL else ""
        self.version = f"{build.version}{shell}"
        browser.on("disconnected", lambda _: self._die())

    @property
    def is_alive(self) -> bool:
        """Whether the browser answers, and a gateway can listen for it; neither comes back."""
        has_network = self._namespace is None or self._namespace.is_alive
        return has_network and self._answers

    @property
    def _answers(self) -> bool:
        return self._browser.is_connected() and not self._is_dead

    async def listen(self) -> socket.socket:
        """Return a bound loopback socket that this browser reaches, for a gateway to listen on."""
        if self._namespace is not None:
            return await self._namespace.listen()
        listener = socket.socket()
        listener.bind((_LOOPBACK, 0))
        return listener

    @asynccontextmanager
    async def session(self, options: SessionOptions) -> AsyncIterator[Session]:
        """Open a context of its own for one episode until the block ends.

        A browser in which none opens is given up, though it may answer: where the process is gone
        that starts renderers, no page of it opens any more.
        """
        is_open = False
        try:
            async with (
                self.watched() as watchdog,
                open_session(self._browser, self._guard, watchdog, options) as session,
            ):
                is_open = True
                yield session
        except BrowserError:
            if not is_open:
                self._die()
            raise

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[BrowserWatchdog]:
        """Return what breaks a session off when this browser is gone."""
        watchdog = BrowserWatchdog(self._prove)
        self._watchdogs.add(watchdog)
        if not self._answers:
            watchdog.lose(self._lost)
        try:
            yield watchdog
        finally:
            self._watchdogs.discard(watchdog)

    async def _prove(self) -> None:
        """Ask the browser whether it lives: the death of its driver makes no event."""
        try:
            async with asyncio.timeout(ANSWER_S):
                await self._guard.ping()
        except (PlaywrightError, TimeoutError):
            self._die()

    def _die(self) -> None:
        if not self._is_closing:
            if not self._is_dead:
                _LOG.warning("%s", self._lost)
            self._is_dead = True
            for watchdog in self._watchdogs:
                watchdog.lose(self._lost)

    async def close(self) -> None:
        self._is_closing = True
        await self._guard.close()
        with suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(_CLOSE_S):
                await self._browser.close()


@asynccontextmanager
async def launch(options: BrowserOptions) -> AsyncIterator[Browser]:
    """Start Chromium, and stop it when the block ends."""
    async with AsyncExitStack() as stack:
        await asyncio.to_thread(sweep_folders)
        folder = stack.enter_context(own_folder())
        network = await open_network(options, stack, folder)
        stack.push_async_callback(asyncio.to_thread, remove_profile, folder)
        playwright = await stack.enter_async_context(running_driver())
        browser = await _start(playwright, options, network, folder)
        isolation = browser.not_isolated or "has a network namespace of its own"
        _LOG.info("Chromium %s started: %s", browser.version, isolation)
        stack.push_async_callback(browser.close)
        yield browser


async def _start(
    playwright: Playwright,
    options: BrowserOptions,
    network: Namespace | str,
    folder: Path,
) -> Browser:
    executable, program, arguments = launch_command(playwright, options, network, folder)
    try:
        async with asyncio.timeout(LAUNCH_S):
            browser = await playwright.chromium.launch(
                executable_path=program,
                headless=options.headless,
                args=arguments,
                env={**without_programs(os.environ, folder)},
                # Ctrl-C reaches the driver too, which must not end the browser by itself.
                handle_sigint=False,
            )
            session = await browser.new_browser_cdp_session()
            await note_profile(folder, session)
            build = await build_of(session)
            guard = LiveGuard(session)
    except (PlaywrightError, TimeoutError) as error:
        raise start_error(executable, error, headless=options.headless) from error
    return Browser(browser, guard, network, build, options.kind_of(executable))


async def build_of(session: CDPSession) -> BrowserBuild:
    """Ask a browser what it is."""
    said = await session.send("Browser.getVersion")
    return BrowserBuild(product=said["product"], user_agent=said["userAgent"])
