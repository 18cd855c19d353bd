"""Pages of single widgets: an editor, a day's calendar, a colour picker, blocks and boxes."""

from __future__ import annotations

import re
import time

from arena_core.actions import Focus, Hover, MouseDown, MouseMove, MouseUp, Wait
from orchestrator.agents.builtin.miniwob.page import (
    MiniWobPage,
    Moves,
    UnsolvedError,
    Walk,
    box_of,
    click,
    find,
    press,
    put,
)
from orchestrator.agents.builtin.miniwob.pointer import middle
from orchestrator.browser.observation import UNNAMED

# How the page draws a digit with boxes, seven rows of four.
_DIGITS = (
    "0110 1001 1001 1001 1001 1001 0110",
    "0010 0110 0010 0010 0010 0010 0010",
    "0110 1001 1001 0010 0100 1000 1111",
    "0110 1001 0001 0110 0001 1001 0110",
    "1000 1010 1010 1111 0010 0010 0010",
    "1111 1000 1000 1110 0001 1001 0110",
    "0110 1001 1000 1110 1001 1001 0110",
    "1111 1001 0001 0010 0010 0100 0100",
    "0110 1001 1001 0110 1001 1001 0110",
    "0110 1001 1001 0111 0001 1001 0110",
)
_HEX = {
    "black": "000000",
    "white": "ffffff",
    "aqua": "00ffff",
    "blue": "0000ff",
    "gray": "808080",
    "green": "008000",
    "lime": "00ff00",
    "maroon": "800000",
    "navy": "000080",
    "olive": "808000",
    "purple": "800080",
    "red": "ff0000",
    "silver": "c0c0c0",
    "teal": "008080",
    "yellow": "ffff00",
    "pink": "ffc0cb",
    "magenta": "ff00ff",
    "gold": "ffd700",
    "orange": "ffa500",
}
# The first colour of each name in the editor's palette.
_INKS = {
    "red": (230, 0, 0),
    "orange": (255, 153, 0),
    "yellow": (255, 255, 0),
    "green": (0, 138, 0),
    "blue": (0, 102, 204),
    "purple": (153, 51, 255),
}
_STYLES = ("bold", "italics", "underlined")


def digit_of_boxes(goal: str, page: MiniWobPage) -> Moves:
    pattern = _DIGITS[int(find(r'the number "(\d)"', goal)[1])].replace(" ", "")
    boxes = page.all("checkbox")[-len(pattern) :]
    for box, mark in zip(boxes, pattern, strict=True):
        if mark == "1":
            page = yield click(box)
    yield click(page.one("button", "Submit"))


def blocks(_: str, page: MiniWobPage) -> Moves:
    number = len(page.unnamed(r"span\.addition-block"))
    page = yield put(page.one("textbox"), str(number))
    yield click(page.one("button", "Submit"))


def named_colour(goal: str, page: MiniWobPage) -> Moves:
    yield from _picked(page, _HEX[find(r"Select (\w+) with", goal)[1]])


def shown_colour(_: str, page: MiniWobPage) -> Moves:
    shown = next(box_of(node) for node in page.asked if node.role == UNNAMED)
    if shown.colour is None:
        raise UnsolvedError("the goal shows no colour")
    yield from _picked(page, "".join(f"{part:02x}" for part in shown.colour))


def _picked(page: MiniWobPage, number: str) -> Moves:
    page = yield put(page.one("textbox"), number)
    page = yield Focus(element=page.one("button", "Submit").id)  # the picker lies over it
    yield press("Enter")


def styled_text(goal: str, page: MiniWobPage) -> Moves:
    text = page.one("paragraph").name
    word = re.search(r"give the text (\S+) the", goal)
    page = yield click(page.one("paragraph"))
    if word is None:
        page = yield press("Control+A")
    else:
        page = yield from _selected(page, text, word[1])
    if style := next((name for name in _STYLES if f"style {name}" in goal), None):
        page = yield click(page.all("button")[_STYLES.index(style)])
    else:
        ink = _INKS[find(r"the color (\w+)", goal)[1]]
        page = yield click(page.unnamed(r"span\.ql-picker-label.*")[0])
        swatches = page.unnamed(r"span\.ql-picker-item.*")
        page = yield click(next(node for node in swatches if box_of(node).colour == ink))
    yield click(page.one("button", "Submit"))


def _selected(page: MiniWobPage, text: str, word: str) -> Walk:
    at = next(found.start() for found in re.finditer(r"\S+", text) if found[0] == word)
    behind = len(text) - at
    page = yield press("Control+Home" if at <= behind else "Control+End")
    for _ in range(min(at, behind)):
        page = yield press("ArrowRight" if at <= behind else "ArrowLeft")
    for _ in word:
        page = yield press("Shift+ArrowRight")
    return page


_HALF_HOURS = {
    "8AM and 12PM": range(16, 24),
    "12PM and 4PM": range(24, 32),
    "4PM and 8PM": range(32, 40),
}
_LENGTHS = {"0.5 hours": 1, "30 mins": 1, "1 hour": 2, "60 mins": 2, "1.5 hours": 3, "90 mins": 3}


def day_event(goal: str, page: MiniWobPage) -> Moves:
    length, name, window = find(
        r'Create a (.*?) event named "(.*?)", between (.*?)\.', goal
    ).groups()
    span = _LENGTHS[length]
    taken = [box_of(node) for node in page.unnamed(r"div#randomEvent.*")]
    hours = {n: page.unnamed(rf"div#hh-{n}\.half-hour")[0] for n in _HALF_HOURS[window]}

    def is_free(number: int) -> bool:
        _x, y = middle(box_of(hours[number]))
        return not any(box.top - 4 <= y <= box.top + box.height + 4 for box in taken)

    first = next(
        start
        for start in hours
        if all(n in hours and is_free(n) for n in range(start, start + span))
    )
    page = yield Hover(element=hours[first].id)
    page = yield Hover(element=hours[first + span - 1].id)
    ends = [page.unnamed(rf"div#hh-{n}\.half-hour")[0] for n in (first, first + span - 1)]
    (x, y), (_, to_y) = (middle(box_of(node)) for node in ends)
    page = yield MouseDown(x=x, y=y)
    page = yield MouseMove(x=x, y=to_y + 2)
    # The page draws the event where the hours would be if its fonts were smaller.
    x, y = middle(box_of(page.unnamed(r"div#newEvent.*")[0]))
    page = yield MouseMove(x=x, y=y)
    page = yield MouseUp()
    page = yield put(page.one("textbox"), name)
    yield click(page.one("button", "Create"))


def two_buttons_apart(goal: str, page: MiniWobPage) -> Moves:
    seconds = int(find(r"wait (\d) seconds", goal)[1])
    began = time.monotonic()
    page = yield click(page.one("button", "ONE"))
    # What a step takes beside its action has passed once now, and will pass once more.
    took = time.monotonic() - began
    page = yield Wait(seconds=max(0.0, seconds - took - 0.12))
    yield click(page.one("button", "TWO"))
