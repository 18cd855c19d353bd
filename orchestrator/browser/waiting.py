"""Waiting until a page shows a text, or shows one no longer: by its events, within a limit."""

from __future__ import annotations

import asyncio
import json

from orchestrator.browser.cdp_channel import RefusedError
from orchestrator.browser.frames import Frame
from orchestrator.browser.pointer import NotDoneError
from orchestrator.browser.tabs import OpenTab


async def wait_for(tab: OpenTab, text: str | None, gone: str | None, seconds: float) -> None:
    """Return as soon as the page shows `text` and does not show `gone`, frames included.

    With neither, `seconds` pass.

    Raises:
        NotDoneError: not within `seconds`.
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
        message = f"after {seconds:g} s the page {' or '.join(wanted)}"
        raise NotDoneError(message) from error


async def _holds(tab: OpenTab, text: str | None, gone: str | None) -> bool:
    """Say whether it holds now; where it does not, only after something changed."""
    frames = tab.frames.all()
    # The watches begin before the look: no change falls between the two.
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
