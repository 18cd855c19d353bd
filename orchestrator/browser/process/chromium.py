"""Which Chromium is started and how; and a window of it for a person."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from playwright.async_api import Playwright

from arena_core.errors import BrowserError, BrowserMissingError
from orchestrator.browser.process.isolation import (
    Namespace,
    NoNamespaceError,
    browser_program,
    end,
    unreachable_display,
)
from orchestrator.browser.process.kinds import BrowserKind, RemoteAddress

VARIABLE = "ARENA_CHROMIUM"
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# The same engine without windows: pages load in two thirds of the time.
_SHELL = "chromium-headless-shell"
_SHELL_NAMES = frozenset({_SHELL, "headless_shell", "headless-shell", "chrome-headless-shell"})
LAUNCH_S = 60.0
_ARGUMENTS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Otherwise the headless shell rounds the width of each letter, and lines break elsewhere.
    "--font-render-hinting=none",
    # The full browser guesses how fast the network is, and of a fast one loads fewer of the images
    # below the window (`loading=lazy`); the headless shell guesses nothing.
    "--force-effective-connection-type=Unknown",
    # Frames of other origins stay in their page's process, where one wire sees and reaches them.
    "--disable-site-isolation-trials",
    # The gateway looks names up. A lookup by the browser itself could leave a namespace too: some
    # name services are asked over Unix sockets.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)
# Without a namespace these keep UDP in: the full browser's name and the headless shell's. A page
# can tell, so they are used only there.
_WITHOUT_NAMESPACE = (
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)
_NONE_BUNDLED: Final = Path("/nonexistent")


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserOptions:
    """How to start the browser.

    Attributes:
        executable: None finds one, see `find_chromium`.
        full: start the full browser without a window too, and not the headless shell: real sites
            are visited with what people have.
        only_shell: start nothing in the headless shell's place where there is none.
        trusted_spki: base64 SHA-256 of one public key whose certificates are accepted: that of the
            demo's own CA. Every other certificate is checked as usual.
        isolated: start it in a network namespace of its own, where that is possible.
        remote: start none, and connect to the one there.
        profile: of that one, sessions begin with what cookies its profile has for their sites.
    """

    executable: Path | None = None
    headless: bool = True
    full: bool = False
    only_shell: bool = False
    trusted_spki: str | None = None
    isolated: bool = True
    remote: RemoteAddress | None = None
    profile: bool = False

    def kind_of(self, executable: Path) -> BrowserKind:
        """Return what is started, where that is the browser that was found."""
        if not self.headless:
            return BrowserKind.HEADED
        return BrowserKind.SHELL if is_shell(executable) else BrowserKind.CHROMIUM


def find_chromium(
    named: Path | None,
    environment: Mapping[str, str],
    bundled: Path,
    which: Callable[[str], str | None] = shutil.which,
    *,
    shell_first: bool = False,
) -> Path:
    """Find Chromium: the one named, `ARENA_CHROMIUM`, Playwright's own, then by name on PATH.

    With `shell_first`, Debian's headless shell, if installed, comes before Playwright's own.
    """
    wished = named or (Path(environment[VARIABLE]) if environment.get(VARIABLE) else None)
    if wished is not None:
        if wished.is_file():
            return wished
        raise BrowserMissingError(
            f"there is no browser at {wished}",
            hint=f"name an installed Chromium, or unset {VARIABLE}",
        )
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


def has_display(environment: Mapping[str, str]) -> bool:
    return bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


def require_display(environment: Mapping[str, str]) -> None:
    if not has_display(environment):
        raise BrowserError(
            "the browser cannot be shown: neither DISPLAY nor WAYLAND_DISPLAY names a display",
            hint="run without --headed, choose another --browser, or run under xvfb-run",
        )


def is_shell(executable: Path) -> bool:
    return executable.name in _SHELL_NAMES or executable.resolve().name in _SHELL_NAMES


async def open_network(
    options: BrowserOptions, stack: AsyncExitStack, folder: Path
) -> Namespace | str:
    """Make the browser's namespace, or return why there is none."""
    if not options.isolated:
        return "isolation is switched off"
    if not options.headless and (why := unreachable_display(os.environ)):
        return why
    try:
        return await stack.enter_async_context(Namespace.open(folder))
    except NoNamespaceError as error:
        return str(error)


def launch_command(
    playwright: Playwright, options: BrowserOptions, network: Namespace | str, folder: Path
) -> tuple[Path, Path, list[str]]:
    """Return the browser found, the program that starts it, and its arguments."""
    bundled = Path(playwright.chromium.executable_path)
    wants_shell = options.headless and not options.full
    executable = find_chromium(options.executable, os.environ, bundled, shell_first=wants_shell)
    if not options.headless:
        require_display(os.environ)
    if options.only_shell and not is_shell(executable):
        message = f"--browser headless-shell: there is none, only {executable}"
        raise BrowserMissingError(message, hint="apt-get install chromium-headless-shell")
    if not wants_shell and is_shell(executable):
        what = "shows no window" if not options.headless else "is not what people visit sites with"
        raise BrowserError(
            f"{executable} is a headless shell, which {what}",
            hint=f"install the full browser, or unset {VARIABLE}",
        )
    arguments = list(_ARGUMENTS)
    if options.trusted_spki is not None:
        arguments.append(f"--ignore-certificate-errors-spki-list={options.trusted_spki}")
    if isinstance(network, str):
        arguments += _WITHOUT_NAMESPACE
    return executable, browser_program(executable, network, folder), arguments


def start_error(executable: Path, error: Exception, *, headless: bool) -> BrowserError:
    reason = str(error).partition("\n")[0] or f"no answer within {LAUNCH_S:.0f} s"
    message = f"{executable} does not start: {reason}"
    hint = "choose another --browser, or check that other programs can open a window here"
    if headless:
        hint = f"run it once by hand: {executable} --headless about:blank"
    return BrowserError(message, hint=hint)


@asynccontextmanager
async def open_window(proxy_url: str, page: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Open a window on a page; the block's end closes it and removes its profile."""
    chromium = find_chromium(None, os.environ, _NONE_BUNDLED)
    with TemporaryDirectory(prefix="arena-browse-", ignore_cleanup_errors=True) as profile:
        process = await asyncio.create_subprocess_exec(
            str(chromium),
            f"--user-data-dir={profile}",
            f"--proxy-server={proxy_url}",
            "--proxy-bypass-list=<-loopback>",
            "--no-first-run",
            "--no-default-browser-check",
            "--disable-background-networking",
            *(["--no-sandbox"] if os.geteuid() == 0 else []),  # Chromium refuses root otherwise
            page,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the command, which then closes the window
        )
        try:
            yield process
        finally:
            if process.returncode is None:
                process.terminate()
            await end(process)
