"""The mouse: moved, pressed and turned at points of a tab's viewport, by trusted events.

What is held is held in its tab, as Playwright keeps it: across navigations, until it is let go.
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
from orchestrator.browser.keyboard import holding
from orchestrator.browser.pointer import NotDoneError, Spot
from orchestrator.browser.tabs import OpenTab

_DRAG_S: Final = 30.0
_STEP_PX: Final = 12  # pages that follow a drag get a move for each such distance
_MOST_STEPS: Final = 40


@dataclass(frozen=True, slots=True)
class Press:
    """How a button is used: which, how often, with which keys held."""

    button: Button = "left"
    count: int = 1
    modifiers: tuple[Modifier, ...] = ()


PLAIN: Final = Press()


class _Place(Protocol):
    """Anything with coordinates of the viewport."""

    @property
    def x(self) -> float: ...

    @property
    def y(self) -> float: ...


async def spot(tab: OpenTab, place: _Place) -> Spot:
    """Return a point of the viewport; raises NotDoneError as `spots` does."""
    return (await spots(tab, [place]))[0]


async def spots(tab: OpenTab, places: Sequence[_Place]) -> list[Spot]:
    """Return points of the viewport.

    Raises:
        NotDoneError: one lies outside.
    """
    reply = await tab.frames.evaluate(tab.frames.main, "[innerWidth, innerHeight]")
    width, height = reply["value"]
    for place in places:
        if not (0 <= place.x < width and 0 <= place.y < height):
            message = f"the point {place.x:g}, {place.y:g} is outside the viewport: "
            message += f"{width} pixels wide and {height} high"
            raise NotDoneError(message)
    return [Spot(place.x, place.y) for place in places]


async def move(tab: OpenTab, spot: Spot) -> None:
    """Move the mouse there."""
    await tab.page.mouse.move(spot.x, spot.y)


async def click(tab: OpenTab, spot: Spot, press: Press = PLAIN) -> None:
    """Move the mouse there and click.

    Raises:
        NotDoneError: the button is held.
    """
    _demand_free(tab, press.button)
    async with holding(tab, press.modifiers):
        if press.count == 1:
            await tab.page.mouse.click(spot.x, spot.y, button=press.button)
        else:
            await _click_often(tab, spot, press)


async def _click_often(tab: OpenTab, spot: Spot, press: Press) -> None:
    """Click several times, until the page asks whether it may be left.

    A person's second click would land on that question. Sent on, it makes the page ask again while
    it is being left, and that question can be answered by nobody any more (Chromium: "Not attached
    to an active page").
    """
    mouse, questions = tab.page.mouse, tab.leave_questions
    await mouse.move(spot.x, spot.y)
    for count in range(1, press.count + 1):
        await mouse.down(button=press.button, click_count=count)
        await mouse.up(button=press.button, click_count=count)
        if tab.leave_questions > questions:
            return


async def hold(tab: OpenTab, spot: Spot | None, button: Button) -> None:
    """Press a button, there or where the mouse is, and keep it down.

    Raises:
        NotDoneError: it is down.
    """
    _demand_free(tab, button)
    if spot is not None:
        await move(tab, spot)
    await tab.page.mouse.down(button=button)
    tab.held_buttons.add(button)


async def release(tab: OpenTab, spot: Spot | None, button: Button) -> None:
    """Let go of a button, there or where the mouse is.

    Raises:
        NotDoneError: it is not down.
    """
    if button not in tab.held_buttons:
        message = f"the {button} button is not held"
        raise NotDoneError(message)
    tab.held_buttons.discard(button)
    async with bounded_drag(tab, button):
        if spot is not None:
            await tab.page.mouse.move(spot.x, spot.y)
        await tab.page.mouse.up(button=button)


async def drag(
    tab: OpenTab, path: Sequence[Spot], button: Button, modifiers: Sequence[Modifier]
) -> None:
    """Press at the first point, move along the others, and let go at the last.

    What the page drags by itself (`draggable`) is dragged as well: Chromium hands such a drag over,
    and its enter, over and drop follow the mouse.

    Raises:
        NotDoneError: the button is held, or the drag does not come to an end.
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
    """Keep a button down from `start` on while the block moves on from point to point."""

    async def go(here: Spot, there: Spot) -> None:
        distance = math.dist((here.x, here.y), (there.x, there.y))
        steps = max(1, min(_MOST_STEPS, math.ceil(distance / _STEP_PX)))
        await tab.page.mouse.move(there.x, there.y, steps=steps)

    mouse = tab.page.mouse
    await mouse.move(start.x, start.y)
    await mouse.down(button=button)
    try:
        yield go
    finally:
        await mouse.up(button=button)


async def wheel(tab: OpenTab, spot: Spot, dx: float, dy: float) -> None:
    """Turn the wheel there; returns when the page has taken it and scrolled, if it did."""
    await move(tab, spot)
    await tab.page.mouse.wheel(dx, dy)


def _demand_free(tab: OpenTab, button: Button) -> None:
    if button in tab.held_buttons:
        message = f"the {button} button is held: let go of it first (mouse_up)"
        raise NotDoneError(message)


@asynccontextmanager
async def bounded_drag(tab: OpenTab, button: Button) -> AsyncIterator[None]:
    """Give a drag that the block does its deadline.

    Raises:
        NotDoneError: the button is held, or the drag does not come to an end.
    """
    _demand_free(tab, button)
    limit = asyncio.timeout(_DRAG_S)
    try:
        async with limit:
            yield
    except TimeoutError as error:
        if not limit.expired():
            raise
        message = f"the drag did not come to an end within {_DRAG_S:.0f} s"
        raise NotDoneError(message) from error
