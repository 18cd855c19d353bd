"""A page's tree in parts that fit the budget: nothing of it is out of reach of scrolling."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from arena_core.actions import Action, Scroll, ScrollDirection

LINE_SHOWN = 2_000
_SHORTEST = 40
_LABEL = re.compile(r" *(?P<label>\[\d+\])")
# After a blank or between values of JSON, but not inside `1,299.00`.
_GOOD_BREAK = re.compile(r'.*(?:\s|;|,(?=["{\[]))', re.DOTALL)
_BREAK_SOUGHT = 100  # characters before the limit in which a line is rather broken


@dataclass(frozen=True, slots=True)
class PagePart:
    """The part of a page's tree that fits the budget.

    Attributes:
        index: which part, from 0.
        count: how many there are.
    """

    text: str
    index: int
    count: int


class PageTurner:
    """Shows one part of a long page at a time: scrolling turns to the next or the last one.

    Args:
        budget: how many characters a part has at most.
    """

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._index = 0
        self._url = ""

    def turn(self, text: str, url: str, done: Action | None) -> PagePart:
        """Return the part to show of a page, to which the action led; another page begins anew."""
        match done:
            case Scroll(direction=ScrollDirection.DOWN, element=None):
                self._index += 1
            case Scroll(direction=ScrollDirection.UP, element=None):
                self._index -= 1
            case _:
                pass
        part = part_of_page(text, self._budget, self._index if url == self._url else 0)
        self._index, self._url = part.index, url
        return part


def part_of_page(text: str, budget: int, index: int) -> PagePart:
    """Cut a page's tree into parts of at most `budget` characters and return one of them.

    Parts end at line ends. Of a line longer than `LINE_SHOWN` the start stands in its place, so
    that one long text hides no other element; the rest follows after the page's last line. An
    `index` beyond the last part gives the last.
    """
    parts: list[list[str]] = [[]]
    size = 0
    for line in _lines(text.splitlines(), _longest(budget)):
        if parts[-1] and size + len(line) + 1 > budget:
            parts.append([])
            size = 0
        parts[-1].append(line)
        size += len(line) + 1
    index = max(0, min(index, len(parts) - 1))
    return PagePart("\n".join(parts[index]) or "(an empty page)", index, len(parts))


def _longest(budget: int) -> int:
    """Return how long a line may be: never most of a part."""
    return min(LINE_SHOWN, max(_SHORTEST, budget // 4))


def _lines(lines: Iterable[str], limit: int) -> Iterator[str]:
    """Yield lines of at most `limit` characters: first all starts, then the rests in order."""
    long: list[tuple[str, int]] = []
    for line in lines:
        whole = line.rstrip()
        if len(whole) <= limit:
            yield whole
        else:
            end = _break(whole, 0, limit - 1)
            long.append((whole, end))
            yield f"{whole[:end]}…"
    for whole, end in long:
        yield from _rest(whole, end, limit)


def _rest(line: str, start: int, limit: int) -> Iterator[str]:
    """Yield what a line has from `start` on, in lines that say whose it is."""
    found = _LABEL.match(line)
    head = f"{found['label'] if found else ''} goes on: …"
    room = max(1, limit - len(head) - 1)
    while len(line) - start > room + 1:
        end = _break(line, start, start + room)
        yield f"{head}{line[start:end]}…"
        start = end
    yield f"{head}{line[start:]}"


def _break(line: str, start: int, limit: int) -> int:
    """Return where to break a line, at most at `limit`: not in a word or number if it can be."""
    least = max(start + 1, limit - _BREAK_SOUGHT)
    near = _GOOD_BREAK.match(line, least, limit)
    return near.end() if near else limit
