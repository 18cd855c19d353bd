"""Yes and no."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from evaluators.answers.base import Span

_YES: Final = (
    "yes",
    "y",
    "yep",
    "yeah",
    "true",
    "correct",
    "affirmative",
    "indeed",
    "that's right",
    "that is correct",
    "that's correct",
    "it is true",
)
_NO: Final = (
    "no",
    "n",
    "nope",
    "false",
    "negative",
    "incorrect",
    "that's wrong",
    "that is incorrect",
    "that is false",
    "not true",
)


@dataclass(frozen=True, slots=True)
class BooleanKind:
    """Yes or no.

    Attributes:
        yes, no: other words that mean them: `closed`, `open`.
    """

    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()
    noun: str = "a yes or a no"
    is_words: bool = False

    def read(self, written: str) -> bool:
        """Return which it is.

        Raises:
            ValueError: it is neither.
        """
        word = written.strip().casefold()
        if word in {*_YES, *self.yes}:
            return True
        if word in {*_NO, *self.no}:
            return False
        message = f"is neither true nor false: {written!r}"
        raise ValueError(message)

    def prepare(self, plain: str) -> str:
        """Return it as it is."""
        return plain

    def find(self, text: str, wanted: Sequence[bool]) -> Sequence[Span[bool]]:
        """Return every yes and no of a text, the other words for them too."""
        del wanted
        spans: list[Span[bool]] = []
        for found in self._pattern.finditer(text):
            word = found.group().casefold()
            own = word in {*(one.casefold() for one in self.yes), *_YES}
            negation = _IS_NEGATED.search(text[: found.start()].casefold())
            begin = found.start() if negation is None else negation.start()
            spans.append(Span(begin, found.end(), own is (negation is None)))
        return spans

    def is_same(self, found: bool, wanted: bool) -> bool:  # noqa: FBT001 - the values are booleans
        """Say whether they are the same."""
        return found is wanted

    @property
    def _pattern(self) -> re.Pattern[str]:
        words = sorted({*_YES, *_NO, *self.yes, *self.no}, key=len, reverse=True)
        return re.compile(
            rf"(?<![\w'/-])(?:{'|'.join(map(re.escape, words))})(?![\w'/-])", re.IGNORECASE
        )


_IS_NEGATED: Final = re.compile(r"(?:\bnot|n't)\s(?:yet\s|currently\s)?$")
