"""Pages on which colours, shapes, places and pictures decide."""

from __future__ import annotations

import cmath
import re
from dataclasses import dataclass
from io import BytesIO

from PIL import Image

from arena_core.actions import Click, MouseDown, MouseMove, MouseUp, Wait
from orchestrator.agents.builtin.miniwob.page import (
    Box,
    MiniWobPage,
    Moves,
    UnsolvedError,
    box_of,
    click,
    find,
)
from orchestrator.agents.builtin.miniwob.tic_tac_toe import winning_moves
from orchestrator.browser.observation import UNNAMED, Node, Picture

_COLOURS = {
    "red": (255, 0, 0),
    "green": (0, 128, 0),
    "blue": (0, 0, 255),
    "aqua": (0, 255, 255),
    "cyan": (0, 255, 255),
    "black": (0, 0, 0),
    "white": (255, 255, 255),
    "grey": (128, 128, 128),
    "magenta": (255, 0, 255),
    "yellow": (255, 255, 0),
    "olive": (128, 128, 0),
    "lime": (0, 255, 0),
    "purple": (128, 0, 128),
    "orange": (255, 165, 0),
    "pink": (255, 192, 203),
}
_LARGE_TEXT = 17  # height of a large letter's box; a small one has 11
_LARGE_SHAPE = 15


def coloured_box(goal: str, page: MiniWobPage) -> Moves:
    wanted = _COLOURS[find(r"Click on the (\w+) colored box", goal)[1]]
    yield click(next(n for n in page.unnamed(r"div\.color") if box_of(n).colour == wanted))


def greatest_card(_: str, page: MiniWobPage) -> Moves:
    numbers = [node for node in page.all("StaticText") if node.name.isdigit()]
    greatest = max(numbers, key=lambda node: int(node.name))
    page = yield click(next(n for n in page.before(greatest) if n.name.startswith("div.card")))
    yield click(page.one("button", "Submit"))


def shades(goal: str, page: MiniWobPage) -> Moves:
    strongest = ("red", "green", "blue").index(find(r"shades of (\w+)", goal)[1])
    for node in page.unnamed("span"):
        colour = box_of(node).colour
        if colour is not None and colour[strongest] == max(colour) > min(colour):
            page = yield click(node)
    yield click(page.one("button", "Submit"))


@dataclass(frozen=True, slots=True)
class _Thing:
    """A shape, letter or digit of the pages that draw them on a grid."""

    node: Node
    kind: str
    word: str
    box: Box

    @property
    def is_large(self) -> bool:
        return self.box.height > (_LARGE_TEXT if self.kind != "shape" else _LARGE_SHAPE)

    def fits(self, description: str) -> bool:
        return all(self._has(word) for word in description.split())

    def _has(self, word: str) -> bool:
        if word in {"large", "small"}:
            return self.is_large == (word == "large")
        if word in _COLOURS:
            return self.box.colour == _COLOURS[word]
        return word in {"item", self.kind, self.word}


def _things(page: MiniWobPage) -> list[_Thing]:
    found = []
    for node in page.unnamed(r"circle|rect|polygon of 3 corners|text"):
        if node.name == "text":
            word = next(page.after(node)).name
            kind = "digit" if word.isdigit() else "letter"
        else:
            kind, word = (
                "shape",
                {"circle": "circle", "rect": "rectangle"}.get(node.name, "triangle"),
            )
        found.append(_Thing(node, kind, word, box_of(node)))
    return found


def shape(goal: str, page: MiniWobPage) -> Moves:
    wanted = find(r"Click on an? (.*)", goal)[1]
    yield click(next(thing for thing in _things(page) if thing.fits(wanted)).node)


def count(goal: str, page: MiniWobPage) -> Moves:
    wanted = find(r"How many (.*)s are there", goal)[1]
    number = sum(thing.fits(wanted) for thing in _things(page))
    yield click(page.one("button", str(number)))


def kind_of_figure(_: str, page: MiniWobPage) -> Moves:
    thing = _things(page)[0]
    word = thing.word if thing.kind == "shape" else thing.kind
    names = {"digit": "Number", "letter": "Letter"}
    yield click(page.one("button", names.get(word, word.capitalize())))


def grid_point(goal: str, page: MiniWobPage) -> Moves:
    x, y = map(int, find(r"\((-?\d+),(-?\d+)\)", goal).groups())
    points = page.unnamed(r"circle.*")
    columns = sorted({box_of(node).left for node in points})
    rows = sorted({box_of(node).top for node in points}, reverse=True)
    left, top = columns[x + len(columns) // 2], rows[y + len(rows) // 2]
    for node in points:
        if (box_of(node).left, box_of(node).top) == (left, top):
            yield click(node)
            return
    raise UnsolvedError(f"no point at ({x},{y})")


def ascending(_: str, page: MiniWobPage) -> Moves:
    places = {
        int(node.name): box_of(next(box for box in page.before(node) if box.role == UNNAMED))
        for node in page.all("StaticText")
        if node.name.isdigit()
    }
    first, *others = sorted(places)
    page = yield click(page.text(str(first)))
    for number in others:  # the numbers are hidden after the first click
        page = yield click(next(n for n in page.unnamed("rect.*") if _holds(n, places[number])))


def _holds(node: Node, inner: Box) -> bool:
    outer = box_of(node)
    x, y = inner.left + inner.width / 2, inner.top + inner.height / 2
    return 0 <= x - outer.left <= outer.width and 0 <= y - outer.top <= outer.height


def noughts_and_crosses(_: str, page: MiniWobPage) -> Moves:
    moves = None if page.seed is None else winning_moves(page.seed)
    if moves is None:
        raise UnsolvedError(f"no line is won from the seed {page.seed}")
    for at in moves:
        page = yield click(page.unnamed(r"span#ttt-\d.*")[at])


_CANVAS = (2, 52, 152, 152)  # left, top, right, bottom, in pixels of the picture
_DARK = 128
_MOST_SIDES = 7


def sides(_: str, page: MiniWobPage) -> Moves:
    yield click(page.one("button", str(corners(page.picture))))


def corners(picture: Picture) -> int:
    """Return how many corners the outline in the picture has that the page draws on its canvas.

    The distance of a regular outline from its middle swings once from corner to corner: of the
    numbers of swings that there can be, the strongest.
    """
    with Image.open(BytesIO(picture.data)) as image:
        drawn = image.convert("L").crop(_CANVAS)
    dark = [
        complex(at % drawn.width, at // drawn.width)
        for at, light in enumerate(drawn.tobytes())
        if light < _DARK
    ]
    if not dark:
        raise UnsolvedError("the picture shows no outline")
    middle = sum(dark) / len(dark)
    outline = [cmath.polar(point - middle) for point in dark]
    mean = sum(distance for distance, _ in outline) / len(outline)

    def strength(count: int) -> float:
        turns = ((far - mean) * cmath.exp(-1j * count * angle) for far, angle in outline)
        return abs(sum(turns))

    return max(range(3, _MOST_SIDES + 1), key=strength)


_STEP = 24  # pixels that turn the cube by about 30 degrees
_START = (30, 300)
_TURNS = 16


def turned_cube(goal: str, page: MiniWobPage) -> Moves:
    """Turn the cube by the mouse until the side is in front, and submit.

    The second side to the sixth, that is in front at first, follow each other to the side; the
    first is reached upwards.
    """
    wanted = find(r'that "(\d)" is the active side', goal)[1]
    if _in_front(page) != wanted:
        x, y = _START
        dx, dy = (0, -_STEP // 2) if wanted == "1" else (_STEP, 0)
        yield MouseMove(x=x, y=y)
        page = yield MouseDown()
        for turn in range(1, _TURNS + 1):
            page = yield MouseMove(x=x + turn * dx, y=y + turn * dy)
            if _in_front(page) == wanted:
                break
        page = yield MouseUp()
    yield click(page.one("button", "Submit"))


def _in_front(page: MiniWobPage) -> str:
    return find(r'class="cube-image active"[^>]*>\s*(\d)', page.markup)[1]


_LOOK_S = 0.06  # between two looks: a button is lit for 250 ms, 350 ms before the next
_DARK_LOOKS = 8  # without light: the sequence is over


def repeated(_: str, page: MiniWobPage) -> Moves:
    order: list[int] = []
    lit: int | None = None
    dark = 0
    while not order or dark < _DARK_LOOKS:
        now = _lit(page)
        if now is not None and now != lit:
            order.append(now)
        dark = 0 if now is not None else dark + 1
        lit = now
        page = yield Wait(seconds=_LOOK_S)
    for element in order:
        yield Click(element=element)


def _lit(page: MiniWobPage) -> int | None:
    for tag in re.findall(r"<button [^>]*>", page.markup):
        if re.search(r'class="[^"]*\bpush\b', tag):
            return int(find(r'arena="(\d+)"', tag)[1])
    return None
