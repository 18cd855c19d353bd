"""Coordinates, and postal addresses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from typing import Final

from evaluators.answers.base import AnswerKind, Span, with_unread

_DEGREES: Final = (
    r"(?P<{0}sign>[-+])?(?P<{0}deg>\d{{1,3}}(?:\.\d+)?)\s?(?:°|º|deg(?:rees)?)?"
    r"(?:\s?(?P<{0}min>\d{{1,2}}(?:\.\d+)?)\s?')?"
    r"(?:\s?(?P<{0}sec>\d{{1,2}}(?:\.\d+)?)\s?(?:\"|''))?\s?"
)
_PAIR: Final = re.compile(
    rf"""(?<![\w.])
    [(\[]?\s*(?:lat(?:itude)?\s?[:=]?\s*)?(?P<ns1>[ns]\b\s?)?
    {_DEGREES.format("a")}(?P<ns2>n(?:orth)?|s(?:outh)?)?(?!\w)
    (?:\s*[,;/]\s*|\s+(?:and\s+)?)
    (?:(?:lon(?:g|gitude)?|lng)\s?[:=]?\s*)?(?P<ew1>[ew]\b\s?)?{_DEGREES.format("o")}(?P<ew2>e(?:ast)?|w(?:est)?)?
    \s*[)\]]?(?![\w°]|\.\d)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"(?<!\w)\d[\d.,:/-]*\w*")


@dataclass(frozen=True, slots=True)
class Point:
    """Degrees north and east.

    Attributes:
        near: how far off another may be in each: a unit of the last digit as it is written.
    """

    north: Decimal
    east: Decimal
    near: tuple[Decimal, Decimal] = (Decimal(0), Decimal(0))


@dataclass(frozen=True, slots=True)
class CoordinatesKind(AnswerKind[Point]):
    """A latitude and a longitude, in this order, in degrees or degrees, minutes and seconds.

    Attributes:
        tolerance: degrees that each may be off; None for less than one unit of the last digit that
            the expected value is written with.
    """

    tolerance: Decimal | None = None
    noun = "a pair of coordinates"
    such_as = ", such as '40.442, -79.939'"

    def prepare(self, plain: str) -> str:
        """Return it; the cells of a table with a comma between."""
        return re.sub(r"(?<=[\d°NSns])\s*\|\s*(?=[-+\dEWew])", ", ", plain)

    def find(self, text: str, wanted: Sequence[Point]) -> Sequence[Span[Point]]:
        """Return every pair of a text; other numbers have no value."""
        del wanted
        spans = [_point(found) for found in _PAIR.finditer(text)]
        return with_unread(_NUMBER, text, spans, "is no pair of coordinates")

    def is_same(self, found: Point, wanted: Point) -> bool:
        """Say whether both are near enough."""
        pairs = ((found.north, wanted.north), (found.east, wanted.east))
        if self.tolerance is not None:
            return all(abs(one - other) <= self.tolerance for one, other in pairs)
        limits = zip(pairs, wanted.near, strict=True)
        return all(abs(one - other) < near or one == other for (one, other), near in limits)


def _point(found: re.Match[str]) -> Span[Point]:
    north, near_north = _degrees(found, "a")
    east, near_east = _degrees(found, "o")
    south = (found["ns1"] or found["ns2"] or "").strip().casefold().startswith("s")
    west = (found["ew1"] or found["ew2"] or "").strip().casefold().startswith("w")
    lettered = (bool(found["ns1"] or found["ns2"]), bool(found["ew1"] or found["ew2"]))
    signed = (found["asign"] is not None and lettered[0]) or (
        found["osign"] is not None and lettered[1]
    )
    north, east = (-north if south else north), (-east if west else east)
    if abs(north) > 90 or abs(east) > 180 or signed or lettered[0] != lettered[1]:  # noqa: PLR2004 - the poles
        return Span(*found.span(), None, "is no pair of coordinates")
    return Span(*found.span(), Point(north, east, (near_north, near_east)))


def _degrees(found: re.Match[str], which: str) -> tuple[Decimal, Decimal]:
    """Return degrees, and one unit of the last digit."""
    whole = Decimal(found[f"{which}deg"])
    minutes, seconds = found[f"{which}min"], found[f"{which}sec"]
    value = whole + Decimal(minutes or 0) / 60 + Decimal(seconds or 0) / 3600
    last, size = (
        (seconds, 3600) if seconds else (minutes, 60) if minutes else (found[f"{which}deg"], 1)
    )
    exponent = Decimal(last).as_tuple().exponent
    unit = Decimal(1).scaleb(int(exponent)) / size
    return (-value if found[f"{which}sign"] == "-" else value), unit


_ABBREVIATIONS: Final = """
    st:street ave:avenue av:avenue rd:road blvd:boulevard dr:drive ln:lane ct:court pl:place
    sq:square hwy:highway pkwy:parkway ter:terrace cres:crescent apt:apartment ste:suite n:north
    s:south e:east w:west ne:northeast nw:northwest se:southeast sw:southwest usa:us al:alabama
    ak:alaska az:arizona ar:arkansas ca:california co:colorado fl:florida ga:georgia hi:hawaii
    il:illinois ks:kansas ky:kentucky la:louisiana md:maryland ma:massachusetts mi:michigan
    mn:minnesota ms:mississippi mo:missouri mt:montana nh:newhampshire nj:newjersey ny:newyork
    nm:newmexico nc:northcarolina nd:northdakota oh:ohio pa:pennsylvania sc:southcarolina
    sd:southdakota tn:tennessee tx:texas ut:utah vt:vermont va:virginia wa:washington
    wv:westvirginia wi:wisconsin wy:wyoming
"""
_WORDS: Final = dict(pair.split(":") for pair in _ABBREVIATIONS.split())
_STATES: Final = re.compile(
    r"\b(new (?:jersey|york(?! city)|mexico|hampshire)|(?:north|south) (?:carolina|dakota)"
    r"|west virginia|united states of america|united states|united kingdom|great britain)\b"
)
_COUNTRIES: Final = {
    "unitedstatesofamerica": "us",
    "unitedstates": "us",
    "unitedkingdom": "uk",
    "greatbritain": "uk",
}


_MOST_BEGINNINGS: Final = 20


class AddressKind(AnswerKind[str]):
    """A postal address, whole: abbreviations, commas and line breaks make no difference."""

    noun = "an address"
    is_words = True

    def read(self, written: str) -> str:
        """Return its words, one form of each."""
        words = _address(written)
        if not words:
            raise ValueError("asks for nothing: it has no letter or digit")
        return words

    def prepare(self, plain: str) -> str:
        """Return it on one line."""
        return ", ".join(line.strip().rstrip(",") for line in plain.split("\n"))

    def find(self, text: str, wanted: Sequence[str]) -> Sequence[Span[str]]:
        """Return the shortest piece of a text whose words are those of an expected address."""
        words = list(re.finditer(r"[^\s,;()\"']+", text))
        plain_words = [_address(word.group()) for word in words]
        for goal in sorted(wanted, key=len, reverse=True):
            first, count = goal.split(" ", 1)[0], goal.count(" ") + 1
            begins = (n for n, word in enumerate(plain_words) if word and first.startswith(word))
            for number in islice(begins, _MOST_BEGINNINGS):
                begin = words[number]
                for end in words[number + count // 2 : number + 2 * count + 2]:
                    if _address(text[begin.start() : end.end()]) == goal:
                        stop = begin.start() + len(text[begin.start() : end.end()].rstrip("."))
                        return [Span(begin.start(), stop, goal)]
        return []


def _address(text: str) -> str:
    bare = re.sub(r"[.,;()#\n]+", " ", text.casefold())
    bare = _STATES.sub(lambda found: found.group().replace(" ", ""), " ".join(bare.split()))
    words = (_WORDS.get(word, _COUNTRIES.get(word, word)) for word in bare.split() if word != "in")
    return " ".join(words)
