"""The mouse: moved, pressed and turned at points of a tab's viewport, by trusted events.

A held button stays held in its tab, across navigations, until it is released.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Protocol

from arena_core.actions import Button, Modifier
from orchestrator.browser.actions.keyboard import holding
from orchestrator.browser.tabs.elements import NotDoneError, PointerTarget, Spot, spot_of
from orchestrator.browser.tabs.tab import OpenTab

_DRAG_S: Final = 30.0
_STEP_PX: Final = 12  # pages that follow a drag get a move for each such distance
_MOST_STEPS: Final = 40


@dataclass(frozen=True, slots=True)
class Press:
    """How a button is pressed: which one, how often, with which keys held."""

    button: Button = "left"
    count: int = 1
    modifiers: tuple[Modifier, ...] = ()


PLAIN: Final = Press()


class _Place(Protocol):
    @property
    def x(self) -> float: ...

    @property
    def y(self) -> float: ...


async def spot(tab: OpenTab, place: _Place) -> Spot:
    return (await spots(tab, [place]))[0]


async def spots(tab: OpenTab, places: Sequence[_Place]) -> list[Spot]:
    """Return points of the viewport; NotDoneError for one outside it."""
    reply = await tab.frames.evaluate(tab.frames.main, "[innerWidth, innerHeight]")
    width, height = reply["value"]
    for place in places:
        if not (0 <= place.x < width and 0 <= place.y < height):
            message = f"the point {place.x:g}, {place.y:g} is outside the viewport: "
            message += f"{width} pixels wide and {height} high"
            raise NotDoneError(message)
    return [Spot(place.x, place.y) for place in places]


async def move(tab: OpenTab, spot: Spot) -> None:
    await tab.page.mouse.move(spot.x, spot.y)
    tab.pointer = (spot.x, spot.y)


async def click(tab: OpenTab, spot: Spot, press: Press = PLAIN) -> None:
    _require_released(tab, press.button)
    async with holding(tab, press.modifiers):
        if press.count == 1:
            tab.pointer = (spot.x, spot.y)
            await tab.page.mouse.click(spot.x, spot.y, button=press.button)
        else:
            await _click_often(tab, spot, press)


async def _click_often(tab: OpenTab, spot: Spot, press: Press) -> None:
    """Click several times, until the page asks whether it may be left.

    A person's second click would land on that question. Sent on, it makes the page ask again while
    it is being left, and nobody can answer that any more (Chromium: "Not attached to an active
    page").
    """
    mouse, questions = tab.page.mouse, tab.leave_questions
    await move(tab, spot)
    for count in range(1, press.count + 1):
        await mouse.down(button=press.button, click_count=count)
        await mouse.up(button=press.button, click_count=count)
        if tab.leave_questions > questions:
            return


async def hold(tab: OpenTab, spot: Spot | None, button: Button) -> None:
    """Press a button, at the spot or where the mouse is, and keep it down."""
    _require_released(tab, button)
    if spot is not None:
        await move(tab, spot)
    await tab.page.mouse.down(button=button)
    tab.held_buttons.add(button)


async def release(tab: OpenTab, spot: Spot | None, button: Button) -> None:
    if button not in tab.held_buttons:
        raise NotDoneError(f"the {button} button is not held")
    tab.held_buttons.discard(button)
    async with bounded_drag(tab, button):
        if spot is not None:
            await move(tab, spot)
        await tab.page.mouse.up(button=button)


async def drag(
    tab: OpenTab, path: Sequence[Spot], button: Button, modifiers: Sequence[Modifier]
) -> None:
    """Press at the first point, move along the others, and release at the last.

    The page's own drags (`draggable`) work too: Chromium hands them over, and their enter, over and
    drop events follow the mouse.
    """
    async with (
        bounded_drag(tab, button),
        holding(tab, modifiers),
        dragging(tab, path[0], button) as go,
    ):
        for here, there in pairwise(path):
            await go(here, there)


@asynccontextmanager
async def dragging(
    tab: OpenTab, start: Spot, button: Button
) -> AsyncIterator[Callable[[Spot, Spot], Awaitable[None]]]:
    """Keep a button down from `start` on while the block moves from point to point."""

    async def go(here: Spot, there: Spot) -> None:
        distance = math.dist((here.x, here.y), (there.x, there.y))
        steps = max(1, min(_MOST_STEPS, math.ceil(distance / _STEP_PX)))
        await tab.page.mouse.move(there.x, there.y, steps=steps)
        tab.pointer = (there.x, there.y)

    mouse = tab.page.mouse
    await move(tab, start)
    await mouse.down(button=button)
    try:
        yield go
    finally:
        await mouse.up(button=button)


async def wheel(tab: OpenTab, spot: Spot, dx: float, dy: float) -> None:
    """Turn the wheel; return once the page has taken it and scrolled, if it scrolls."""
    await move(tab, spot)
    await tab.page.mouse.wheel(dx, dy)


def _require_released(tab: OpenTab, button: Button) -> None:
    if button in tab.held_buttons:
        raise NotDoneError(f"the {button} button is held: let go of it first (mouse_up)")


@asynccontextmanager
async def bounded_drag(tab: OpenTab, button: Button) -> AsyncIterator[None]:
    """Run a drag with a deadline."""
    _require_released(tab, button)
    limit = asyncio.timeout(_DRAG_S)
    try:
        async with limit:
            yield
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise NotDoneError(f"the drag did not come to an end within {_DRAG_S:.0f} s") from error


_NUDGE_PX = 8  # what starts a drag: browsers and pages ask for some pixels first


async def drag_onto(source: PointerTarget, onto: PointerTarget) -> None:
    """Drag an element onto another.

    If the two do not fit into the viewport together, the page is scrolled while the button is held.
    """
    await spot_of(onto, needs_enabled=False)
    start = await spot_of(source)
    tab = source.tab
    async with bounded_drag(tab, "left"), dragging(tab, start, "left") as go:
        begun = Spot(start.x + _NUDGE_PX, start.y)
        await go(start, begun)
        await go(begun, start)
        end = await spot_of(onto, needs_enabled=False)
        beyond = _beyond(start, end)
        await go(start, beyond)
        await go(beyond, end)


def _beyond(start: Spot, end: Spot) -> Spot:
    """Return a spot a little past the end: lists make room once the mouse passes the middle."""
    distance = math.dist((start.x, start.y), (end.x, end.y)) or 1.0
    part = _NUDGE_PX / distance
    return Spot(
        max(0.0, end.x + part * (end.x - start.x)), max(0.0, end.y + part * (end.y - start.y))
    )
