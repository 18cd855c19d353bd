"""What two pages say differently, from the texts that an agent saw of them."""

from __future__ import annotations

import re
from calendar import day_abbr, day_name, month_abbr, month_name
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from pathlib import Path
from typing import Final

from arena_core.errors import StoreError
from orchestrator.analysis.run_report.evidence import seen_texts

# With a line an element, and without addresses and scripts, which differ in all pages.
_FORMS: Final = ("axtree", "aria")
_MOST: Final = 2000  # lines of one page
_SHORTEST: Final = 2  # letters of what an action names
_ID: Final = re.compile(r"^\s*\[\d+\]\s*|\s*\[ref=\w+\]")
_TOKEN: Final = re.compile(r"[\w:.,/-]+")
_LONG: Final = 20  # letters: a session's id, an address
_DATES: Final = frozenset(
    name.lower() for name in (*month_name[1:], *month_abbr[1:], *day_name, *day_abbr)
) | {"am", "pm", "today", "yesterday", "tomorrow"}
_AGE: Final = re.compile(
    r"(?:#|\ban?) (?:second|minute|hour|day|week|month|year)s? ago\b|\bjust now\b", re.IGNORECASE
)
_ROLE: Final = re.compile(r"^[-\s]*\w+")
Page = tuple[str, ...]
"""The lines of a page, without the ids of its elements."""


@dataclass(frozen=True, slots=True)
class PageTexts:
    """What an agent saw in one episode.

    Attributes:
        forms: by the form of the observation, the page after each step; empty where no text of a
            form that can be compared was kept, or it cannot be read.
    """

    forms: Mapping[str, Mapping[int, Page]]

    @classmethod
    def read(cls, folder: Path | None) -> PageTexts:
        """Read an attempt's folder; nothing where there is none."""
        try:
            seen = {} if folder is None else seen_texts(folder)
        except StoreError:
            seen = {}  # no score needs it, and no cause rests on half of it
        forms: dict[str, dict[int, Page]] = {}
        for step, texts in seen.items():
            for form in texts.keys() & set(_FORMS):
                forms.setdefault(form, {})[step] = tuple(_lines(texts[form]))
        return cls(forms)

    def lines(self, form: str) -> frozenset[str]:
        """Return all that was read in an episode, without what changes by itself."""
        pages = self.forms.get(form, {}).values()
        return frozenset(_lasting(line) for page in pages for line in page)


@dataclass(frozen=True, slots=True)
class TextDifference:
    """The first lines that differ, and why they count; a line is empty where a page has none.

    Attributes:
        is_named: what the agent did names what one of the lines says, and the other page does not
            say anywhere.
    """

    offline: str
    online: str
    is_named: bool


def text_difference(
    texts: tuple[PageTexts, PageTexts],
    shared: Sequence[tuple[int, int]],
    named: tuple[Sequence[str], Sequence[str]],
    repeats: tuple[Sequence[PageTexts], Sequence[PageTexts]] = ((), ()),
) -> TextDifference | None:
    """Return what two pages say differently before an agent did something else.

    A line that the action names in one world counts where the other page says nothing of it. Any
    other counts where it differs by more than numbers, dates and ids; where no earlier page, on
    which the agent did the same in both worlds, differed by it; and where all repeats in its world
    read it.

    Args:
        shared: the steps that both share, the last one the page that they decided on.
        named: the words that name what each did then.
    """
    form = next((one for one in _FORMS if all(one in text.forms for text in texts)), None)
    if form is None or not shared:
        return None
    pages = [_pages(texts, form, at) for at in shared]
    if (now := pages[-1]) is None:
        return None
    apart = tuple(_apart(*now))
    missing = [_missing(words, other) for words, other in zip(named, reversed(now), strict=True)]
    for lines in apart:
        if any(
            _says(line, word) for line, words in zip(lines, missing, strict=True) for word in words
        ):
            return TextDifference(*lines, is_named=True)
    differed = {
        _lasting(line) for one in pages[:-1] if one for pair in _apart(*one) for line in pair
    }
    there = [frozenset(map(_lasting, page)) for page in now]
    read = [[one.lines(form) for one in mine] for mine in repeats]
    for lines in apart:
        lasting = [_lasting(line) for line in lines]
        if any(
            line
            and line not in differed | there[1 - side]
            and all(line in one for one in read[side])
            for side, line in enumerate(lasting)
        ):
            return TextDifference(*lines, is_named=False)
    return None


def _pages(
    texts: tuple[PageTexts, PageTexts], form: str, at: tuple[int, int]
) -> tuple[Page, Page] | None:
    first, second = (text.forms[form].get(step) for text, step in zip(texts, at, strict=True))
    return None if first is None or second is None else (first, second)


def _lines(text: str) -> Iterable[str]:
    found = (" ".join(_ID.sub("", line).split()) for line in text.splitlines()[:_MOST])
    return (line for line in found if line)


def _lasting(line: str) -> str:
    """Return a line without what changes by itself; empty where but its role is left of it.

    That is what has a digit in it, dates, ages, and what is as long as an id.
    """
    left = _AGE.sub("#", _TOKEN.sub(_masked, line))
    return left if re.search(r"\w", _ROLE.sub("", left)) else ""


def _masked(found: re.Match[str]) -> str:
    token = found[0]
    is_moving = len(token) >= _LONG or any(map(str.isdigit, token))
    return "#" if is_moving or token.strip(":.,/-").lower() in _DATES else token


def _apart(first: Page, second: Page) -> Iterator[tuple[str, str]]:
    """Yield the lines that one page alone has, beside what stands in their place."""
    here, there = frozenset(first), frozenset(second)
    matched = SequenceMatcher(None, first, second, autojunk=False)
    for tag, start, end, begin, stop in matched.get_opcodes():
        if tag != "equal":
            only = (
                [line for line in first[start:end] if line not in there],
                [line for line in second[begin:stop] if line not in here],
            )
            yield from zip_longest(*only, fillvalue="")


def _missing(words: Sequence[str], page: Page) -> list[str]:
    return [word for word in words if not any(_says(line, word) for line in page)]


def _says(line: str, word: str) -> bool:
    if len(word) < _SHORTEST:
        return False
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", line, re.IGNORECASE) is not None
