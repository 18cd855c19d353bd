"""Pages for the pointer: what is dragged, drawn, slid, highlighted or searched for by moving."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from arena_core.actions import Click, Drag, MouseClick, MouseDrag, MouseMove, Point
from orchestrator.agents.builtin.miniwob.page import (
    Box,
    MiniWobPage,
    Moves,
    UnsolvedError,
    Walk,
    box_of,
    click,
    find,
    press,
)
from orchestrator.browser.observation import Node

_FIGURES = {"rectangles": "rect", "circles": "circle", "triangles": "polygon of 3 corners"}
_FILLS = {
    "red": (255, 0, 0),
    "green": (0, 128, 0),
    "blue": (0, 0, 255),
    "aqua": (0, 255, 255),
    "black": (0, 0, 0),
    "magenta": (255, 0, 255),
    "yellow": (255, 255, 0),
}
_WAYS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}


def line(*places: tuple[float, float]) -> MouseDrag:
    return MouseDrag(path=tuple(Point(x=x, y=y) for x, y in places))


def middle(box: Box) -> tuple[float, float]:
    return box.left + box.width / 2, box.top + box.height / 2


def box_into_box(_: str, page: MiniWobPage) -> Moves:
    small = box_of(page.unnamed(r"div#draggableSmall.*")[0])
    large = box_of(page.unnamed(r"div#draggableLarge.*")[0])
    (x, y), (to_x, to_y) = middle(small), middle(large)
    # The large box lies above: the small one is taken where it stands out.
    sides = [(0, 0), *((dx * 0.4, dy * 0.4) for dx in (-1, 0, 1) for dy in (-1, 0, 1))]
    for dx, dy in sides:
        at = (x + dx * small.width, y + dy * small.height)
        if not _is_in(at, large):
            page = yield line(at, (to_x + at[0] - x, to_y + at[1] - y))
            break
    yield click(page.one("button", "Submit"))


def _is_in(place: tuple[float, float], box: Box) -> bool:
    x, y = place[0] - box.left, place[1] - box.top
    return 0 <= x <= box.width and 0 <= y <= box.height


def one_way(goal: str, page: MiniWobPage) -> Moves:
    dx, dy = _WAYS[find(r"Drag the \w+ (\w+) then", goal)[1]]
    x, y = middle(box_of(page.unnamed(r"(circle|rect|polygon).*")[0]))
    page = yield line((x, y), (x + 15 * dx, y + 15 * dy))
    yield click(page.one("button", "Submit"))


def into_one_box(goal: str, page: MiniWobPage) -> Moves:
    kind = _FIGURES[find(r"Drag all (\w+) into", goal)[1]]
    wanted = [box_of(node) for node in _figures(page) if node.name == kind]
    page = yield from _all_into(page, wanted, box_of(page.unnamed("rect#shape-container")[0]), 4)
    yield click(page.one("button", "Submit"))


def into_two_boxes(goal: str, page: MiniWobPage) -> Moves:
    what = find(r"Drag all (\w+)", goal)[1]
    left, right = sorted(
        (box_of(node) for node in page.unnamed("rect#shape-container")), key=lambda box: box.left
    )
    figures = [(node.name, box_of(node)) for node in _figures(page)]

    def is_meant(name: str, box: Box) -> bool:
        return name == _FIGURES[what] if what in _FIGURES else box.colour == _FILLS[what]

    for target, meant in ((left, True), (right, False)):
        boxes = [box for name, box in figures if is_meant(name, box) is meant]
        page = yield from _all_into(page, boxes, target, 3)
    yield click(page.one("button", "Submit"))


def _figures(page: MiniWobPage) -> list[Node]:
    return page.unnamed(r"circle|rect|polygon of 3 corners")


def _all_into(page: MiniWobPage, boxes: Sequence[Box], target: Box, columns: int) -> Walk:
    for number, box in enumerate(boxes):
        row, column = divmod(number, columns)
        place = (target.left + 14 + 19 * column, target.top + 14 + 19 * row)
        page = yield line(middle(box), place)
    return page


def _said(page: MiniWobPage, item: Node) -> str:
    return next(node.name for node in page.inside(item) if node.role == "StaticText")


def sorted_numbers(_: str, page: MiniWobPage) -> Moves:
    for at in range(len(page.all("listitem"))):
        items = page.all("listitem")
        numbers = [int(_said(page, item)) for item in items]
        least = min(range(at, len(items)), key=lambda i: numbers[i])
        if least != at:
            page = yield Drag(element=items[least].id, to=items[at].id)
    yield click(page.one("button", "Submit"))


def _meant_item(goal: str, page: MiniWobPage) -> tuple[list[Node], int, str]:
    """Return a list's items, which of them is to be dragged, and where to in the goal's words."""
    name, where = find(r"Drag (.+?) ((?:to|down|up|left|right) .*?)\.?$", goal).groups()
    items = page.all("listitem")
    here = next(at for at, item in enumerate(items) if _said(page, item) == name)
    return items, here, where


def list_item(goal: str, page: MiniWobPage) -> Moves:
    items, here, where = _meant_item(goal, page)
    number = re.search(r"(\d+)\w\w position", where)
    there = {
        "to the top": 0,
        "to the bottom": len(items) - 1,
        "down by one position": here + 1,
        "up by one position": here - 1,
    }.get(where, int(number[1]) - 1 if number else here)
    yield Drag(element=items[here].id, to=items[there].id)


_CELLS = (
    *("top left", "top center", "top right", "center left", "center", "center right"),
    *("bottom left", "bottom center", "bottom right"),
)


def grid_item(goal: str, page: MiniWobPage) -> Moves:
    items, here, where = _meant_item(goal, page)
    by_one = {"up by one": -3, "down by one": 3, "left by one": -1, "right by one": 1}
    cell = where.removeprefix("to the ")
    there = here + by_one[where] if where in by_one else _CELLS.index(cell)
    yield Drag(element=items[here].id, to=items[there].id)


def drawn_circle(_: str, page: MiniWobPage) -> Moves:
    x, y = middle(box_of(page.unnamed("circle#circ")[0]))
    angles = [2 * math.pi * step / 36 for step in range(37)]
    page = yield line(*((x + 25 * math.cos(a), y + 25 * math.sin(a)) for a in angles))
    yield click(page.one("button", "Submit"))


def drawn_line(goal: str, page: MiniWobPage) -> Moves:
    x, y = middle(box_of(page.unnamed("circle#circ")[0]))
    dx, dy = (25, 0) if "horizontal" in goal else (0, 25)
    page = yield line((x - dx, y - dy), (x + dx, y + dy))
    yield click(page.one("button", "Submit"))


def _slid(page: MiniWobPage, number: int, wanted: int) -> Walk:
    """Set a slider: look where its ends are, click near the place, and go on by keys."""

    def track(shown: MiniWobPage) -> Node:
        return shown.unnamed(r"div#slider.*")[number]

    def value(shown: MiniWobPage) -> int:
        after = shown.after(track(shown))
        return int(next(node for node in after if node.role == "StaticText").name)

    page = yield click(track(page))
    page = yield press("Home")
    low = value(page)
    page = yield press("End")
    high = value(page)
    box, part = box_of(track(page)), (wanted - low) / (high - low)
    if box.width >= box.height:
        x, y = box.left + part * box.width, box.top + box.height / 2
    else:
        x, y = box.left + box.width / 2, box.top + (1 - part) * box.height
    page = yield MouseClick(x=x, y=y)
    while (still := wanted - value(page)) != 0:
        page = yield press("ArrowRight" if still > 0 else "ArrowLeft")
    return page


def slider(goal: str, page: MiniWobPage) -> Moves:
    page = yield from _slid(page, 0, int(find(r"Select (-?\d+) with the slider", goal)[1]))
    yield click(page.one("button", "Submit"))


def sliders(goal: str, page: MiniWobPage) -> Moves:
    for number, wanted in enumerate(find(r"\[(.*)\]", goal)[1].split(",")):
        page = yield from _slid(page, number, int(wanted))
    yield click(page.one("button", "Submit"))


def slider_and_box(goal: str, page: MiniWobPage) -> Moves:
    wanted, nth = find(r"Select (-?\d+) with the slider, click the (\d)", goal).groups()
    page = yield from _slid(page, 0, int(wanted))
    page = yield click(page.one("checkbox", nth=int(nth) - 1))
    yield click(page.one("button", "Submit"))


def highlighted(goal: str, page: MiniWobPage) -> Moves:
    nth = re.search(r"the (\d)\w\w paragraph", goal)
    texts = page.all("paragraph") if nth else page.all("StaticText")
    page = yield Click(element=texts[int(nth[1]) - 1 if nth else 0].id, count=3)
    yield click(page.one("button", "Submit"))


def resized(goal: str, page: MiniWobPage) -> Moves:
    size, way = find(r"the (width|height) is (smaller|larger)", goal).groups()
    box = box_of(page.unnamed(r"div\.ui-wrapper.*")[0])
    x, y = box.left + box.width - 6, box.top + box.height - 6
    by = 15 if way == "larger" else -15
    page = yield line((x, y), (x + by, y) if size == "width" else (x, y + by))
    yield click(page.one("button", "Submit"))


_FAR, _NEAR, _THERE = 40, 10, 5  # pixels of COLD, WARM and HOT
_TRIED = 45


def hot_place(_: str, page: MiniWobPage) -> Moves:
    area = box_of(page.unnamed(r"div#touch-area.*")[0])
    left = [
        (area.left + x, area.top + y)
        for x in range(3, int(area.width), 2)
        for y in range(3, int(area.height) - 4, 2)
    ]
    probes = left[:: max(1, len(left) // 150)]
    for _step in range(_TRIED):
        best = min(probes, key=lambda probe: _uncertain(probe, left))
        page = yield MouseMove(x=best[0], y=best[1])
        said = next(n.name for n in page.all("StaticText") if n.name in _SIGNALS)
        if said == "HOT":
            yield MouseClick(x=best[0], y=best[1])
            return
        left = [place for place in left if _signal(math.dist(place, best)) == said]
        probes = left[:: max(1, len(left) // 150)]
        if not left:
            break
    raise UnsolvedError("no place fits what the page says of the others")


_SIGNALS = ("HOT", "WARM", "COLD", "ICE COLD")


def _signal(distance: float) -> str:
    limits = zip((_THERE, _NEAR, _FAR), _SIGNALS, strict=False)
    return next((said for limit, said in limits if distance < limit), _SIGNALS[-1])


def _uncertain(probe: tuple[float, float], left: Sequence[tuple[float, float]]) -> int:
    """Return how many places are left on average after a probe, times their number."""
    told = [_signal(math.dist(place, probe)) for place in left[:: max(1, len(left) // 300)]]
    return sum(told.count(said) ** 2 for said in _SIGNALS)
