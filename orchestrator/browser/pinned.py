"""One document of a tab, and the way into its own world: for what a page itself must be asked."""

from __future__ import annotations

from functools import partial

from orchestrator.browser.cdp_channel import BrowserWatchdog, PageGoneError, RefusedError, Reply
from orchestrator.browser.tabbar import TabBar
from orchestrator.browser.tabs import OpenTab

_CALL_S = 30.0


class PinnedDocument:
    """The document that a tab held when it was pinned, however its tab fares afterwards.

    Agents have no way here: only the orchestrator calls functions in a page's own world, where its
    variables are.
    """

    def __init__(self, tab: OpenTab, bar: TabBar, handle: str, watchdog: BrowserWatchdog) -> None:
        self._tab = tab
        self._bar = bar
        self._handle = handle
        self._watchdog = watchdog

    async def call(self, function: str, *arguments: object) -> Reply | None:
        """Call a function among the page's own variables; a promise is awaited.

        Args:
            function: a function expression of JavaScript.
            arguments: by JSON.

        Returns:
            What it returned, by JSON; None where the document is gone: left, reloaded or closed,
            or broken by an outside program.

        Raises:
            BrowserError: the function threw, or the browser does not answer.
        """
        async with self._watchdog.bounded("ask the page", _CALL_S):
            return await self._bar.ask(
                self._tab, partial(self._called, function, arguments), nothing=None
            )

    async def _called(self, function: str, arguments: tuple[object, ...]) -> Reply | None:
        try:
            reply = await self._tab.frames.call(self._handle, function, *arguments)
        except PageGoneError:
            return None
        except RefusedError:
            if await self._is_gone():
                return None
            raise
        value: Reply = reply["value"]
        return value

    async def _is_gone(self) -> bool:
        try:
            await self._tab.frames.call(self._handle, "function () { return true; }")
        except (PageGoneError, RefusedError):
            return True
        return False


async def pin(tab: OpenTab, bar: TabBar, watchdog: BrowserWatchdog) -> PinnedDocument:
    """Pin the document that a tab holds now.

    Raises:
        RefusedError, PageGoneError: it went away meanwhile.
    """
    # Without a context the expression is evaluated in the page's own world.
    reply = await tab.channel.send("Runtime.evaluate", {"expression": "document"})
    return PinnedDocument(tab, bar, reply["result"]["objectId"], watchdog)
