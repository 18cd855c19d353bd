"""One episode's own Chromium, which an external program drives beside Arena's session.

Playwright starts it and keeps its pipe, as for every browser. The external program speaks to its
debugging port, which listens inside the browser's network namespace: nothing on this machine
reaches it except through sockets that the namespace hands out.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from playwright.async_api import BrowserContext, Playwright
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
from orchestrator.browser.process.launch import ANSWER_S, CRASHED
from orchestrator.browser.process.own_folder import own_folder, sweep_folders
from orchestrator.browser.process.playwright_driver import running_driver
from orchestrator.browser.process.profile import remove_profile
from orchestrator.browser.session.context import SessionOptions, add_cookies, context_arguments
from orchestrator.browser.session.policy import LiveGuard
from orchestrator.browser.session.session import Session, open_session
from orchestrator.browser.tabs.cdp_channel import BrowserWatchdog
from orchestrator.browser.tabs.new_targets import NewTargets

_LOG = logging.getLogger(__name__)
_LOOPBACK: Final = "127.0.0.1"
_PROFILE: Final = "profile"
_TRY_AGAIN_S: Final = 0.02


class ExternalBrowser:
    """One episode's own Chromium, not started yet: its options and its network.

    It starts with its `session`: its proxy is a launch flag, so that every context has it.

    Attributes:
        port: the debugging port inside the namespace.
    """

    def __init__(self, options: BrowserOptions, network: Namespace, folder: Path) -> None:
        self._options = options
        self._network = network
        self._folder = folder
        self.port = 0

    async def listen(self) -> socket.socket:
        """Return a bound loopback socket that this browser reaches, for a gateway to listen on."""
        return await self._network.listen()

    async def socket_inside(self) -> socket.socket:
        return await self._network.connect_socket()

    async def dial(self, port: int | None = None) -> socket.socket:
        """Return a socket connected to a port inside, by default the debugging port."""
        port = port or self.port
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(ANSWER_S):
                while True:
                    made = await self._network.connect_socket()
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
            raise BrowserError(
                f"port {port} of the browser's network does not answer: {error!r}"
            ) from error

    @asynccontextmanager
    async def session(self, options: SessionOptions) -> AsyncIterator[Session]:
        """Start the browser, logged in, and watch its default context until the block ends."""
        with await self._network.listen() as free:
            self.port = free.getsockname()[1]
        async with AsyncExitStack() as stack:
            stack.push_async_callback(asyncio.to_thread, remove_profile, self._folder)
            playwright = await stack.enter_async_context(running_driver())
            context = await self._start(playwright, options)
            browser = context.browser
            if browser is None:
                raise BrowserError(
                    "this Playwright hands out no browser of a persistent context",
                    hint="pip install -U playwright",
                )
            guard = LiveGuard(await browser.new_browser_cdp_session())
            watchdog = BrowserWatchdog(lambda: _prove(guard, watchdog))
            context.on("close", lambda _: watchdog.lose(CRASHED))
            stack.push_async_callback(guard.close)
            _LOG.info("Chromium %s started for an external agent", browser.version)
            (await self.dial()).close()  # the port opens a moment after the pipe
            new_targets = await stack.enter_async_context(
                NewTargets.open(self.port, self.socket_inside, options.selectors)
            )
            shared = (context, new_targets)
            async with open_session(browser, guard, watchdog, options, shared) as session:
                yield session

    async def _start(self, playwright: Playwright, options: SessionOptions) -> BrowserContext:
        executable, program, arguments = launch_command(
            playwright, self._options, self._network, self._folder
        )
        try:
            async with asyncio.timeout(LAUNCH_S):
                context = await playwright.chromium.launch_persistent_context(
                    self._folder / _PROFILE,
                    executable_path=program,
                    headless=self._options.headless,
                    args=[*arguments, f"--remote-debugging-port={self.port}"],
                    env={**without_programs(os.environ, self._folder)},
                    handle_sigint=False,
                    **context_arguments(options),
                )
                await add_cookies(context, options.cookies)
        except (PlaywrightError, TimeoutError) as error:
            raise start_error(executable, error, headless=self._options.headless) from error
        return context


@asynccontextmanager
async def launch_external(options: BrowserOptions) -> AsyncIterator[ExternalBrowser]:
    """Make the network of a browser that an external program may drive, until the block ends."""
    async with AsyncExitStack() as stack:
        await asyncio.to_thread(sweep_folders)
        folder = stack.enter_context(own_folder())
        network = await open_network(options, stack, folder)
        if isinstance(network, str):
            raise BrowserError(
                "a browser that an external agent drives needs a network namespace of its own, and"
                f" there is none: {network}",
                hint="arena doctor says what is missing",
            )
        yield ExternalBrowser(options, network, folder)


async def _prove(guard: LiveGuard, watchdog: BrowserWatchdog) -> None:
    try:
        async with asyncio.timeout(ANSWER_S):
            await guard.ping()
    except (PlaywrightError, TimeoutError):
        watchdog.lose(CRASHED)
