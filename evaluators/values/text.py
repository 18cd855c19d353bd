"""The normal form of text, which texts are equal, and the text of what databases and JSON hold."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from decimal import Decimal
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
# Right before a text: it is denied.
_DENIAL = re.compile(
    r"(?:\b(?:not|never|no longer|neither|nor|without|cannot|anything but|except|no)|n't) "
    r"(?:(?:an?|the|yet|ever|been|be|currently|really|actually|exactly) )*['\"]?\Z",
    re.IGNORECASE,
)
_DENIAL_REACH = 48
# What keeps a digit apart from one before it, by how it is written.
_APART = {"<super>": "^", "<sub>": "_", "<fraction>": " ", "<circle>": " "}
_RAISED = frozenset("^_")


_PLAIN_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")


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


def is_denied(text: str, position: int) -> bool:
    """Say whether what stands at a position of a normalised text is denied: `not paid`."""
    found = _DENIAL.search(text, max(0, position - _DENIAL_REACH), position)
    is_number = found is not None and found.group() == "no " and text[position].isdigit()
    return found is not None and not is_number  # `order no 5`


def holds_words(text: str, wanted: str, *, said: bool = False) -> bool:
    """Say whether normalised `text` holds normalised `wanted` as whole words.

    Where it must be `said`, no place right behind a negation counts: `not paid` says no `paid`.

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
        is_part = is_part or _is_inside_word(text, start) or _is_inside_word(text, end)
        if not is_part and not (said and is_denied(text, start)):
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


def rows_as_text(rows: Sequence[Sequence[object]]) -> tuple[str, ...]:
    """Return one value per row, columns joined with ` | `."""
    return tuple(" | ".join(as_text(cell) for cell in row) for row in rows)


def as_text(value: object) -> str:
    """Return a database's or JSON's value as the text that matchers compare."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case bytes():
            return value.decode("utf-8", "replace")
        case Mapping() | list():
            return json.dumps(value, ensure_ascii=False, sort_keys=True)
        case _:
            return str(value)


def is_equal(found: str, wanted: str | float, *, case: bool = False) -> bool:
    """Say whether a value equals the expected one.

    Text equals after both sides are normalised, unless nothing is left of what is expected (`™`):
    then the value must be that very text. A number equals text that is that number and nothing
    else, however many zeros it is written with.
    """
    value = normalise(found, case=case)
    if not isinstance(wanted, str):
        return _plain_number(value) == Decimal(str(wanted))
    text = normalise(wanted, case=case)
    return value == text and (bool(text) or not wanted.strip() or found.strip() == wanted.strip())


def _plain_number(value: str) -> Decimal | None:
    """Return the value of text that is one number and nothing else, None for any other text."""
    return Decimal(value) if _PLAIN_NUMBER.fullmatch(value) else None
