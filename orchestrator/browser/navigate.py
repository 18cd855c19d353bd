"""Going places in one tab: addresses, history, scrolling."""

from __future__ import annotations

import asyncio
from typing import Final
from urllib.parse import urlsplit

from arena_core.actions import ScrollDirection
from orchestrator.browser.cdp_channel import RefusedError, Reply
from orchestrator.browser.pointer import NotDoneError, PointerTarget
from orchestrator.browser.settle import NETWORK_CHANGED
from orchestrator.browser.tabs import OpenTab

NAVIGATION_S = 30.0
_TRIES = 3
BLANK = "about:blank"
_ABORTED = "net::ERR_ABORTED"  # an answer that shows nothing: 204, or a file


def demand_web_address(url: str) -> None:
    """Return where a URL is one that agents may open.

    Raises:
        NotDoneError: neither http, https nor about:blank.
    """
    if url == BLANK:
        return
    try:
        parts = urlsplit(url)
        is_web = parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        is_web = False
    if not is_web:
        message = f"'{url}' is not a web address; those start with http:// or https://"
        raise NotDoneError(message)


async def goto(tab: OpenTab, url: str) -> None:
    """Open a URL; returns when its document has arrived, not when it is complete.

    An answer with an error status is a page like any other and is shown. Where the machine's own
    network changed meanwhile, it is asked for again.

    Raises:
        NotDoneError: not a web address, or nothing came from there.
    """
    demand_web_address(url)
    reply = await _navigate(tab, url)
    for _ in range(_TRIES - 1):
        if reply.get("errorText") != NETWORK_CHANGED:
            break
        tab.traffic.disturbed = False
        reply = await _navigate(tab, url)
    if reply.get("isDownload"):
        message = f"{url} is a file to download, not a page"
        raise NotDoneError(message)
    if reply.get("errorText") == _ABORTED:
        message = f"{url} has no page to show"
        raise NotDoneError(message)
    if reply.get("errorText"):
        message = f"{url} could not be reached: {reply['errorText']}"
        raise NotDoneError(message)


async def _navigate(tab: OpenTab, url: str) -> Reply:
    commits = tab.frames.commits
    try:
        async with asyncio.timeout(NAVIGATION_S):
            reply = await tab.channel.send("Page.navigate", {"url": url}, within_s=2 * NAVIGATION_S)
            if reply.get("errorText") != _ABORTED:
                await tab.frames.committed_after(commits)
    except TimeoutError as error:
        await tab.channel.send("Page.stopLoading")
        message = f"{url} did not answer within {NAVIGATION_S:.0f} s"
        raise NotDoneError(message) from error
    except RefusedError as error:
        message = f"'{url}' cannot be opened: {error}"
        raise NotDoneError(message) from error
    return reply


async def go_back(tab: OpenTab) -> None:
    """Go back in history; NotDoneError where there is no page before."""
    await _go(tab, -1, "there is no page to go back to")


async def go_forward(tab: OpenTab) -> None:
    """Go forward in history; NotDoneError where there is no page after."""
    await _go(tab, 1, "there is no page to go forward to")


async def _go(tab: OpenTab, way: int, nowhere: str) -> None:
    history = await tab.channel.send("Page.getNavigationHistory")
    entries, to = history["entries"], history["currentIndex"] + way
    # The blank page every tab starts with is no page to go back to.
    if not 0 <= to < len(entries) or (to == 0 and entries[0]["url"] == BLANK):
        raise NotDoneError(nowhere)
    commits = tab.frames.commits
    await tab.channel.send("Page.navigateToHistoryEntry", {"entryId": entries[to]["id"]})
    try:
        async with asyncio.timeout(NAVIGATION_S):
            await tab.frames.committed_after(commits)
    except TimeoutError as error:
        message = f"{entries[to]['url']} did not answer within {NAVIGATION_S:.0f} s"
        raise NotDoneError(message) from error


async def scroll(tab: OpenTab, direction: ScrollDirection, target: PointerTarget | None) -> None:
    """Scroll the page, or the largest scroller on a page that itself does not scroll.

    Args:
        tab: the page.
        direction: where to.
        target: its nearest scroller is scrolled instead.

    Raises:
        NotDoneError: it is at its end.
    """
    axis, way = _WAYS[direction]
    if target is None:
        reply = await tab.frames.evaluate(tab.frames.main, f"arena.scroll(null, '{axis}', {way})")
        has_moved = reply["value"]
    else:
        has_moved = await target.call("scroll", axis, way)
    if has_moved is not True:
        what = "the page" if target is None else f"what is around element [{target.id}]"
        message = f"{what} does not scroll further {direction}"
        raise NotDoneError(message)


_WAYS: Final = {
    ScrollDirection.UP: ("y", -1),
    ScrollDirection.DOWN: ("y", 1),
    ScrollDirection.LEFT: ("x", -1),
    ScrollDirection.RIGHT: ("x", 1),
}
