"""One page's line to the browser: CDP calls with a deadline, and errors that say who is gone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from sites.errors import BrowserError

CALL_S = 15.0

Reply = dict[str, Any]  # a CDP message as it came: its shape is the protocol's, read at one place


class PageGoneError(Exception):
    """The page that was spoken to has closed; the browser lives."""


class RefusedError(Exception):
    """The browser refused a call: what it names does not exist, or no more."""


class Lifeline:
    """Turns the loss of the browser into a BrowserError of everything that waits for it."""

    def __init__(self) -> None:
        self._lost: str | None = None
        self._scopes: set[asyncio.Timeout] = set()

    @property
    def is_lost(self) -> bool:
        """Whether the browser is gone or a page of it crashed."""
        return self._lost is not None

    def lose(self, why: str) -> None:
        """Make every operation under way, and every later one, raise BrowserError."""
        if self._lost is None:
            self._lost = why
            now = asyncio.get_running_loop().time()
            for scope in self._scopes:
                scope.reschedule(now)

    @asynccontextmanager
    async def bounded(self, doing: str, seconds: float) -> AsyncIterator[None]:
        """Run a block with a deadline, and break it off when the browser is lost.

        Raises:
            BrowserError: on either, and on errors of the browser that nothing inside expected.
        """
        self._check(doing)
        scope = asyncio.timeout(seconds)
        try:
            async with scope:
                self._scopes.add(scope)
                yield
        except TimeoutError as error:
            self._check(doing)
            message = f"the browser did not answer within {seconds:.0f} s: {doing}"
            raise BrowserError(message) from error
        except (PlaywrightError, PageGoneError, RefusedError) as error:
            self._check(doing)
            message = f"the browser broke off: {doing}: {_first_line(error)}"
            raise BrowserError(message) from error
        finally:
            self._scopes.discard(scope)

    def _check(self, doing: str) -> None:
        if self._lost is not None:
            message = f"{self._lost}; it was to: {doing}"
            raise BrowserError(message)


class Wire:
    """The CDP session of one page."""

    def __init__(self, session: CDPSession) -> None:
        self._session = session

    def on(self, event: str, handle: Callable[[Reply], None]) -> None:
        """Call `handle` with the parameters of each such event, in the order they happened."""
        self._session.on(event, handle)

    async def send(
        self, method: str, params: Mapping[str, object] | None = None, *, within_s: float = CALL_S
    ) -> Reply:
        """Call a method of the protocol.

        Raises:
            RefusedError: the browser says no, for instance because a node is gone.
            PageGoneError: the page has closed.
            BrowserError: no answer within the deadline.
        """
        try:
            async with asyncio.timeout(within_s):
                reply: Reply = await self._session.send(method, dict(params or {}))
                return reply
        except TimeoutError as error:
            message = f"the browser did not answer {method} within {within_s:.0f} s"
            raise BrowserError(message) from error
        except PlaywrightError as error:
            text = _first_line(error)
            if "Protocol error" in text and "Target closed" not in text:
                raise RefusedError(text) from error
            raise PageGoneError(text) from error


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
