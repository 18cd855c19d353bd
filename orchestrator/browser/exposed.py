"""A Chromium of one episode's own, which an outside program drives beside Arena's session.

Playwright starts it and keeps its pipe, as for every browser. What the outside program speaks to is
the same browser's debugging port: it listens inside the browser's network namespace, where nothing
on this machine reaches it but through sockets that the namespace hands out.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from playwright.async_api import BrowserContext, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from arena_core.errors import BrowserError
from orchestrator.browser.cdp_channel import BrowserWatchdog
from orchestrator.browser.context import SessionOptions, add_cookies, context_arguments
from orchestrator.browser.held_targets import HeldTargets
from orchestrator.browser.launch import (
    ANSWER_S,
    CRASHED,
    LAUNCH_S,
    BrowserOptions,
    failed_start,
    how_to_start,
    network_for,
    stop_driver,
)
from orchestrator.browser.namespace import Namespace
from orchestrator.browser.open_session import open_session
from orchestrator.browser.policy import LiveGuard
from orchestrator.browser.programs import closed_in
from orchestrator.browser.session import Session

_LOG = logging.getLogger(__name__)
_LOOPBACK: Final = "127.0.0.1"
_TRY_AGAIN_S: Final = 0.02


class ExposedBrowser:
    """What one episode's Chromium is started from: its options, and the network that is its own.

    It starts with its `session`: its proxy is a launch flag, so that every context has it.
    """

    def __init__(self, options: BrowserOptions, network: Namespace, folder: Path) -> None:
        self._options = options
        self._network = network
        self._folder = folder
        self._port = 0

    @property
    def port(self) -> int:
        """The debugging port inside the namespace."""
        return self._port

    async def listen(self) -> socket.socket:
        """Return a socket on loopback that this browser reaches; a gateway is to listen on it.

        Raises:
            BrowserError: the browser's network namespace is gone.
        """
        return await self._network.listen()

    async def socket_inside(self) -> socket.socket:
        """Return a fresh socket of the browser's network.

        Raises:
            BrowserError: the browser's network namespace is gone.
        """
        return await self._network.connecting()

    async def dial(self, port: int | None = None) -> socket.socket:
        """Return a socket that is connected to a port inside; to the debugging port where omitted.

        Raises:
            BrowserError: nothing answers there.
        """
        port = port or self._port
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(ANSWER_S):
                while True:
                    made = await self._network.connecting()
                    made.settimeout(0)
                    try:
                        await loop.sock_connect(made, (_LOOPBACK, port))
                    except ConnectionRefusedError:
                        made.close()  # the browser opens the port a moment after its pipe
                        await asyncio.sleep(_TRY_AGAIN_S)
                    except BaseException:
                        made.close()
                        raise
                    else:
                        return made
        except (OSError, TimeoutError) as error:
            message = f"nothing answers at port {port} of the browser's network: {error!r}"
            raise BrowserError(message) from error

    @asynccontextmanager
    async def session(self, options: SessionOptions) -> AsyncIterator[Session]:
        """Start the browser, logged in, and watch its default context; both end with the block.

        Raises:
            BrowserMissingError: none is installed.
            BrowserError: it does not start or does not answer.
        """
        with await self._network.listen() as free:
            self._port = free.getsockname()[1]
        async with AsyncExitStack() as stack:
            playwright = await async_playwright().start()
            stack.push_async_callback(stop_driver, playwright)
            context = await self._start(playwright, options)
            browser = context.browser
            if browser is None:
                message = "this Playwright hands out no browser of a persistent context"
                raise BrowserError(message, hint="pip install -U playwright")
            guard = LiveGuard(await browser.new_browser_cdp_session())
            watchdog = BrowserWatchdog(lambda: _prove(guard, watchdog))
            context.on("close", lambda _: watchdog.lose(CRASHED))
            stack.push_async_callback(guard.close)
            _LOG.info("Chromium %s started for an outside agent", browser.version)
            (await self.dial()).close()  # the port opens a moment after the pipe
            held = await stack.enter_async_context(
                HeldTargets.open(self._port, self.socket_inside, options.selectors)
            )
            shared = (context, held)
            async with open_session(browser, guard, watchdog, options, shared) as session:
                yield session

    async def _start(self, playwright: Playwright, options: SessionOptions) -> BrowserContext:
        executable, program, arguments = how_to_start(playwright, self._options, self._network)
        try:
            async with asyncio.timeout(LAUNCH_S):
                context = await playwright.chromium.launch_persistent_context(
                    self._folder / "profile",
                    executable_path=program,
                    headless=self._options.headless,
                    args=[*arguments, f"--remote-debugging-port={self._port}"],
                    env={**closed_in(os.environ, self._folder)},
                    handle_sigint=False,
                    **context_arguments(options),
                )
                await add_cookies(context, options.cookies)
        except (PlaywrightError, TimeoutError) as error:
            raise failed_start(executable, error, headless=self._options.headless) from error
        return context


@asynccontextmanager
async def expose(options: BrowserOptions) -> AsyncIterator[ExposedBrowser]:
    """Make the network of a browser that an outside program may drive; all ends with the block.

    Raises:
        BrowserError: there can be no network namespace here: whatever runs on this machine would
            reach the browser past the front that guards it.
    """
    async with AsyncExitStack() as stack:
        made = stack.enter_context(TemporaryDirectory(prefix="arena-browser-"))
        folder = Path(made)
        network = await network_for(options, stack, folder)
        if isinstance(network, str):
            message = (
                "a browser that an outside agent drives needs a network namespace of its own, and"
                f" there is none: {network}"
            )
            raise BrowserError(message, hint="arena doctor says what is missing")
        yield ExposedBrowser(options, network, folder)


async def _prove(guard: LiveGuard, watchdog: BrowserWatchdog) -> None:
    try:
        async with asyncio.timeout(ANSWER_S):
            await guard.ping()
    except (PlaywrightError, TimeoutError):
        watchdog.lose(CRASHED)
