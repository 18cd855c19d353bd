"""Free text, codes and names: looked for as whole pieces."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from evaluators.answers.base import AnswerKind, Span
from evaluators.answers.cleaning import plain

_BEFORE: Final = r"(?<![\w+/\\.&$£€%~-])(?<!\w[@'])(?<!\d[,:])"
_AFTER: Final = r"(?![\w+/\\&%@#~-])(?!\.\w)(?!'\w)(?!(?<=\d)[,:]\d)"
_LETTERS: Final = str.maketrans(
    {"ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ß": "ss", "æ": "ae", "Æ": "AE"}
)


@dataclass(frozen=True, slots=True)
class TextKind(AnswerKind[str]):
    """Text that stands for itself: white space, quotes, dashes and case make no difference.

    Attributes:
        case: whether letters of another case differ.
        accents: whether letters with other accents are the same.
    """

    noun = "a text"
    is_words = True
    case: bool = False
    accents: bool = False

    def read(self, written: str) -> str:
        """Return its plain form."""
        text = self.prepare(plain(written)).rstrip(".")
        if not text:
            raise ValueError("asks for nothing: it has no letter or digit")
        return text

    def prepare(self, plain: str) -> str:
        """Return it; without accents where they make no difference."""
        return _folded(plain) if self.accents else plain

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

    noun = "a code"

    def is_same(self, found: str, wanted: str) -> bool:
        """Say whether they are the same characters."""
        one, two = _bare_code(found), _bare_code(wanted)
        return one == two if self.case else one.casefold() == two.casefold()

    def _pattern(self, wanted: str) -> str:
        spelt = r"\s?".join(map(re.escape, _VERSION.sub("", wanted.lstrip("#")).split()))
        return f"#?v?{spelt}" if _DOTTED.fullmatch(wanted) else f"#?{spelt}"


_VERSION: Final = re.compile(r"^v(?=\d+\.\d)", re.IGNORECASE)
_DOTTED: Final = re.compile(r"v?\d+(?:\.\d+)+", re.IGNORECASE)


def _bare_code(code: str) -> str:
    """Return a code without blanks and the signs ahead: `#12`, and of a version `v2.0`."""
    return _VERSION.sub("", "".join(code.split()).lstrip("#"))


@dataclass(frozen=True, slots=True)
class NameKind(TextKind):
    """The name of a person, a place or a thing.

    A first `the`, the stop behind an initial and `&` for `and` make no difference; a person's
    family name may stand first, with a comma. All accents may be left out (`Krakow`); with others
    it is another name, unless `accents`.
    """

    noun = "a name"

    def prepare(self, plain: str) -> str:
        """Return it without the sign ahead of a member's name: `@ada`, `u/ada`."""
        return _MEMBER.sub("", plain)

    def find(self, text: str, wanted: Sequence[str]) -> Sequence[Span[str]]:
        """Return where an expected name stands, with whatever accents."""
        bare = text
        if not text.isascii():
            bare = "".join(folded if len(folded := _folded(one)) == 1 else one for one in text)
        spans = _whole_pieces(bare, wanted, self._pattern, case=self.case)
        return [Span(span.start, span.end, text[span.start : span.end]) for span in spans]

    def is_same(self, found: str, wanted: str) -> bool:
        one, two = self._bare(found), self._bare(wanted)
        return one in {two, _folded(two)} or (self.accents and _folded(one) == _folded(two))

    def _bare(self, name: str) -> str:
        spelt = re.sub(r"(?<=\b\w)\.", "", name.replace("&", "and"))
        words = " ".join((spelt if self.case else spelt.casefold()).split()).removeprefix("the ")
        last, comma, first = words.partition(", ")
        return f"{first} {last}" if comma and "," not in first else words

    def _pattern(self, wanted: str) -> str:
        words = [_name_part(word) for word in wanted.split()]
        if wanted[:4].casefold() == "the " and len(words) > 1:
            words = words[1:]
        gap = r"\s+"
        pattern = rf"(?:the\s+)?{gap.join(words)}"
        if len(words) == 1 or "," in wanted:
            return pattern
        return rf"(?:{pattern}|{words[-1]},\s*{gap.join(words[:-1])})"


_MEMBER: Final = re.compile(r"(?<![\w@/.])(?:@|/?u/)(?=\w)")


@lru_cache(maxsize=1024)  # the same names are looked for in answer after answer
def _name_part(word: str) -> str:
    """Return a pattern for a word of a name: an initial with or without its stop, `&` or `and`."""
    if re.fullmatch(r"\w\.?", word):
        return rf"{re.escape(word[0])}\.?"
    if word.casefold() in {"&", "and"}:
        return "(?:&|and)"
    one_for_one = (folded if len(folded := _folded(one)) == 1 else one for one in word)
    escaped = re.escape("".join(one_for_one))
    return re.sub("[ßæÆ]", lambda found: rf"(?:{found.group()}|{_folded(found.group())})", escaped)


def _folded(text: str) -> str:
    """Return a text without accents."""
    parts = unicodedata.normalize("NFD", text.translate(_LETTERS))
    return "".join(one for one in parts if not unicodedata.combining(one))


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
