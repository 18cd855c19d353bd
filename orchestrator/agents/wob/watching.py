"""Pages that move or blink, or that only their markup or a picture of them tells of."""

from __future__ import annotations

import cmath
import re
from io import BytesIO

from PIL import Image

from arena_core.actions import Click, MouseDown, MouseMove, MouseUp, Wait
from orchestrator.agents.wob.page import Moves, UnsolvedError, WobPage, click, find
from orchestrator.observation import Picture

_CANVAS = (2, 52, 152, 152)  # left, top, right, bottom, in pixels of the picture
_DARK = 128
_MOST_SIDES = 7


def sides(_: str, page: WobPage) -> Moves:
    """Count the corners of the polygon in the picture, and click that number."""
    yield click(page.one("button", str(corners(page.picture))))


def corners(picture: Picture) -> int:
    """Return how many corners the outline in the picture has that the page draws on its canvas.

    The distance of a regular outline from its middle swings once from corner to corner: of the
    numbers of swings that there can be, the strongest.

    Raises:
        UnsolvedError: nothing is drawn there.
    """
    with Image.open(BytesIO(picture.data)) as image:
        drawn = image.convert("L").crop(_CANVAS)
    dark = [
        complex(at % drawn.width, at // drawn.width)
        for at, light in enumerate(drawn.tobytes())
        if light < _DARK
    ]
    if not dark:
        message = "the picture shows no outline"
        raise UnsolvedError(message)
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


def turned_cube(goal: str, page: WobPage) -> Moves:
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


def _in_front(page: WobPage) -> str:
    return find(r'class="cube-image active"[^>]*>\s*(\d)', page.markup)[1]


_LOOK_S = 0.06  # between two looks: a button is lit for 250 ms, 350 ms before the next
_DARK_LOOKS = 8  # without light: the sequence is over


def repeated(_: str, page: WobPage) -> Moves:
    """Watch which buttons light up, and push them in that order."""
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


def _lit(page: WobPage) -> int | None:
    """Return the button that is lit."""
    for tag in re.findall(r"<button [^>]*>", page.markup):
        if re.search(r'class="[^"]*\bpush\b', tag):
            return int(find(r'arena="(\d+)"', tag)[1])
    return None
