"""Opening a session: its contexts, its first tab, the policy that it is under; and its end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

from playwright.async_api import Browser as PlaywrightBrowser
from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from orchestrator.browser.cdp_channel import BrowserWatchdog
from orchestrator.browser.context import SessionOptions, new_context
from orchestrator.browser.held_targets import HeldTargets
from orchestrator.browser.journal import SessionJournal
from orchestrator.browser.policy import REFUSAL, LiveGuard, Watched, origin_of
from orchestrator.browser.session import Session
from orchestrator.browser.uploads import UploadFiles

_OPEN_S = 90.0


@asynccontextmanager
async def open_session(
    browser: PlaywrightBrowser,
    guard: LiveGuard,
    watchdog: BrowserWatchdog,
    options: SessionOptions,
    shared: tuple[BrowserContext, HeldTargets] | None = None,
) -> AsyncIterator[Session]:
    """Open a context with one blank tab, and those of further logins; close them at the end.

    Args:
        browser: where the contexts are opened.
        guard: of the browser.
        watchdog: of the session.
        options: what the contexts are like.
        shared: the context that is used instead of a new one, with another program that acts in it,
            and what holds its new pages until the watcher is in them.

    Raises:
        BrowserError: the browser does not answer.
    """
    async with watchdog.bounded("open a browser context", _OPEN_S):
        contexts = await _contexts(browser, options, shared[0] if shared else None)
    journal = SessionJournal(options.logical)
    session = Session(
        contexts,
        watchdog,
        journal,
        UploadFiles(options.files),
        viewport=options.viewport,
        shows_unnamed=options.shows_unnamed,
        held=shared[1] if shared else None,
        records=options.records,
        traces=options.traces,
        selectors=options.selectors,
    )
    try:
        async with watchdog.bounded("open a browser context", _OPEN_S):
            watched = Watched(
                contexts=await session.start(),
                origins=frozenset(origin_of(url) for url in options.live_origins),
                owns=session.owns,
                refused=lambda method, url: journal.refuse(method, url, REFUSAL),
            )
            await guard.add(watched)
        try:
            yield session
        finally:
            with suppress(PlaywrightError):
                await guard.remove(watched)
    finally:
        await session.close()


async def _contexts(
    browser: PlaywrightBrowser, options: SessionOptions, shared: BrowserContext | None
) -> dict[str, BrowserContext]:
    contexts = {"": shared or await new_context(browser, options)}
    try:
        for login, cookies in options.apart.items():
            contexts[login] = await new_context(browser, replace(options, cookies=cookies))
    except BaseException:
        for context in contexts.values():
            await context.close()
        raise
    return contexts
