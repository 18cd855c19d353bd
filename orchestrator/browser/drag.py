"""One element dragged onto another, wherever the two are on the page."""

from __future__ import annotations

import math

from orchestrator.browser import mouse
from orchestrator.browser.pointer import PointerTarget, Spot, spot_of

_NUDGE_PX = 8  # what starts a drag: browsers and pages ask for some pixels first


async def drag_onto(source: PointerTarget, onto: PointerTarget) -> None:
    """Drag an element onto another.

    Where the two do not fit into the viewport together, the page is scrolled while the button is
    held.

    Raises:
        NotDoneError: one of them is hidden, gone or covered, or the button is held.
    """
    await spot_of(onto, needs_enabled=False)
    start = await spot_of(source)
    tab = source.tab
    async with mouse.bounded_drag(tab, "left"), mouse.dragging(tab, start, "left") as go:
        begun = Spot(start.x + _NUDGE_PX, start.y)
        await go(start, begun)
        await go(begun, start)
        end = await spot_of(onto, needs_enabled=False)
        beyond = _beyond(start, end)
        await go(start, beyond)
        await go(beyond, end)


def _beyond(start: Spot, end: Spot) -> Spot:
    """Return a place a little past the end: lists make room where the mouse passes the middle."""
    distance = math.dist((start.x, start.y), (end.x, end.y)) or 1.0
    part = _NUDGE_PX / distance
    return Spot(
        max(0.0, end.x + part * (end.x - start.x)), max(0.0, end.y + part * (end.y - start.y))
    )
