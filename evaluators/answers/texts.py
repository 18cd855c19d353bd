"""Free text, codes, names, e-mail addresses, telephone numbers: looked for as whole pieces."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from evaluators.answers.base import Span
from evaluators.answers.cleaning import plain

_BEFORE: Final = r"(?<![\w+/\\.&$£€%~-])(?<!\w[@'])(?<!\d[,:])"
_AFTER: Final = r"(?![\w+/\\&%@#~-])(?!\.\w)(?!'\w)(?!(?<=\d)[,:]\d)"
_LETTERS: Final = str.maketrans(
    {"ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ß": "ss", "æ": "ae", "Æ": "AE"}
)


@dataclass(frozen=True, slots=True)
class TextKind:
    """Text that stands for itself: white space, quotes, dashes and case make no difference.

    Attributes:
        case: whether letters of another case differ.
    """

    noun: str = "a text"
    case: bool = False
    is_words: bool = True

    def read(self, written: str) -> str:
        """Return its plain form."""
        text = self.prepare(plain(written)).rstrip(".")
        if not text:
            message = "asks for nothing: it has no letter or digit"
            raise ValueError(message)
        return text

    def prepare(self, plain: str) -> str:
        """Return it as it is."""
        return plain

    def find(self, text: str, wanted: Sequence[str]) -> Sequence[Span[str]]:
        """Return where an expected text stands as a whole piece."""
        return _whole_pieces(text, wanted, self._pattern, case=self.case)

    def is_same(self, found: str, wanted: str) -> bool:
        """Say whether they differ in white space and, unless `case`, in case alone."""
        one, two = " ".join(found.split()), " ".join(wanted.split())
        return one == two if self.case else one.casefold() == two.casefold()

    def _pattern(self, wanted: str) -> str:
        return r"\s+".join(re.escape(word) for word in wanted.split())


@dataclass(frozen=True, slots=True)
class CodeKind(TextKind):
    """An identifier: `WSH09-29-White`, `MW1 1AA`, `#102793`; spaces in it may be left out."""

    noun: str = "a code"

    def is_same(self, found: str, wanted: str) -> bool:
        """Say whether they are the same characters."""
        one, two = "".join(found.split()).lstrip("#"), "".join(wanted.split()).lstrip("#")
        return one == two if self.case else one.casefold() == two.casefold()

    def _pattern(self, wanted: str) -> str:
        return "#?" + r"\s?".join(re.escape(word) for word in wanted.lstrip("#").split())


@dataclass(frozen=True, slots=True)
class NameKind(TextKind):
    """The name of a person, a place or a thing.

    Accents make no difference, nor does a first `the`; a person's family name may stand first, with
    a comma.
    """

    noun: str = "a name"

    def prepare(self, plain: str) -> str:
        """Return it without accents."""
        parts = unicodedata.normalize("NFD", plain.translate(_LETTERS))
        return "".join(one for one in parts if not unicodedata.combining(one))

    def is_same(self, found: str, wanted: str) -> bool:
        """Say whether they name the same."""
        one, two = self._bare(found), self._bare(wanted)
        return one == two

    def _bare(self, name: str) -> str:
        words = " ".join(name.split())
        last, comma, first = words.partition(", ")
        whole = words if self.case else words.casefold()
        if comma and "," not in first:
            turned = f"{first} {last}"
            whole = min(whole, turned if self.case else turned.casefold())
        return whole.removeprefix("the ")

    def _pattern(self, wanted: str) -> str:
        words = [re.escape(word) for word in wanted.split()]
        if words[0].casefold() == "the" and len(words) > 1:
            words = words[1:]
        pattern = r"\s+".join(words)
        if len(words) == 2 and "," not in wanted:  # noqa: PLR2004 - given name, family name
            return rf"(?:(?:the\s+)?{pattern}|{words[1]},\s*{words[0]})"
        return rf"(?:the\s+)?{pattern}"


@lru_cache(maxsize=512)
def _compiled(pattern: str, *, case: bool) -> re.Pattern[str]:
    return re.compile(f"{_BEFORE}(?:{pattern}){_AFTER}", 0 if case else re.IGNORECASE)


def _whole_pieces(
    text: str, wanted: Sequence[str], pattern_of: object, *, case: bool
) -> list[Span[str]]:
    longest = sorted(wanted, key=len, reverse=True)
    pattern = "|".join(pattern_of(one) for one in longest)  # type: ignore[operator]
    return [
        Span(found.start(), found.end(), found.group())
        for found in _compiled(pattern, case=case).finditer(text)
    ]
