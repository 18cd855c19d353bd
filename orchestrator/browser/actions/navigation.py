"""Actions on a whole page: addresses, history, scrolling, waiting for a text."""

from __future__ import annotations

import asyncio
import json
from typing import Final
from urllib.parse import urlsplit

from arena_core.actions import ScrollDirection
from orchestrator.browser.tabs.cdp_channel import RefusedError, Reply
from orchestrator.browser.tabs.elements import NotDoneError, PointerTarget
from orchestrator.browser.tabs.frames import Frame
from orchestrator.browser.tabs.settle import NETWORK_CHANGED
from orchestrator.browser.tabs.tab import OpenTab

NAVIGATION_S = 30.0
_TRIES = 3
BLANK = "about:blank"
_ABORTED = "net::ERR_ABORTED"  # the answer shows nothing: 204, or a file


def require_web_address(url: str) -> None:
    if url == BLANK:
        return
    try:
        parts = urlsplit(url)
        is_web = parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        is_web = False
    if not is_web:
        raise NotDoneError(f"'{url}' is not a web address; those start with http:// or https://")


async def goto(tab: OpenTab, url: str, *, referrer: str = "") -> None:
    """Open a URL; return once its document has arrived, before it is complete.

    An answer with an error status is a page like any other and is shown. If this machine's network
    changed meanwhile, the request is repeated.
    """
    require_web_address(url)
    reply = await _navigate(tab, url, referrer)
    for _ in range(_TRIES - 1):
        if reply.get("errorText") != NETWORK_CHANGED:
            break
        tab.traffic.disturbed = False
        reply = await _navigate(tab, url, referrer)
    if reply.get("isDownload"):
        raise NotDoneError(f"{url} is a file to download, not a page")
    if reply.get("errorText") == _ABORTED:
        raise NotDoneError(f"{url} has no page to show")
    if reply.get("errorText"):
        raise NotDoneError(f"{url} could not be reached: {reply['errorText']}")


async def _navigate(tab: OpenTab, url: str, referrer: str) -> Reply:
    commits = tab.frames.commits
    asked = {"url": url}
    if referrer:
        asked |= {"referrer": referrer, "referrerPolicy": "unsafeUrl"}
    try:
        async with asyncio.timeout(NAVIGATION_S):
            reply = await tab.channel.send("Page.navigate", asked, within_s=2 * NAVIGATION_S)
            if reply.get("errorText") != _ABORTED:
                await tab.frames.committed_after(commits)
    except TimeoutError as error:
        await tab.channel.send("Page.stopLoading")
        raise NotDoneError(f"{url} did not answer within {NAVIGATION_S:.0f} s") from error
    except RefusedError as error:
        raise NotDoneError(f"'{url}' cannot be opened: {error}") from error
    return reply


async def go_back(tab: OpenTab) -> None:
    await _go(tab, -1, "there is no page to go back to")


async def go_forward(tab: OpenTab) -> None:
    await _go(tab, 1, "there is no page to go forward to")


async def _go(tab: OpenTab, way: int, nowhere: str) -> None:
    history = await tab.channel.send("Page.getNavigationHistory")
    entries, to = history["entries"], history["currentIndex"] + way
    # The blank page that every tab starts with does not count.
    if not 0 <= to < len(entries) or (to == 0 and entries[0]["url"] == BLANK):
        raise NotDoneError(nowhere)
    commits = tab.frames.commits
    await tab.channel.send("Page.navigateToHistoryEntry", {"entryId": entries[to]["id"]})
    try:
        async with asyncio.timeout(NAVIGATION_S):
            await tab.frames.committed_after(commits)
    except TimeoutError as error:
        raise NotDoneError(
            f"{entries[to]['url']} did not answer within {NAVIGATION_S:.0f} s"
        ) from error


async def scroll(tab: OpenTab, direction: ScrollDirection, target: PointerTarget | None) -> None:
    """Scroll the target's nearest scroller; else the page, or its largest scroller.

    The largest scroller is taken where the page itself does not scroll.
    """
    axis, way = _WAYS[direction]
    if target is None:
        reply = await tab.frames.evaluate(tab.frames.main, f"arena.scroll(null, '{axis}', {way})")
        has_moved = reply["value"]
    else:
        has_moved = await target.call("scroll", axis, way)
    if has_moved is not True:
        what = "the page" if target is None else f"what is around element [{target.id}]"
        raise NotDoneError(f"{what} does not scroll further {direction}")


_WAYS: Final = {
    ScrollDirection.UP: ("y", -1),
    ScrollDirection.DOWN: ("y", 1),
    ScrollDirection.LEFT: ("x", -1),
    ScrollDirection.RIGHT: ("x", 1),
}


async def wait_for(tab: OpenTab, text: str | None, gone: str | None, seconds: float) -> None:
    """Return as soon as the page shows `text` and does not show `gone`, frames included.

    With neither, wait for `seconds`.
    """
    if text is None and gone is None:
        await asyncio.sleep(seconds)
        return
    try:
        async with asyncio.timeout(seconds):
            while not await _holds(tab, text, gone):
                pass
    except TimeoutError as error:
        wanted = [f'does not show "{_brief(text)}"'] if text is not None else []
        wanted += [f'still shows "{_brief(gone)}"'] if gone is not None else []
        raise NotDoneError(f"after {seconds:g} s the page {' or '.join(wanted)}") from error


async def _holds(tab: OpenTab, text: str | None, gone: str | None) -> bool:
    """Say whether the condition holds now; if it does not, return only after a change."""
    frames = tab.frames.all()
    # The watches begin before the look, so that no change falls between.
    watches = [asyncio.ensure_future(_changed(tab, frame)) for frame in frames]
    try:
        is_shown = text is None or await _is_shown(tab, frames, text)
        if is_shown and (gone is None or not await _is_shown(tab, frames, gone)):
            return True
        await asyncio.wait(watches, return_when=asyncio.FIRST_COMPLETED)
        return False
    finally:
        for watch in watches:
            watch.cancel()
        await asyncio.gather(*watches, return_exceptions=True)


async def _changed(tab: OpenTab, frame: Frame) -> None:
    try:
        await tab.frames.world(frame)
    except RefusedError:
        await asyncio.get_running_loop().create_future()  # no such frame: nothing changes in it
    try:
        await tab.frames.evaluate(frame, "arena.changed()", within_s=60.0)
    except RefusedError:
        return  # the document went away, which is a change


async def _is_shown(tab: OpenTab, frames: tuple[Frame, ...], text: str) -> bool:
    asked = [_frame_shows(tab, frame, text) for frame in frames]
    return any(await asyncio.gather(*asked))


async def _frame_shows(tab: OpenTab, frame: Frame, text: str) -> bool:
    try:
        reply = await tab.frames.evaluate(frame, f"arena.shows({json.dumps(text)})")
    except RefusedError:
        return False
    return bool(reply["value"])


def _brief(text: str) -> str:
    return text if len(text) <= 80 else text[:79] + "…"  # noqa: PLR2004 - a line of a message
