"""One element dragged onto another, wherever the two are on the page."""

from __future__ import annotations

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
        await go(start, await spot_of(onto, needs_enabled=False))
