"""Text as checks compare it: one normal form, whole words, and how values are shown in reasons."""

from __future__ import annotations

import re
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
        "\u2044": "/",
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    }
)
# Between digits they part neither a number nor a time.
_IN_NUMBERS = frozenset(".,':")
_MAIL_PARTS = frozenset(".+-%'")
# Digits in groups of three, parted by spaces: one number. More digits beside them, and it is not.
_GROUPED = re.compile(r"(?<![\d.,'])(?<!\d )\d{1,3}(?: \d{3})+(?!\d| \d)")
_SHOWN_LENGTH = 80
_SHOWN_VALUES = 5
_GROUP_REACH = 32
# What keeps a digit apart from one before it, by how it is written.
_APART = {"<super>": "^", "<sub>": "_", "<fraction>": " ", "<circle>": " "}
_RAISED = frozenset("^_")


@lru_cache(maxsize=1024)  # the same pages and expectations come again with every step
def normalise(text: str, *, case: bool = False) -> str:
    """Bring text into the one form in which both sides of a check are compared.

    A raised or lowered digit that follows a digit, and a fraction that does, stay apart from it
    (`10²` is `10^2`, `1½` is `1 1/2`): NFKC would make other numbers of them.

    Unicode NFKC; invisible characters (soft hyphens, zero-width and control characters) and trade
    mark signs dropped; typographic quotes and dashes made plain; white space collapsed and
    stripped; case folded (Unicode 3.13, D146) unless `case`. Applying it twice changes nothing.
    """
    if text.isascii() and text.isprintable():  # composing, dropping and replacing change nothing
        return " ".join((text if case else text.casefold()).split())
    seen = _parted("".join(character for character in text if not _is_unseen(character)))
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
    sign, its thousands separators and its decimals: `5` is not in `5.5`, `1,235`, `1 005`, `12:05`
    or `-5`, `12` is not in `2012`; it is in `5%`, `(5)`, `3-5` and `5.`. `C` is not in `C++` or
    `C#`, and an e-mail address not in a longer one. Scripts that write without spaces need
    `substring`. Nothing holds the empty text.
    """
    if not wanted:
        return False
    whole = _MAIL_PARTS if "@" in wanted else frozenset()
    start = text.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        outside = (text[start - 1 : start], text[end : end + 1])
        is_part = outside[0] in whole or (outside[1] in whole and text[end + 1 : end + 2].isalnum())
        is_part = is_part or _is_inside_group(text, start) or _is_inside_group(text, end)
        if not (is_part or _is_inside_word(text, start) or _is_inside_word(text, end)):
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


def _parted(text: str) -> str:
    """Part raised and lowered digits and fractions from a digit that they follow."""
    if text.isascii():
        return text
    parted: list[str] = []
    for character in text:
        before = parted[-1][-1] if parted else ""
        kind = unicodedata.decomposition(character).partition(" ")[0]
        if kind in _APART and before.isdigit() and character.isnumeric():
            is_power = before in _RAISED or unicodedata.decomposition(before).startswith(kind)
            parted.append(character if is_power else f"{_APART[kind]}{character}")
        else:
            parted.append(character)
    return "".join(parted)


def _is_inside_group(text: str, position: int) -> bool:
    """Say whether a cut before `position` would part a number in groups of thousands."""
    near = text[max(0, position - 1) : position + 1]
    if " " not in near or not any(map(str.isdigit, near)):
        return False
    begin = max(0, position - _GROUP_REACH)
    return any(
        begin + found.start() < position < begin + found.end()
        for found in _GROUPED.finditer(text[begin : position + _GROUP_REACH])
    )


def _is_inside_word(text: str, position: int) -> bool:
    """Say whether a cut before `position` would part a word or a number."""
    if not 0 < position < len(text):
        return False
    left, right = text[position - 1], text[position]
    if _is_word_part(left) and _is_word_part(right):
        return True
    before = text[position - 2] if position > 1 else ""
    after = text[position + 1] if position + 1 < len(text) else ""
    if right == "#" or (right == after == "+"):
        return left.isalnum()
    if right in _IN_NUMBERS or (left in _IN_NUMBERS and (left != "." or before.isdigit())):
        return (right if left in _IN_NUMBERS else after).isdigit() and (
            before if left in _IN_NUMBERS else left
        ).isdigit()
    if left == "-":
        opens_amount = right.isdigit() or unicodedata.category(right) == "Sc"
        return opens_amount and not before.isalnum()
    return left == "." and right.isdigit() and not before.isalpha()


def _is_word_part(character: str) -> bool:
    return (
        character.isalnum() or character == "_" or unicodedata.category(character).startswith("M")
    )
