"""webarena-verified's typed values: how each is read from a raw one, and which are equal."""

from __future__ import annotations

import base64
import calendar
import json
import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from datetime import timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, cast

from evaluators.scorers.base import NotInEvidenceError
from evaluators.scorers.verified.patterns import agents_match, is_pattern, matches, needed

Derender = Callable[[str], str]

_DASH: Final = "[\\u002D\\u2010\\u2011\\u2012\\u2013\\u2014\\u2015\\u2212\\u00AD]"
_HYPHEN: Final = re.compile(rf"(?<=[a-zA-Z]){_DASH}|{_DASH}(?=[a-zA-Z])")
_MARKS: Final = {0x2122: None, 0x00AE: None, 0x2120: None, 0x00A9: None}
_AROUND: Final = "'\"`.,;:!?"
_PAIR: Final = 2
_MOST_APART: Final = Decimal("0.1")
_MOST_DEGREES: Final = 1e-5
_MOST_NORTH: Final = 90.0
_ALIKE: Final = 80
_LAST_MONTH: Final = 12
_YES: Final = frozenset({"true", "yes", "y", "1", "t", "on"})
_NO: Final = frozenset({"false", "no", "n", "0", "f", "off"})
_NOTHING: Final = frozenset({"n/a", "na", "nan", "null", "none"})


class Typed(ABC):
    """A value of one type, or several of which any will do.

    A raw value that cannot be read as the type raises an exception of any kind.
    """

    kind = ""

    def __init__(self, raw: Any, derender: Derender | None = None) -> None:
        self._derender = derender
        if isinstance(raw, (list, tuple)):
            if len(raw) < _PAIR:
                message = f"Alternatives require 2+ items. Got {raw!r} with {len(raw)} item(s)"
                raise ValueError(message)
            self.alternatives: tuple[Any, ...] = tuple(self._read(one) for one in raw)
        else:
            self.alternatives = (self._read(raw),)

    @property
    def normalized(self) -> Any:
        """The first alternative."""
        return self.alternatives[0]

    @property
    def is_pattern(self) -> bool:
        """Whether an alternative is a regular expression."""
        return any(is_pattern(str(one)) for one in self.alternatives)

    def equals(self, actual: Any) -> bool:
        """Whether the task's value equals the answer's, any alternative any other."""
        return isinstance(actual, type(self)) and any(
            self._is(one, other) for one in self.alternatives for other in actual.alternatives
        )

    def __str__(self) -> str:
        return str(self.normalized)

    def __repr__(self) -> str:
        return " or ".join(repr(one) for one in self.alternatives)

    def _read(self, raw: Any) -> Any:
        return self._value(self._text(raw) if isinstance(raw, str) else raw)

    def _text(self, raw: str) -> str:
        if not raw or is_pattern(raw):
            return raw
        if self._derender is not None and "http" in raw:
            raw = self._derender(raw)
        return plain(raw)

    def _is(self, one: Any, other: Any) -> bool:
        return bool(one == other)

    @abstractmethod
    def _value(self, raw: Any) -> Any:
        """Return a raw value as the type has it."""


def plain(text: str) -> str:
    """Return a text without marks, hyphens in words and letters beyond ASCII, in lower case."""
    text = unicodedata.normalize("NFKC", text.translate(_MARKS))
    text = _HYPHEN.sub(" ", text)
    text = "".join(
        " " if one in "\t\n\r" else one
        for one in text
        if one in "\t\n\r" or not unicodedata.category(one).startswith("C")
    )
    if not text.isascii():
        text = cast("str", needed("unidecode").unidecode(text))
        text = text.encode("ascii", "ignore").decode("ascii")
    return re.sub(r"\s+", " ", text.strip()).casefold()


class String(Typed):
    """A text, punctuation around it aside; one from `^` to `$` is a pattern, on either side."""

    kind = "string"

    def equals(self, actual: Any) -> bool:
        """Whether a pattern matches, or both are equal; `actual` may be raw."""
        if isinstance(actual, str):
            actual = String(actual)
        return isinstance(actual, String) and _texts_fit(self, actual, re.IGNORECASE, _AROUND)

    def _value(self, raw: Any) -> str:
        if not raw:
            return ""
        return str(raw).strip() if is_pattern(raw) else str(raw).lower().strip()


class Base64(Typed):
    """A text in Base64; a pattern matches what is encoded."""

    kind = "base64"

    def equals(self, actual: Any) -> bool:
        """Whether a pattern matches, or both are equal."""
        return isinstance(actual, Base64) and _texts_fit(self, actual, re.DOTALL)

    def _text(self, raw: str) -> str:
        return raw.strip()

    def _value(self, raw: Any) -> str:
        if is_pattern(raw):
            return cast("str", raw).strip()
        _require_text(raw, "Base64String")
        text = base64.b64decode(raw, validate=True).decode()
        return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _texts_fit(task: Typed, answer: Typed, flags: int, around: str = "") -> bool:
    mine, others = task.alternatives, answer.alternatives
    return (
        _any_matches(mine, others, flags)
        or any(
            agents_match(pattern, text, flags=flags)
            for pattern in others
            if is_pattern(pattern)
            for text in mine
        )
        or bool(set(mine) & set(others))
        or (bool(around) and bool(_stripped(mine, around) & _stripped(others, around)))
    )


def _any_matches(patterns: tuple[str, ...], texts: tuple[str, ...], flags: int) -> bool:
    for pattern in patterns:
        if is_pattern(pattern):
            try:
                if any(matches(pattern, text, flags=flags) for text in texts):
                    return True
            except re.error:
                pass
    return False


def _stripped(texts: tuple[str, ...], around: str) -> set[str]:
    return {one.strip(around) for one in texts}


class Number(Typed):
    """A number: commas and blanks dropped, words understood."""

    kind = "number"

    def _value(self, raw: Any) -> float:
        _refuse_empty(raw, "Number value is empty or None")
        if isinstance(raw, (int, float)):
            return float(raw)
        try:
            return float(str(raw).replace(",", "").replace(" ", ""))
        except ValueError:
            return float(needed("word2number.w2n").word_to_num(str(raw)))


class Boolean(Typed):
    """A yes or no; any number but 0 is a yes."""

    kind = "boolean"

    def _value(self, raw: Any) -> bool:
        _refuse_empty(raw, "Cannot normalize empty value to boolean")
        if isinstance(raw, (bool, int, float)):
            return bool(raw)
        if isinstance(raw, str) and raw.strip().lower() in _YES | _NO:
            return raw.strip().lower() in _YES
        raise ValueError(f"Cannot normalize to boolean: {raw!r}")


class Date(Typed):
    """A date, the month first; what is missing of it is today's."""

    kind = "date"

    def _value(self, raw: Any) -> str:
        if not raw:
            raise ValueError("Empty date value")
        parsed = needed("dateutil.parser").parse(re.sub(r",(?! )", ", ", raw), dayfirst=False)
        return str(parsed.date().isoformat())


class Month(Typed):
    """A month by number or name."""

    kind = "month"

    def _value(self, raw: Any) -> str:
        _refuse_empty(raw, "Empty month value")
        if isinstance(raw, (int, float, Decimal)):
            if raw != int(raw):
                raise ValueError(f"Month must be a whole number, got: {raw}")
            found = int(raw)
        else:
            text = str(raw).strip()
            try:
                found = int(text)
            except ValueError:
                parser = needed("dateutil.parser")
                found = parser.parse(text, default=parser.parse("2000-01-01")).month
        if not 1 <= found <= _LAST_MONTH:
            raise ValueError(f"Month number out of range (1-12): {found}")
        return calendar.month_name[found]


class StringList(Typed):
    """Texts between commas, sorted."""

    kind = "string_list"

    def _value(self, raw: Any) -> tuple[str, ...]:
        items = [one.strip() for one in str(raw or "").split(",") if one.strip()]
        if not items:
            raise ValueError(f"No valid items in StringList: {raw!r}")
        return tuple(sorted(items))


class JsonString(Typed):
    """A JSON document as text, in one spelling."""

    kind = "json"

    def _value(self, raw: Any) -> str:
        _require_text(raw, "JsonString")
        document = json.loads(raw)
        return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


class Empty(Typed):
    """Nothing, in one of its spellings."""

    kind = "null"

    def _text(self, raw: str) -> str:
        return re.sub(r"\s*/\s*", "/", re.sub(r"\s+", " ", raw.strip().lower()))

    def _value(self, raw: Any) -> None:
        if not raw:
            if isinstance(raw, (int, float, Decimal)):
                raise ValueError("Numeric zero is not considered empty")
            return
        if not isinstance(raw, str) or raw not in _NOTHING:
            raise ValueError(f"Value is not an empty representation: {raw!r}")


class Markdown(Typed):
    """A Markdown text: line ends, blank lines, marks of headings and lists, links."""

    kind = "markdown"

    def _text(self, raw: str) -> str:
        return raw.strip()

    def _value(self, raw: Any) -> str:
        _require_text(raw, "MarkdownString")
        text: str = raw.replace("\r\n", "\n").replace("\r", "\n")
        text = re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)
        text = re.sub(r"\n{3,}", "\n\n", text)
        text = re.sub(r"^(\s*)(#{1,6})[ \t]+", r"\1\2 ", text, flags=re.MULTILINE)
        text = re.sub(r"^(\s*)[\*\+][ \t]+", r"\1- ", text, flags=re.MULTILINE)
        text = re.sub(r"^[ \t]+(-)", r"  \1", text, flags=re.MULTILINE)
        text = re.sub(r"\[([^\]]*?)\n\s*([^\]]*?)\](\([^\)]+\))", r"[\1 \2]\3", text)
        text = re.sub(r"\[([^\]]+)\]", lambda found: f"[{' '.join(found[1].split())}]", text)
        return re.sub(r"\(\s*([^\)]+?)\s*\)", r"(\1)", text).strip()


class Currency(Typed):
    """An amount, within 0.1; of alternatives only the first is compared.

    The later of `.` and `,` is its decimal sign, `.` only if it is.
    """

    kind = "currency"

    def equals(self, actual: Any) -> bool:
        """Whether the first amounts are at most 0.1 apart."""
        if not isinstance(actual, Currency):
            return False
        return bool(abs(self.normalized - actual.normalized) <= _MOST_APART)

    def _value(self, raw: Any) -> Decimal:
        _refuse_empty(raw, "Currency value is empty or None")
        text = str(raw)
        is_negative = text.startswith("-")
        text = text.replace("-", "") if is_negative else text
        sign = "." if text.rfind(".") > text.rfind(",") else ","
        found = needed("price_parser").Price.fromstring(text, decimal_separator=sign).amount_float
        if found is None:
            raise ValueError(f"Unable to parse currency: {text}")
        return -Decimal(str(found)) if is_negative else Decimal(str(found))


class Duration(Typed):
    """A duration with its unit, or as a clock shows it; within three minutes or a tenth."""

    kind = "duration"

    def _text(self, raw: str) -> str:
        return re.sub(r"(\d+):(\d+)\s*hours?", r"\1h\2m", super()._text(raw))

    def _value(self, raw: Any) -> timedelta:
        if not raw:
            raise ValueError("Duration value is empty or None")
        _refuse_bare_number(str(raw))
        seconds = needed("pytimeparse2").parse(str(raw))
        if seconds is None:
            raise ValueError(f"Unable to parse duration: {raw}")
        return timedelta(seconds=float(seconds))

    def _is(self, one: timedelta, other: timedelta) -> bool:
        first, second = one.total_seconds(), other.total_seconds()
        return abs(first - second) <= max(180.0, max(first, second) * 0.1)


class Distance(Typed):
    """A distance with its unit, in metres (`5k` are 5 km); within 10 m or 2 %."""

    kind = "distance"

    def _value(self, raw: Any) -> Decimal:
        _refuse_empty(raw, "Distance value is empty or None")
        text = re.sub(r"(\d+(?:\.\d+)?)\s*k(?=\s|$)", r"\1 km", str(raw), flags=re.IGNORECASE)
        _refuse_bare_number(text)
        units = _units()
        return Decimal(str(units.parse_expression(text).to(units.meter).magnitude))

    def _is(self, one: Decimal, other: Decimal) -> bool:
        return abs(one - other) <= max(Decimal(10), max(one, other) * Decimal("0.02"))


@lru_cache(maxsize=1)
def _units() -> Any:
    return needed("pint").UnitRegistry()


class LocationName(Typed):
    """A place's name, by a similarity of 80 of 100, the order of words aside."""

    kind = "location-name"

    def _value(self, raw: Any) -> str:
        if raw is None:
            raise ValueError("Value cannot be None")
        return str(raw).lower().strip() if raw else ""

    def _is(self, one: str, other: str) -> bool:
        if not one or not other:
            return one == other
        return bool(needed("thefuzz.fuzz").token_sort_ratio(one, other) >= _ALIKE)


class Coordinates(Typed):
    """Latitude and longitude; of alternatives only the first is compared."""

    kind = "coordinates"

    def __init__(self, raw: Any, derender: Derender | None = None) -> None:
        is_list = isinstance(raw, (list, tuple)) and len(raw) == _PAIR
        if is_list and all(isinstance(one, (int, float, str)) for one in raw):
            try:
                self.alternatives = (self._value(raw),)
            except ValueError:
                pass
            else:
                return
        super().__init__(raw, derender)

    def equals(self, actual: Any) -> bool:
        """Whether both components are within 0.00001 degrees."""
        if not isinstance(actual, Coordinates):
            return False
        pairs = zip(self.normalized, actual.normalized, strict=True)
        return all(abs(one - other) <= _MOST_DEGREES for one, other in pairs)

    def _value(self, raw: Any) -> tuple[float, float]:
        if not raw:
            raise ValueError("Coordinate value is empty or None")
        try:
            point = _point(raw)
        except (AttributeError, TypeError, ValueError) as cause:
            raise ValueError(f"Unable to parse coordinates: {raw!r}") from cause
        if not -_MOST_NORTH <= point.latitude <= _MOST_NORTH:
            raise ValueError(f"Latitude must be between -90 and 90 degrees, got {point.latitude}")
        return (point.latitude, point.longitude)


def _point(raw: Any) -> Any:
    point_of = needed("geopy").Point
    if isinstance(raw, dict):
        north, east = _named(raw, "latitude", ()), _named(raw, "longitude", ("lng",))
        return point_of(latitude=raw[north], longitude=raw[east])
    if isinstance(raw, (list, tuple)) and len(raw) == _PAIR:
        return point_of(latitude=raw[0], longitude=raw[1])
    if isinstance(raw, str):
        return point_of(raw)
    raise ValueError(f"Unsupported coordinate input type: {type(raw).__name__}")


def _named(raw: dict[Any, Any], whole: str, also: tuple[str, ...]) -> Any:
    for key in raw:
        short = key.lower() if isinstance(key, str) else ""
        if (whole.startswith(short) and len(short) >= _PAIR) or short in also:
            return key
    raise ValueError(f"Dictionary must contain {whole}")


class FullAddress(Typed):
    """An address by its parts: registered, and used by no published task."""

    kind = "full_address"

    def _value(self, raw: Any) -> Any:
        del raw
        message = "the type full_address, which no published task uses, is not restated"
        raise NotInEvidenceError(message)


def _require_text(raw: Any, kind: str) -> None:
    if not isinstance(raw, str) or not raw:
        raise ValueError(f"{kind} only accepts string input. Got {raw!r}")


def _refuse_empty(raw: Any, message: str) -> None:
    if not raw and not isinstance(raw, (int, float, Decimal)):
        raise ValueError(message)


def _refuse_bare_number(text: str) -> None:
    try:
        float(text)
    except ValueError:
        return
    raise ValueError(f"{text} must include a unit")


_PLAIN_TYPES: Final = (String, Base64, Number, Boolean, Date, Month, StringList, JsonString, Empty)
_NEAR_TYPES: Final = (Markdown, Currency, Duration, Distance, LocationName, Coordinates)
TYPES: Final[Mapping[str, type[Typed]]] = {
    **{one.kind: one for one in (*_PLAIN_TYPES, *_NEAR_TYPES, FullAddress)},
    "integer": Number,
}
