"""The browser contexts of one episode: proxy, logins, locale, and Playwright's traces of them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, cast

from playwright.async_api import Browser, BrowserContext
from playwright.async_api import Error as PlaywrightError

from arena_core.cookie import Cookie
from arena_core.errors import StateError
from evaluators.network import Recording
from orchestrator.browser.session.tape_recorder import TapeRecorder
from orchestrator.browser.tabs.arm_scripts import NO_ARM, ArmScripts
from orchestrator.gateway.live_limits import LiveUse

if TYPE_CHECKING:
    from playwright._impl._api_structures import Cookie as BrowserCookie
    from playwright._impl._api_structures import SetCookieParam, StorageState

    from orchestrator.browser.session.page_state import BrowserState

DEFAULT_VIEWPORT = (1280, 720)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """One episode's browser context.

    Attributes:
        proxy_url: the gateway; loopback addresses go through it as well. None goes direct, which
            leads nowhere from a browser with a network namespace of its own.
        live_origins: read-only origins: no request that may write is sent to them.
        logical: maps a URL to its logical form, None for a URL of no site.
        check_viewport: of pages that are opened for checks; as the agent's if None.
        apart: cookies of further contexts by the name of their login; the session's own context has
            no name.
        shows_unnamed: observations hold what the page draws or lets be clicked without a name.
        files: what the agent may upload, by name.
        selectors: CSS; the evidence notes how elements acted on match them.
        records: what is recorded of the pages' requests; empty for nothing.
        state: what the contexts hold from the first on, in place of `cookies` and those of `apart`;
            `Session.restore` opens its tabs.
        traces: whether Playwright traces the contexts, see `Tracer`.
        arm: what changes the agent's pages as they are shown.
        live: what counts and limits the requests to live hosts.
        recorder: keeps what the contexts get; None where nothing does.
        hides_cookies: recorded requests hold the value of no cookie.
    """

    proxy_url: str | None
    cookies: Sequence[Cookie] = ()
    live_origins: frozenset[str] = frozenset()
    logical: Callable[[str], str | None] = lambda _: None
    viewport: tuple[int, int] = DEFAULT_VIEWPORT
    check_viewport: tuple[int, int] | None = None
    locale: str = "en-US"
    timezone: str = "UTC"
    apart: Mapping[str, Sequence[Cookie]] = field(default_factory=dict)
    shows_unnamed: bool = False
    files: Mapping[str, bytes] = field(default_factory=dict)
    selectors: tuple[str, ...] = ()
    records: frozenset[Recording] = frozenset()
    traces: bool = False
    state: BrowserState | None = None
    arm: ArmScripts = NO_ARM
    recorder: TapeRecorder | None = None
    live: LiveUse = field(default_factory=LiveUse)
    hides_cookies: bool = False

    @property
    def other_window(self) -> tuple[int, int] | None:
        """The size that a page for checks is given; None where it has that already."""
        return None if self.check_viewport == self.viewport else self.check_viewport


async def new_context(browser: Browser, options: SessionOptions, login: str = "") -> BrowserContext:
    """Open a login's context with these options; its downloads go to a folder that it removes."""
    context = await _made(browser, options, login)
    if options.recorder is not None:
        options.recorder.follow(context)
    return context


async def _made(browser: Browser, options: SessionOptions, login: str) -> BrowserContext:
    arguments = context_arguments(options)
    if options.state is not None:
        cookies, origins = options.state.cookies[login], options.state.storage.get(login, ())
        kept = cast("StorageState", {"cookies": [*cookies], "origins": [*origins]})
        return await browser.new_context(**arguments, storage_state=kept)
    context = await browser.new_context(**arguments)
    await add_cookies(context, options.cookies)
    return context


async def open_contexts(
    browser: Browser, options: SessionOptions, shared: BrowserContext | None
) -> dict[str, BrowserContext]:
    """Open the contexts of all logins; the first has no name, and is `shared` if there is one."""
    if options.state is not None and shared is not None:
        raise StateError("a state cannot be restored where an external program drives the pages")
    contexts = {"": shared or await new_context(browser, options)}
    apart = options.apart
    if options.state is not None:
        apart = {login: () for login in options.state.cookies if login}
    try:
        for login, cookies in apart.items():
            contexts[login] = await new_context(browser, replace(options, cookies=cookies), login)
    except BaseException:
        for context in contexts.values():
            await context.close()
        raise
    return contexts


def context_arguments(options: SessionOptions) -> dict[str, Any]:
    """Return Playwright's arguments for a context, a new one or a browser's default one."""
    width, height = options.viewport
    proxy = {"server": options.proxy_url, "bypass": "<-loopback>"} if options.proxy_url else None
    return {
        "viewport": {"width": width, "height": height},
        "device_scale_factor": 1,
        "locale": options.locale,
        "timezone_id": options.timezone,
        "service_workers": "block",
        "accept_downloads": True,
        "reduced_motion": "reduce",
        # By default Chromium bypasses proxies for loopback; the gateway must see everything.
        "proxy": proxy,
    }


async def add_cookies(context: BrowserContext, cookies: Sequence[Cookie]) -> None:
    await context.add_cookies([_cookie(cookie) for cookie in cookies])


async def context_id(context: BrowserContext) -> str:
    """Return the browser's own id of a context, by opening and closing a page in it."""
    page = await context.new_page()
    channel = await context.new_cdp_session(page)
    info = await channel.send("Target.getTargetInfo")
    await page.close()
    return str(info["targetInfo"]["browserContextId"])


def cookie_of(found: BrowserCookie) -> Cookie:
    expires = found.get("expires", -1)
    return Cookie(
        name=found["name"],
        value=found["value"],
        domain=found["domain"],
        path=found["path"],
        secure=found["secure"],
        http_only=found["httpOnly"],
        expires=expires if expires >= 0 else None,
    )


def _cookie(cookie: Cookie) -> SetCookieParam:
    made: SetCookieParam = {
        "name": cookie.name,
        "value": cookie.value,
        "domain": cookie.domain,
        "path": cookie.path,
        "secure": cookie.secure,
        "httpOnly": cookie.http_only,
    }
    if cookie.expires is not None:
        made["expires"] = cookie.expires
    return made


_LOG: Final = logging.getLogger(__name__)
_STOP_S: Final = 30.0
TRACE_FILE: Final = "trace.zip"


class Tracer:
    """Playwright's own traces of a session: pictures, and a group for each step.

    DOM snapshots are left out. They put a script of Playwright's into the page's own world, with a
    name in `window` that the page can read and wrappers around what it may call: the page that is
    measured would be another one. They also hold cookies and bodies in the clear. Without them
    nothing is in the page, and the trace's network part is empty.
    """

    def __init__(self, contexts: Mapping[str, BrowserContext]) -> None:
        self._contexts = tuple(contexts.values())
        self._is_running = False
        self._in_group = False

    async def start(self) -> None:
        for context in self._contexts:
            await context.tracing.start(screenshots=True, snapshots=False, sources=False)
        self._is_running = True

    async def begin(self, what: str) -> None:
        """Start a group with this title."""
        if not self._is_running:
            return
        for context in self._contexts:
            if self._in_group:
                await context.tracing.group_end()
            await context.tracing.group(what)
        self._in_group = True

    async def stop(self) -> Mapping[str, bytes]:
        """Stop, and return the traces by file name: `trace.zip`, of further contexts `trace-2.zip`.

        If the browser crashed its trace is missing, and the log says so. A second call returns
        nothing.
        """
        if not self._is_running:
            return {}
        self._is_running = False
        found: dict[str, bytes] = {}
        with TemporaryDirectory(prefix="arena-trace-") as folder:
            for number, context in enumerate(self._contexts, start=1):
                path = Path(folder) / (TRACE_FILE if number == 1 else f"trace-{number}.zip")
                try:
                    async with asyncio.timeout(_STOP_S):
                        await context.tracing.stop(path=path)
                except (PlaywrightError, TimeoutError) as error:
                    why = str(error).partition("\n")[0] or f"no answer within {_STOP_S:g} s"
                    _LOG.warning("no %s: %s", path.name, why)
                    continue
                with suppress(FileNotFoundError):  # the browser was gone before
                    found[path.name] = path.read_bytes()
        return found
