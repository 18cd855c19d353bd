"""Pages on which colours, shapes and places decide."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.agents.wob.foreseen import winning_moves
from orchestrator.agents.wob.page import (
    Box,
    Moves,
    UnsolvedError,
    WobPage,
    box_of,
    click,
    find,
)
from orchestrator.observation import UNNAMED, Node

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


def coloured_box(goal: str, page: WobPage) -> Moves:
    """Click the box of a colour."""
    wanted = _COLOURS[find(r"Click on the (\w+) colored box", goal)[1]]
    yield click(next(n for n in page.unnamed(r"div\.color") if box_of(n).colour == wanted))


def greatest_card(_: str, page: WobPage) -> Moves:
    """Turn the card with the greatest number, and submit."""
    numbers = [node for node in page.all("StaticText") if node.name.isdigit()]
    greatest = max(numbers, key=lambda node: int(node.name))
    page = yield click(next(n for n in page.before(greatest) if n.name.startswith("div.card")))
    yield click(page.one("button", "Submit"))


def shades(goal: str, page: WobPage) -> Moves:
    """Click every box in which one of red, green and blue outweighs the others, and submit."""
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
        """Whether a description such as `large red digit` is true of it."""
        return all(self._has(word) for word in description.split())

    def _has(self, word: str) -> bool:
        if word in {"large", "small"}:
            return self.is_large == (word == "large")
        if word in _COLOURS:
            return self.box.colour == _COLOURS[word]
        return word in {"item", self.kind, self.word}


def _things(page: WobPage) -> list[_Thing]:
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


def shape(goal: str, page: WobPage) -> Moves:
    """Click a thing that the goal describes."""
    wanted = find(r"Click on an? (.*)", goal)[1]
    yield click(next(thing for thing in _things(page) if thing.fits(wanted)).node)


def count(goal: str, page: WobPage) -> Moves:
    """Count what the goal describes, and click that number."""
    wanted = find(r"How many (.*)s are there", goal)[1]
    number = sum(thing.fits(wanted) for thing in _things(page))
    yield click(page.one("button", str(number)))


def kind_of_figure(_: str, page: WobPage) -> Moves:
    """Click the word for the figure."""
    thing = _things(page)[0]
    word = thing.word if thing.kind == "shape" else thing.kind
    names = {"digit": "Number", "letter": "Letter"}
    yield click(page.one("button", names.get(word, word.capitalize())))


def grid_point(goal: str, page: WobPage) -> Moves:
    """Click the point of the grid that lies at the coordinates."""
    x, y = map(int, find(r"\((-?\d+),(-?\d+)\)", goal).groups())
    points = page.unnamed(r"circle.*")
    columns = sorted({box_of(node).left for node in points})
    rows = sorted({box_of(node).top for node in points}, reverse=True)
    left, top = columns[x + len(columns) // 2], rows[y + len(rows) // 2]
    for node in points:
        if (box_of(node).left, box_of(node).top) == (left, top):
            yield click(node)
            return
    message = f"no point at ({x},{y})"
    raise UnsolvedError(message)


def ascending(_: str, page: WobPage) -> Moves:
    """Click the numbers from the smallest to the largest."""
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
    """Whether an element's box holds the middle of another."""
    outer = box_of(node)
    x, y = inner.left + inner.width / 2, inner.top + inner.height / 2
    return 0 <= x - outer.left <= outer.width and 0 <= y - outer.top <= outer.height


def noughts_and_crosses(_: str, page: WobPage) -> Moves:
    """Win against a page whose moves follow from its seed."""
    moves = None if page.seed is None else winning_moves(page.seed)
    if moves is None:
        message = f"no line is won from the seed {page.seed}"
        raise UnsolvedError(message)
    for at in moves:
        page = yield click(page.unnamed(r"span#ttt-\d.*")[at])
