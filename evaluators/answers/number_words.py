"""Numbers in English words: `two hundred and five`, `two and a half`, `twenty-third`."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

_ONES: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS: Final = (
    *("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen"),
    *("sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SCALES: Final = (("billion", 10**9), ("million", 10**6), ("thousand", 10**3))
_VALUES: Final = {
    "zero": 0,
    "a": 1,
    **{word: value for value, word in enumerate((*_ONES, *_TEENS), start=1)},
    **{word: 10 * value for value, word in enumerate(_TENS, start=2)},
}
_WORD: Final = "|".join(
    ("zero", *_TEENS, *(f"{ten}" for ten in _TENS), *_ONES, "hundred", *(one for one, _ in _SCALES))
)
_GROUP: Final = re.compile(
    rf"(?:(?P<hundreds>a|{'|'.join(_ONES)})? ?hundred)?(?:(?<=hundred)(?: and)? |)"
    rf"(?:(?P<tens>{'|'.join(_TENS)})(?: (?P<ones>{'|'.join(_ONES)}))?"
    rf"|(?P<small>{'|'.join((*_TEENS, *_ONES))}))?"
)

# Words that may be a number; `read_words` says whether they are one.
WORDS_PATTERN: Final = (
    rf"(?:a\s(?=hundred|thousand|million|billion))?(?:{_WORD})\b"
    rf"(?:(?:-|\s(?:and\s)?)(?:{_WORD})\b)*(?:\sand\s(?:a\s(?:half|quarter)|three[- ]quarters)\b)?"
)
_FRACTIONS: Final = {"a half": "0.5", "a quarter": "0.25", "three quarters": "0.75"}
_ORDINAL_ONES: Final = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"),
    *("tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth"),
    *("seventeenth", "eighteenth", "nineteenth"),
)
_ORDINALS: Final = {
    **{word: number for number, word in enumerate(_ORDINAL_ONES, start=1)},
    "twentieth": 20,
    "thirtieth": 30,
    **{
        f"{tens} {word}": 10 * ten + number
        for ten, tens in ((2, "twenty"), (3, "thirty"))
        for number, word in enumerate(_ORDINAL_ONES[:9], start=1)
    },
}
# Ordinals as the days of a month are written.
ORDINALS_PATTERN: Final = "|".join(
    word.replace(" ", "[- ]") for word in sorted(_ORDINALS, key=len, reverse=True)
)


def read_words(text: str) -> Decimal | None:
    """Return the value of `two hundred and five`; None for words that are no one number."""
    rest = " ".join(re.split(r"[\s-]+", text.casefold().strip()))
    if rest == "zero":
        return Decimal(0)
    for words, part in _FRACTIONS.items():
        if rest.endswith(f" and {words}"):
            whole = read_words(rest.removesuffix(f" and {words}"))
            return None if whole is None else whole + Decimal(part)
    total = 0
    for word, scale in _SCALES:
        before, found, after = rest.partition(word)
        if not found:
            continue
        count = 1 if before.strip() in {"", "a"} else _below_thousand(before.strip())
        if not count:
            return None
        total, rest = total + count * scale, after.strip().removeprefix("and ")
    if not rest:
        return Decimal(total) if total else None
    last = _below_thousand(rest)
    return Decimal(total + last) if last else None


def read_ordinal(text: str) -> int | None:
    """Return the value of `twenty-third`; None for what is no ordinal up to 39."""
    return _ORDINALS.get(" ".join(re.split(r"[\s-]+", text.casefold().strip())))


def _below_thousand(words: str) -> int:
    """Return the value of up to three digits in words, 0 for what is none."""
    found = _GROUP.fullmatch(words)
    if found is None:
        return 0
    hundreds = 100 * _VALUES[found["hundreds"] or "a"] if "hundred" in words else 0
    return hundreds + sum(_VALUES[found[name]] for name in ("tens", "ones", "small") if found[name])
