"""Finding and starting Chromium: one browser for a run, one session for an episode."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.async_api import Browser as PlaywrightBrowser
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Playwright, async_playwright

from arena_core.errors import BrowserError, BrowserMissingError
from orchestrator.browser.cdp_channel import BrowserWatchdog
from orchestrator.browser.context import SessionOptions
from orchestrator.browser.namespace import Namespace, NoNamespaceError, unreachable_display
from orchestrator.browser.open_session import open_session
from orchestrator.browser.policy import LiveGuard
from orchestrator.browser.programs import closed_in
from orchestrator.browser.session import Session

_LOG = logging.getLogger(__name__)

VARIABLE = "ARENA_CHROMIUM"
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# The same engine without what draws windows: pages come up in two thirds of the time.
_SHELL = "chromium-headless-shell"
_SHELL_NAMES = frozenset({_SHELL, "headless_shell", "headless-shell", "chrome-headless-shell"})
LAUNCH_S = 60.0
_CLOSE_S = 10.0
ANSWER_S = 5.0
CRASHED = "the browser or its driver crashed"
_ARGUMENTS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # The headless shell would round the width of each letter, so that lines break elsewhere.
    "--font-render-hinting=none",
    # Frames of other origins stay in their page's process, where one wire sees and reaches them.
    "--disable-site-isolation-trials",
    # The gateway looks names up. A lookup by the browser itself could leave a namespace too: some
    # name services are asked over Unix sockets.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)
# What keeps UDP in where no namespace does: the name that the full browser knows and that of the
# headless shell. A page can tell, so nowhere else.
_WITHOUT_NAMESPACE = (
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)
_LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserOptions:
    """How to start the browser.

    Attributes:
        executable: which Chromium; found where None.
        full: start the full browser without a window too, and not the headless shell: real sites
            are visited with what people have.
        trusted_spki: base64 SHA-256 of one public key whose certificates are accepted: that of the
            demo's own CA. Every other certificate is checked as ever.
        isolated: start it in a network namespace of its own, wherever there can be one.
    """

    executable: Path | None = None
    headless: bool = True
    full: bool = False
    trusted_spki: str | None = None
    isolated: bool = True


def find_chromium(
    named: Path | None,
    environment: Mapping[str, str],
    bundled: Path,
    which: Callable[[str], str | None] = shutil.which,
    *,
    shell_first: bool = False,
) -> Path:
    """Find Chromium: the one named, `ARENA_CHROMIUM`, Playwright's own, then by name on PATH.

    With `shell_first`, Debian's headless shell comes before Playwright's own, where it is there.

    Raises:
        BrowserMissingError: with the command that mends it.
    """
    wished = named or (Path(environment[VARIABLE]) if environment.get(VARIABLE) else None)
    if wished is not None:
        if wished.is_file():
            return wished
        message = f"there is no browser at {wished}"
        raise BrowserMissingError(message, hint=f"name an installed Chromium, or unset {VARIABLE}")
    if shell_first and (found := which(_SHELL)):
        return Path(found)
    if bundled.is_file():
        return bundled
    for name in _NAMES:
        if found := which(name):
            return Path(found)
    message = f"no Chromium: neither Playwright's own nor any of {', '.join(_NAMES)} on PATH"
    hint = "apt-get install chromium, or: python -m playwright install chromium"
    raise BrowserMissingError(message, hint=hint)


def require_display(environment: Mapping[str, str]) -> None:
    """Refuse to show a browser where there is nothing to show it on.

    Raises:
        BrowserError: neither an X nor a Wayland display is named.
    """
    if not (environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")):
        message = "the browser cannot be shown: neither DISPLAY nor WAYLAND_DISPLAY names a display"
        raise BrowserError(message, hint="leave --headed away, or run it under xvfb-run")


def is_shell(executable: Path) -> bool:
    """Whether a program is Chromium's headless shell, by its name."""
    return executable.name in _SHELL_NAMES or executable.resolve().name in _SHELL_NAMES


class Browser:
    """A running Chromium.

    Attributes:
        version: such as `131.0.6778.85`; the headless shell's has `(headless shell)` after it.
        not_isolated: why it has no network namespace of its own; empty where it has one.
    """

    def __init__(
        self,
        browser: PlaywrightBrowser,
        guard: LiveGuard,
        network: Namespace | str,
        *,
        shell: bool = False,
    ) -> None:
        self._browser = browser
        self._guard = guard
        self._namespace = None if isinstance(network, str) else network
        self.not_isolated = network if isinstance(network, str) else ""
        self._watchdogs: set[BrowserWatchdog] = set()
        self._is_closing = False
        self._is_dead = False
        self.version = f"{browser.version} (headless shell)" if shell else browser.version
        browser.on("disconnected", lambda _: self._die())

    @property
    def is_alive(self) -> bool:
        """Whether the browser still answers; a crashed one does not come back."""
        return self._browser.is_connected() and not self._is_dead

    async def listen(self) -> socket.socket:
        """Return a socket on loopback that this browser reaches; a gateway is to listen on it.

        Raises:
            BrowserError: the browser's network namespace is gone.
        """
        if self._namespace is not None:
            return await self._namespace.listen()
        listener = socket.socket()
        listener.bind((_LOOPBACK, 0))
        return listener

    @asynccontextmanager
    async def session(self, options: SessionOptions) -> AsyncIterator[Session]:
        """Open a context of its own for one episode, and close it with all its tabs at the end.

        Raises:
            BrowserError: the browser is gone or does not answer.
        """
        watchdog = BrowserWatchdog(self._prove)
        self._watchdogs.add(watchdog)
        if not self.is_alive:
            watchdog.lose(CRASHED)
        try:
            async with open_session(self._browser, self._guard, watchdog, options) as session:
                yield session
        finally:
            self._watchdogs.discard(watchdog)

    async def _prove(self) -> None:
        """Ask the browser whether it lives; its driver's death makes no event."""
        try:
            async with asyncio.timeout(ANSWER_S):
                await self._guard.ping()
        except (PlaywrightError, TimeoutError):
            self._die()

    def _die(self) -> None:
        if not self._is_closing:
            if not self._is_dead:
                _LOG.warning("the browser crashed")
            self._is_dead = True
            for watchdog in self._watchdogs:
                watchdog.lose(CRASHED)

    async def close(self) -> None:
        """Stop the browser."""
        self._is_closing = True
        await self._guard.close()
        with suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(_CLOSE_S):
                await self._browser.close()


@asynccontextmanager
async def launch(options: BrowserOptions) -> AsyncIterator[Browser]:
    """Start Chromium, and stop it at the end.

    Raises:
        BrowserMissingError: none is installed.
        BrowserError: it does not start.
    """
    async with AsyncExitStack() as stack:
        made = stack.enter_context(TemporaryDirectory(prefix="arena-browser-"))
        folder = Path(made)
        network = await network_for(options, stack, folder)
        playwright = await async_playwright().start()
        stack.push_async_callback(stop_driver, playwright)
        browser = await _start(playwright, options, network, folder)
        isolation = browser.not_isolated or "has a network namespace of its own"
        _LOG.info("Chromium %s started: %s", browser.version, isolation)
        stack.push_async_callback(browser.close)
        yield browser


async def network_for(
    options: BrowserOptions, stack: AsyncExitStack, folder: Path
) -> Namespace | str:
    """Make the browser's namespace, or say why there is none."""
    if not options.isolated:
        return "that was asked for"
    if not options.headless and (why := unreachable_display(os.environ)):
        return why
    try:
        return await stack.enter_async_context(Namespace.open(folder))
    except NoNamespaceError as error:
        return str(error)


async def stop_driver(playwright: Playwright) -> None:
    """End Playwright's driver; safe where it is gone."""
    with suppress(PlaywrightError, TimeoutError):
        async with asyncio.timeout(_CLOSE_S):
            await playwright.stop()


def how_to_start(
    playwright: Playwright, options: BrowserOptions, network: Namespace | str
) -> tuple[Path, Path, list[str]]:
    """Return the browser that was found, the program that starts it, and with which arguments.

    Raises:
        BrowserMissingError: none is installed.
        BrowserError: it is to be shown, and there is no display.
    """
    bundled = Path(playwright.chromium.executable_path)
    wants_shell = options.headless and not options.full
    executable = find_chromium(options.executable, os.environ, bundled, shell_first=wants_shell)
    if not options.headless:
        require_display(os.environ)
    if not wants_shell and is_shell(executable):
        what = "shows no window" if not options.headless else "is not what people visit sites with"
        message = f"{executable} is a headless shell, which {what}"
        raise BrowserError(message, hint=f"install the full browser, or unset {VARIABLE}")
    arguments = list(_ARGUMENTS)
    if options.trusted_spki is not None:
        arguments.append(f"--ignore-certificate-errors-spki-list={options.trusted_spki}")
    if isinstance(network, str):
        arguments += _WITHOUT_NAMESPACE
        program = executable
    else:
        program = network.way_in(executable)
    return executable, program, arguments


def failed_start(executable: Path, error: Exception, *, headless: bool) -> BrowserError:
    """Return the error of a browser that does not start."""
    reason = str(error).partition("\n")[0] or f"no answer within {LAUNCH_S:.0f} s"
    message = f"{executable} does not start: {reason}"
    hint = "leave --headed away, or look whether other programs can open a window here"
    if headless:
        hint = f"run it once by hand: {executable} --headless about:blank"
    return BrowserError(message, hint=hint)


async def _start(
    playwright: Playwright, options: BrowserOptions, network: Namespace | str, folder: Path
) -> Browser:
    executable, program, arguments = how_to_start(playwright, options, network)
    try:
        async with asyncio.timeout(LAUNCH_S):
            browser = await playwright.chromium.launch(
                executable_path=program,
                headless=options.headless,
                args=arguments,
                env={**closed_in(os.environ, folder)},
                # Ctrl-C reaches the driver too; whether the browser ends then is not its decision.
                handle_sigint=False,
            )
            guard = LiveGuard(await browser.new_browser_cdp_session())
    except (PlaywrightError, TimeoutError) as error:
        raise failed_start(executable, error, headless=options.headless) from error
    return Browser(browser, guard, network, shell=is_shell(executable))
