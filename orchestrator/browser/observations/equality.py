"""Whether two observations are equal, in every form asked for, and what differs first."""

from __future__ import annotations

from io import BytesIO
from itertools import zip_longest
from typing import Final

from PIL import Image, ImageChops

from orchestrator.browser.observation import (
    AxTree,
    MarkedPicture,
    Node,
    Observation,
    Picture,
    Tab,
)

_LONGEST: Final = 120
_CARET: Final = (2, 80)  # pixels: as wide and as high as it is at most
_FAINT: Final = 16  # of 255, and the most pixels that may differ by that
_MOST_FAINT: Final = 200


def first_difference(source: Observation, other: Observation) -> str | None:
    """Say in words what differs first; None if URL, title, tabs and all parts are equal.

    Texts are compared literally, pictures but for what no eye sees and a blinking caret. Step
    numbers and errors of actions are not compared.
    """
    for what, one, two in (
        ("the URL", source.url, other.url),
        ("the title", source.title, other.title),
    ):
        if one != two:
            return f"{what} is {_brief(two)} instead of {_brief(one)}"
    tabs = _first_line(tuple(map(_tab, source.tabs)), tuple(map(_tab, other.tabs)))
    if tabs:
        return f"the tabs differ: {tabs}"
    if source.parts.keys() != other.parts.keys():
        return f"forms are {sorted(other.parts)} instead of {sorted(source.parts)}"
    for name, part in source.parts.items():
        if not _are_equal(part, other.parts[name]):
            return f"{name} differs: {_part_difference(part, other.parts[name])}"
    return None


def _are_equal(one: object, two: object) -> bool:
    match one, two:
        case Picture(), Picture():
            return one == two or _look_alike(one, two)
        case MarkedPicture(), MarkedPicture():
            return one.marks == two.marks and _are_equal(one.picture, two.picture)
        case _:
            return one == two


def _look_alike(one: Picture, two: Picture) -> bool:
    """Whether pictures differ by no more than a blinking caret and edges drawn again.

    Chromium smooths a round edge a little differently where it draws only a part of a page again.
    """
    if (one.width, one.height) != (two.width, two.height):
        return False
    with Image.open(BytesIO(one.data)) as before, Image.open(BytesIO(two.data)) as after:
        red, green, blue = ImageChops.difference(
            before.convert("RGB"), after.convert("RGB")
        ).split()
    change = ImageChops.lighter(ImageChops.lighter(red, green), blue)
    strong = change.point([level if level > _FAINT else 0 for level in range(256)])
    left, top, right, bottom = strong.getbbox() or (0, 0, 0, 0)
    is_caret = right - left <= _CARET[0] and bottom - top <= _CARET[1]
    return is_caret and sum(change.histogram()[1 : _FAINT + 1]) <= _MOST_FAINT


def _tab(tab: Tab) -> str:
    current = " (current)" if tab.is_current else ""
    login = f" as {tab.login}" if tab.login else ""
    return f'tab {tab.index} "{tab.title}" {tab.url}{login}{current}'


def _part_difference(one: object, two: object) -> str:
    texts = getattr(one, "text", None), getattr(two, "text", None)
    if isinstance(texts[0], str) and isinstance(texts[1], str) and texts[0] != texts[1]:
        return _first_line(texts[0].split("\n"), texts[1].split("\n"))
    if isinstance(one, MarkedPicture) and isinstance(two, MarkedPicture) and one.marks != two.marks:
        return _first_line([str(mark) for mark in one.marks], [str(mark) for mark in two.marks])
    if isinstance(one, AxTree) and isinstance(two, AxTree):
        return _first_line(
            [_unsaid(node) for node in one.nodes], [_unsaid(node) for node in two.nodes]
        )
    if isinstance(one, Picture | MarkedPicture):
        return "the pictures are not the same"
    return f"{_brief(str(two))} instead of {_brief(str(one))}"


def _unsaid(node: Node) -> str:
    """Return what the text of a tree leaves out."""
    return f"{node.url} (level {node.level}) of {node.role} {node.name}"


def _first_line(one: tuple[str, ...] | list[str], two: tuple[str, ...] | list[str]) -> str:
    for number, (before, after) in enumerate(zip_longest(one, two), start=1):
        if before != after:
            if before is None:
                return f"line {number} is {_brief(after)}, where there was none"
            if after is None:
                return f"line {number} is missing: {_brief(before)}"
            return f"line {number} is {_brief(after)} instead of {_brief(before)}"
    return ""


def _brief(text: str) -> str:
    one_line = " ".join(text.split())
    return f"'{one_line if len(one_line) <= _LONGEST else one_line[: _LONGEST - 1] + '…'}'"
