"""Reading numbers out of text as people write them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from evaluators.values.text import is_denied, normalise

# Every separator must be followed by a digit, so no text can make the pattern backtrack.
_NUMERAL = re.compile(r"(?:\d+(?:[.,' ]\d+)*|\.\d+)(?:e[+-]?\d+)?", re.IGNORECASE)
_SIGNS = "$¢£¤¥฿\u20a0-\u20c0"
_CODES = "AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|HKD|INR|JPY|KRW|MXN|NOK|NZD|PLN|RS|SEK|SGD|USD|ZAR"
_CURRENCY = re.compile(rf"(?:{_CODES}|[{_SIGNS}]|%)+", re.IGNORECASE)
_MINUS = re.compile(
    rf"(?:(?:^|[^\w%)])-|\b(?:minus|negative) )(?:(?:{_CODES}|[{_SIGNS}]) ?)?\Z", re.IGNORECASE
)
_MINUS_REACH = 16
_SCALES = {
    "k": Decimal(10**3),
    "thousand": Decimal(10**3),
    "mn": Decimal(10**6),
    "million": Decimal(10**6),
    "bn": Decimal(10**9),
    "billion": Decimal(10**9),
    "trillion": Decimal(10**12),
}
_SCALE = re.compile(rf" ?({'|'.join(_SCALES)})\b", re.IGNORECASE)
# Right before a numeral: it is denied, or a bound.
_BOUND = re.compile(
    r"(?:\b(?:not|never|cannot be|isn't|wasn't|aren't|(?:more|less|fewer|greater|higher|lower) than"
    r"|at (?:least|most)|no (?:more|less|fewer) than|up to|over|under|above|below|except"
    rf"|anything but)|[<>≤≥≠])\s*(?:an? |the |only |exactly )?(?:(?:{_CODES}|[{_SIGNS}]) ?)?\Z",
    re.IGNORECASE,
)
_BOUND_REACH = 32
_BOUND_AFTER = re.compile(
    r"\+(?!\w)| ?(?:[^\W\d_]+ )?(?:or|and) (?:more|less|fewer|over|above|below|under|up)\b",
    re.IGNORECASE,
)
_LEADING_SIGNS = re.compile(rf"[{_SIGNS} ]*")
_INDIAN = re.compile(r"[1-9]\d?(?:,\d{2})+,\d{3}(?:\.\d+)?")  # lakhs and crores: 2,52,687
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_ARABIC = {"\u066c": ",", "\u066b": "."}
_GROUP = 3
_LARGEST_EXPONENT = 308
_EXPONENT_LENGTH = 3


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers a text holds.

    Attributes:
        values: the different numbers, in the order of the text.
        unreadable: pieces that look like a number and cannot be read as one: `1.2.3`, `1e999`.
        bounds: pieces that deny a number or only bound it: `not 47`, `more than 47`, `<47`, `47+`.
    """

    values: tuple[Decimal, ...]
    unreadable: tuple[str, ...] = ()
    bounds: tuple[str, ...] = ()


def read_numbers(text: str) -> Numbers:
    """Read every number of a text.

    How numbers are read:

    - `1,234.50` and `1.234,50`: of two kinds of separator the last is the decimal one.
    - `1,234` is 1234: a lone comma before exactly three digits groups thousands; any other lone
      comma is a decimal one (`1,5`, `0,500`). A lone point is always a decimal point: `1.234` is
      1.234. `1.234.567`, `1 234` and `1'234` are grouped thousands.
    - `-5`, `-$5`, `$-5` are negative, with any dash; `3-5` holds 3 and 5. A text that is nothing
      but one amount in parentheses is negative, as accountants write it: `(50)`, `($1,234)`.
    - `minus 5` is -5; `47k`, `47 thousand`, `47 million` are scaled. `not 47`, `more than 47`,
      `<47`, `47 or more` are no value: `bounds` holds them.
    - `12%` is 12, `3 items` and `5km` are 3 and 5, `1.5e3` is 1500, `1½` is 1.5.
    - digits in a word that begins with a letter are no number (`m2`, `A4`), except after a
      currency's code: `EUR5`.
    - words (`three`, `a million`, `nan`, `inf`) are no numbers, and no number is infinite.
    """
    plain = with_plain_digits(text)
    values: list[Decimal] = []
    unreadable: list[str] = []
    bounds: list[str] = []
    for line in re.split(r"[\t\r\n]", plain):
        for numeral, is_negative, scale, bound in _numerals(normalise(line, case=True)):
            value = numeral_value(numeral)
            if value is None:
                unreadable.append(numeral)
                continue
            values.append((-value if is_negative else value) * scale)
            if bound:
                bounds.append(bound)
    if len(values) == 1 and _is_bracketed_amount(normalise(plain, case=True)):
        values = [-abs(values[0])]
    return Numbers(tuple(dict.fromkeys(values)), tuple(unreadable), tuple(bounds))


def with_plain_digits(text: str) -> str:
    """Write digits of all scripts, raised digits and vulgar fractions in ASCII.

    Compatibility forms would join them to their neighbour: NFKC makes 1½ into 11/2, 10² into 102.
    """
    if not any(one.isnumeric() or one in _ARABIC for one in _NOT_ASCII.findall(text)):
        return text
    plain: list[str] = []
    for character in text:
        previous = plain[-1][-1] if plain else ""
        decomposition = unicodedata.decomposition(character)
        if unicodedata.category(character) == "Nd":
            plain.append(str(unicodedata.decimal(character)))
        elif character in _ARABIC and previous.isdigit():
            plain.append(_ARABIC[character])
        elif decomposition.startswith("<fraction>") and character != "⅟":
            decimals = format(Decimal(str(unicodedata.numeric(character))), "f")
            plain.append(decimals.removeprefix("0") if previous.isdigit() else decimals)
        elif decomposition.startswith("<super>") and character.isdigit():
            if not previous.isalpha():
                plain.append(f"^{unicodedata.digit(character)}")
        else:
            plain.append(character)
    return "".join(plain)


def _numerals(line: str) -> list[tuple[str, bool, Decimal, str]]:
    """Return the numerals of one line: each with whether a minus stands before it, and its scale.

    And with the words that deny or bound it; empty for none.
    """
    found: list[tuple[str, bool, Decimal, str]] = []
    for match in _NUMERAL.finditer(line):
        if _is_in_word(line, match.start()):
            continue
        window = line[max(0, match.start() - _MINUS_REACH) : match.start()]
        first, *others = _apart(match.group())
        is_negative = _MINUS.search(window) is not None
        end = match.start() + len(first) if others else match.end()
        found.append((first, is_negative, _scale(line, end), _bound(line, match.start(), end)))
        found.extend((other, False, Decimal(1), "") for other in others)
    return found


def _scale(line: str, end: int) -> Decimal:
    """Return what a word right behind a numeral multiplies it with."""
    found = _SCALE.match(line, end)
    return Decimal(1) if found is None else _SCALES[found[1].casefold()]


def _bound(line: str, start: int, end: int) -> str:
    """Return the piece of a line that denies a numeral or only bounds it; empty for none."""
    before = _BOUND.search(line[max(0, start - _BOUND_REACH) : start])
    after = _BOUND_AFTER.match(line, end)
    if before is None and after is None and not is_denied(line, start):
        return ""
    return (before.group() if before else "") + line[start : after.end() if after else end]


def _is_in_word(line: str, start: int) -> bool:
    """Say whether digits at `start` belong to a word that began with a letter."""
    begin = start
    while begin > 0 and (line[begin - 1].isalpha() or line[begin - 1] == "_"):
        begin -= 1
    if begin == start or (begin > 0 and line[begin - 1].isdigit()):
        return False
    return _CURRENCY.fullmatch(line, begin, start) is None


def _is_bracketed_amount(text: str) -> bool:
    """Say whether the text is one amount in parentheses and nothing else."""
    opened = _LEADING_SIGNS.sub("", text, count=1)
    if not (opened.startswith("(") and opened.endswith(")")):
        return False
    rest = _NUMERAL.sub(" ", opened[1:-1], count=1)
    return all(_CURRENCY.fullmatch(word) or word == "-" for word in rest.split())


def _apart(numeral: str) -> tuple[str, ...]:
    """Part a numeral at its spaces, unless they group thousands."""
    pieces = numeral.split(" ")
    last, *_ = re.split(r"[.,eE]", pieces[-1], maxsplit=1)
    if len(pieces) > 1 and _is_grouped((*pieces[:-1], last)):
        return ("".join(pieces),)
    return tuple(pieces)


def numeral_value(numeral: str) -> Decimal | None:
    """Return the value of one numeral without spaces, None where it cannot be read."""
    mantissa, mark, exponent = numeral.lower().partition("e")
    digits = _ungrouped(mantissa)
    if digits is None or len(exponent.lstrip("+-")) > _EXPONENT_LENGTH:
        return None
    value = Decimal(f"{digits}{mark}{exponent}")
    return value if not value or abs(value.adjusted()) <= _LARGEST_EXPONENT else None


def _ungrouped(mantissa: str) -> str | None:
    """Return a mantissa with a decimal point and no thousands separators."""
    if _INDIAN.fullmatch(mantissa):
        return mantissa.replace(",", "")
    separators = [separator for separator in ".,'" if separator in mantissa]
    if not separators:
        return mantissa
    if len(separators) == 1:
        return _with_one_kind(mantissa, separators[0])
    decimal = max(separators, key=mantissa.rindex)
    grouping = separators[0] if separators[1] == decimal else separators[1]
    whole, _, fraction = mantissa.partition(decimal)
    is_sound = fraction.isdigit() and _is_grouped(whole.split(grouping)) and decimal != "'"
    return f"{whole.replace(grouping, '')}.{fraction}" if is_sound else None


def _with_one_kind(mantissa: str, separator: str) -> str | None:
    pieces = mantissa.split(separator)
    is_lone = len(pieces) == 2  # noqa: PLR2004
    if separator == "." and is_lone:
        return mantissa
    if _is_grouped(pieces):
        return "".join(pieces)
    return ".".join(pieces) if separator == "," and is_lone else None


def _is_grouped(pieces: Sequence[str]) -> bool:
    """Say whether digits in pieces are one number in groups of thousands."""
    first, *rest = pieces
    opens_well = first.isdigit() and len(first) <= _GROUP and not first.startswith("0")
    return opens_well and all(piece.isdigit() and len(piece) == _GROUP for piece in rest)
