"""Amounts as people write them: numeral or words, sign, currency, scale, per cent, unit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from evaluators.answers.base import Span
from evaluators.answers.number_words import WORDS_PATTERN, read_words
from evaluators.values.numbers import numeral_value

_SCALES: Final = {
    "k": 3,
    "thousand": 3,
    "lakh": 5,
    "m": 6,
    "mn": 6,
    "mio": 6,
    "million": 6,
    "millions": 6,
    "crore": 7,
    "bn": 9,
    "b": 9,
    "billion": 9,
    "billions": 9,
    "tn": 12,
    "trillion": 12,
}
_CODES: Final = """
    aud brl cad chf cny czk dkk eur gbp hkd huf ils inr jpy krw mxn nok nzd pln rub sek sgd try usd
    zar
"""
CURRENCIES: Final = {
    "£": "GBP",
    "€": "EUR",
    "¥": "JPY CNY",
    "₹": "INR",
    "₩": "KRW",
    "₽": "RUB",
    "₺": "TRY",
    "₪": "ILS",
    "zł": "PLN",
    "$": "USD AUD CAD NZD HKD SGD MXN",
    "us$": "USD",
    "a$": "AUD",
    "c$": "CAD",
    "pound": "GBP",
    "pounds": "GBP",
    "pounds sterling": "GBP",
    "quid": "GBP",
    "euro": "EUR",
    "euros": "EUR",
    "dollar": "USD AUD CAD NZD HKD SGD",
    "dollars": "USD AUD CAD NZD HKD SGD",
    "us dollars": "USD",
    "bucks": "USD",
    "yen": "JPY",
    "yuan": "CNY",
    "rupees": "INR",
    "francs": "CHF",
    **{code: code.upper() for code in _CODES.split()},
}
_CURRENCY: Final = "|".join(
    re.escape(one) for one in sorted(CURRENCIES, key=len, reverse=True) if one[0].isalpha()
)
_SIGNS: Final = r"(?:us|a|c)?\$|[£€¥₹₩₽₺₪]"
# Right at a numeral these are scales where they are capitals: `2.5M`.
_CAPITALS: Final = {"M": Decimal(10**6), "B": Decimal(10**9)}
_NUMERAL: Final = (
    r"(?:\d{1,3}(?:[ ]\d{3})+(?:[.,]\d+)?(?![\d.,']*\d)|\d+(?:[.,']\d+)*|\.\d+)(?:e[+-]?\d+)?"
)
_AMOUNT: Final = re.compile(
    rf"""
    (?P<minus>(?:(?<![\w%)])-(?=\S)|\b(?:minus|negative)\s))?
    (?P<plus>(?<![\w)])\+)?
    (?:(?P<before>{_SIGNS}|\b(?:{_CURRENCY})(?=[\s\d-]))\s?)?
    (?P<inner>-)?
    (?:(?P<numeral>(?<![\w.]){_NUMERAL}|(?<=\b[a-zA-Z]{{3}}){_NUMERAL})|\b(?P<words>{WORDS_PATTERN})\b)
    (?:\s?(?P<scale>k|mn|mio|bn|tn|[mb](?=\s?(?:{_CURRENCY})\b)|thousand|millions?|billions?|trillion|lakh|crore|dozen|hundred)\b)?
    (?:(?P<dash>[.,]?-)(?=\s?(?:$|[€£]|\s)))?
    (?:[ ]?(?P<after>[£€¥₹₩]|\$|\b(?:{_CURRENCY})\b)(?!\d))?
    (?:\s?(?P<percent>%|‰|\b(?:percent|per\ cent|pct)\b))?
    (?P<rest>[\w^]*)
    """,
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount.

    Attributes:
        value: with sign and scale.
        currencies: the codes that its sign or name may mean; empty where it names none.
        percent: `%` or `‰`, empty where it is none.
        unit: letters that stand right at it without a space: `47km`; empty where none do.
    """

    value: Decimal
    currencies: frozenset[str] = frozenset()
    percent: str = ""
    unit: str = ""


def find_amounts(text: str) -> Iterator[Span[Amount]]:
    """Yield every amount of a text; digits that cannot be read as one have no value."""
    for found in _AMOUNT.finditer(text):
        if found["numeral"] is None and _is_no_number(text, found):
            continue
        yield _read(found)


def currency_codes(name: str) -> frozenset[str]:
    """Return the codes that a currency's code, sign or name may mean; empty for no currency."""
    return frozenset(CURRENCIES.get(name.casefold(), "").split())


def _read(found: re.Match[str]) -> Span[Amount]:
    number = found["numeral"]
    value = numeral_value(number.replace(" ", "")) if number else read_words(found["words"] or "")
    unit = found["rest"] or ""
    if unit in _CAPITALS and not found["scale"]:
        value, unit, end_shift = (None if value is None else value * _CAPITALS[unit]), "", 1
    else:
        end_shift = 0
    end = found.start("rest") + end_shift
    blank: Span[Amount] = Span(found.start(), found.end(), None, "cannot be read as one number")
    if value is None or (found["minus"] and found["inner"]):
        return blank
    scale = (found["scale"] or "").casefold()
    value *= {"dozen": 12, "hundred": 100}.get(scale, Decimal(10) ** _SCALES.get(scale, 0))
    if found["minus"] or found["inner"]:
        value = -value
    before = currency_codes(found["before"] or "")
    after = currency_codes(found["after"] or "")
    if before and after and not before & after:
        return blank
    percent = "‰" if found["percent"] == "‰" else "%" if found["percent"] else ""
    both = before & after if before and after else before or after
    amount = Amount(value, both, percent, unit.casefold())
    return Span(found.start(), end + len(unit), amount)


_ONES_NAMED: Final = frozenset({"first", "last", "next", "only", "other", "new", "newer", "older"})


def _is_no_number(text: str, found: re.Match[str]) -> bool:
    """Say whether words are none: `one of`, `the one`, `no one`."""
    words = (found["words"] or "").casefold()
    if words not in {"one", "a", "zero"}:
        return False
    before = text[: found.start("words")].casefold().split()[-1:]
    after = text[found.end("words") :].casefold().split()[:1]
    return words == "one" and (
        any(word.endswith("est") or word in _ONES_NAMED for word in before)
        or before in (["the"], ["this"], ["that"], ["which"], ["no"], ["each"], ["every"], ["any"])
        or after == ["of"]
    )
