"""Text as checks compare it: one normal form, whole words, and how values are shown in reasons."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

_UNSEEN_CATEGORIES = frozenset({"Cc", "Cf"})
_TRADE_MARKS = frozenset("™®©℠")
_VARIATION_SELECTORS = frozenset(map(chr, range(0xFE00, 0xFE10)))
_TYPOGRAPHY = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc\u00b4", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    }
)
_THOUSANDS_OR_DECIMAL = frozenset(".,'")
_SHOWN_LENGTH = 80
_SHOWN_VALUES = 5


@lru_cache(maxsize=1024)  # the same pages and expectations come again with every step
def normalise(text: str, *, case: bool = False) -> str:
    """Bring text into the one form in which both sides of a check are compared.

    Unicode NFKC; invisible characters (soft hyphens, zero-width and control characters) and trade
    mark signs dropped; typographic quotes and dashes made plain; white space collapsed and
    stripped; case folded (Unicode 3.13, D146) unless `case`. Applying it twice changes nothing.
    """
    if text.isascii() and text.isprintable():  # composing, dropping and replacing change nothing
        return " ".join((text if case else text.casefold()).split())
    seen = "".join(character for character in text if not _is_unseen(character))
    if case:
        composed = unicodedata.normalize("NFKC", seen.translate(_TYPOGRAPHY))
    else:
        folded = unicodedata.normalize("NFD", seen.translate(_TYPOGRAPHY)).casefold()
        composed = unicodedata.normalize("NFKC", folded).casefold()
        composed = unicodedata.normalize("NFKC", composed)
    return " ".join(composed.translate(_TYPOGRAPHY).split())


def holds_words(text: str, wanted: str) -> bool:
    """Say whether normalised `text` holds normalised `wanted` as whole words.

    A word ends where letters, digits, accents and underscores end. A number is one word with its
    sign, its thousands separators and its decimals: `5` is not in `5.5`, `1,235` or `-5`, `12` is
    not in `2012`; it is in `5%`, `(5)`, `3-5` and `5.`. Scripts that write without spaces need
    `substring`. Nothing holds the empty text.
    """
    if not wanted:
        return False
    start = text.find(wanted)
    while start >= 0:
        if not (_is_inside_word(text, start) or _is_inside_word(text, start + len(wanted))):
            return True
        start = text.find(wanted, start + 1)
    return False


def shown(value: str) -> str:
    """Return a value quoted, on one line, and short enough for a sentence."""
    line = " ".join(value.split())
    short = line if len(line) <= _SHOWN_LENGTH else line[: _SHOWN_LENGTH - 1] + "…"
    return f"'{short}'"


def shown_all(values: Sequence[str]) -> str:
    """Return several values as a reader wants them: each once, the first few, then a count."""
    different = tuple(dict.fromkeys(values))
    first = ", ".join(shown(value) for value in different[:_SHOWN_VALUES])
    more = len(different) - _SHOWN_VALUES
    return f"{first} and {more} more" if more > 0 else first


def _is_unseen(character: str) -> bool:
    if character in _TRADE_MARKS or character in _VARIATION_SELECTORS:
        return True
    return unicodedata.category(character) in _UNSEEN_CATEGORIES and not character.isspace()


def _is_inside_word(text: str, position: int) -> bool:
    """Say whether a cut before `position` would part a word or a number."""
    if not 0 < position < len(text):
        return False
    left, right = text[position - 1], text[position]
    if _is_word_part(left) and _is_word_part(right):
        return True
    before = text[position - 2] if position > 1 else ""
    after = text[position + 1] if position + 1 < len(text) else ""
    if right in _THOUSANDS_OR_DECIMAL:
        return left.isdigit() and after.isdigit()
    if left == "-":
        opens_amount = right.isdigit() or unicodedata.category(right) == "Sc"
        return opens_amount and not before.isalnum()
    if left == "." and right.isdigit():
        return not before.isalpha()
    return left in _THOUSANDS_OR_DECIMAL and before.isdigit() and right.isdigit()


def _is_word_part(character: str) -> bool:
    return (
        character.isalnum() or character == "_" or unicodedata.category(character).startswith("M")
    )
