"""The browser context of one episode: its proxy, its logins, and what it looks like to sites."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from playwright.async_api import Browser, BrowserContext

from arena_core.cookie import Cookie
from evaluators.network import Recording

if TYPE_CHECKING:
    from playwright._impl._api_structures import Cookie as BrowserCookie
    from playwright._impl._api_structures import SetCookieParam


DEFAULT_VIEWPORT = (1280, 720)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """What one episode's browser context is like.

    Attributes:
        proxy_url: the gateway; loopback addresses go through it as well. None goes direct, which
            leads nowhere from a browser with a network namespace of its own.
        live_origins: origins that are read-only: no request that may write is sent to them.
        logical: maps a URL to its logical form, None for a URL of no site.
        viewport: width and height in CSS pixels.
        apart: cookies of further contexts, by what their login is called; the session's own context
            is the one that is not named.
        shows_unnamed: observations hold what the page draws or lets be clicked without a name.
        files: what the agent may upload, by name.
        selectors: CSS; how elements acted on fit them is noted.
        records: what is recorded of the requests of its pages; nothing where empty.
        traces: Playwright traces its contexts; see `orchestrator.browser.tracing`.
    """

    proxy_url: str | None
    cookies: Sequence[Cookie] = ()
    live_origins: frozenset[str] = frozenset()
    logical: Callable[[str], str | None] = lambda _: None
    viewport: tuple[int, int] = DEFAULT_VIEWPORT
    locale: str = "en-US"
    timezone: str = "UTC"
    apart: Mapping[str, Sequence[Cookie]] = field(default_factory=dict)
    shows_unnamed: bool = False
    files: Mapping[str, bytes] = field(default_factory=dict)
    selectors: tuple[str, ...] = ()
    records: frozenset[Recording] = frozenset()
    traces: bool = False


async def new_context(browser: Browser, options: SessionOptions) -> BrowserContext:
    """Open a context as the options say; downloads go to a folder of its own that goes with it."""
    context = await browser.new_context(**context_arguments(options))
    await add_cookies(context, options.cookies)
    return context


def context_arguments(options: SessionOptions) -> dict[str, Any]:
    """Return what Playwright makes a context with; the default one of a browser takes the same."""
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
        # Chromium spares loopback from proxies unless told otherwise; the gateway sees everything.
        "proxy": proxy,
    }


async def add_cookies(context: BrowserContext, cookies: Sequence[Cookie]) -> None:
    """Log a context in."""
    await context.add_cookies([_cookie(cookie) for cookie in cookies])


async def id_of(context: BrowserContext) -> str:
    """Return the browser's own id of a context; a page is opened and closed for that."""
    page = await context.new_page()
    channel = await context.new_cdp_session(page)
    info = await channel.send("Target.getTargetInfo")
    await page.close()
    return str(info["targetInfo"]["browserContextId"])


def cookie_of(found: BrowserCookie) -> Cookie:
    """Return a cookie of a context as a login knows it."""
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
