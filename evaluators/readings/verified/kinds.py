"""How webarena-verified reads each type from a plain text, and how close is equal."""

from __future__ import annotations

import base64
import calendar
import json
import re
from datetime import timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

from evaluators.readings.upstream import NotInEvidenceError
from evaluators.readings.verified.patterns import needed

MOST_APART: Final = Decimal("0.1")
MOST_DEGREES: Final = 1e-5
_MOST_NORTH: Final = 90.0
_ALIKE: Final = 80
_LAST_MONTH: Final = 12
_PAIR: Final = 2
_YES: Final = frozenset({"true", "yes", "y", "1", "t", "on"})
_NO: Final = frozenset({"false", "no", "n", "0", "f", "off"})
_NOTHING: Final = frozenset({"n/a", "na", "nan", "null", "none"})


def not_restated(message: str) -> NotInEvidenceError:
    """Return the error of a type that this reading does not know."""
    return NotInEvidenceError(message)


def number(raw: Any) -> float:
    """Read a number: commas and blanks dropped, words understood."""
    _refuse_empty(raw, "Number value is empty or None")
    if isinstance(raw, (int, float)):
        return float(raw)
    try:
        return float(str(raw).replace(",", "").replace(" ", ""))
    except ValueError:
        return float(needed("word2number.w2n").word_to_num(str(raw)))


def boolean(raw: Any) -> bool:
    """Read a yes or no; any number but 0 is a yes."""
    _refuse_empty(raw, "Cannot normalize empty value to boolean")
    if isinstance(raw, (bool, int, float)):
        return bool(raw)
    if isinstance(raw, str) and raw.strip().lower() in _YES | _NO:
        return raw.strip().lower() in _YES
    message = f"Cannot normalize to boolean: {raw!r}"
    raise ValueError(message)


def date(raw: Any) -> str:
    """Read a date, the month first; what is missing is today's."""
    if not raw:
        message = "Empty date value"
        raise ValueError(message)
    parsed = needed("dateutil.parser").parse(re.sub(r",(?! )", ", ", raw), dayfirst=False)
    return str(parsed.date().isoformat())


def month(raw: Any) -> str:
    """Read a month by number or name."""
    _refuse_empty(raw, "Empty month value")
    if isinstance(raw, (int, float, Decimal)):
        if raw != int(raw):
            message = f"Month must be a whole number, got: {raw}"
            raise ValueError(message)
        return _month_name(int(raw))
    text = str(raw).strip()
    try:
        found = int(text)
    except ValueError:
        parser = needed("dateutil.parser")
        return _month_name(parser.parse(text, default=parser.parse("2000-01-01")).month)
    return _month_name(found)


def _month_name(found: int) -> str:
    if not 1 <= found <= _LAST_MONTH:
        message = f"Month number out of range (1-12): {found}"
        raise ValueError(message)
    return calendar.month_name[found]


def amount(raw: Any) -> Decimal:
    """Read an amount of money: the later of `.` and `,` is its decimal sign, `.` only if it is."""
    _refuse_empty(raw, "Currency value is empty or None")
    text = str(raw)
    is_negative = text.startswith("-")
    text = text.replace("-", "") if is_negative else text
    sign = "." if text.rfind(".") > text.rfind(",") else ","
    found = needed("price_parser").Price.fromstring(text, decimal_separator=sign).amount_float
    if found is None:
        message = f"Unable to parse currency: {text}"
        raise ValueError(message)
    return -Decimal(str(found)) if is_negative else Decimal(str(found))


def duration(raw: Any) -> timedelta:
    """Read a duration with its unit, or as a clock shows it."""
    if not raw:
        message = "Duration value is empty or None"
        raise ValueError(message)
    _refuse_bare_number(str(raw))
    seconds = needed("pytimeparse2").parse(str(raw))
    if seconds is None:
        message = f"Unable to parse duration: {raw}"
        raise ValueError(message)
    return timedelta(seconds=float(seconds))


def are_close_durations(one: timedelta, other: timedelta) -> bool:
    """Whether two durations are within three minutes, or a tenth of the longer."""
    first, second = one.total_seconds(), other.total_seconds()
    return abs(first - second) <= max(180.0, max(first, second) * 0.1)


def distance(raw: Any) -> Decimal:
    """Read a distance with its unit, in metres; `5k` are 5 km."""
    _refuse_empty(raw, "Distance value is empty or None")
    text = re.sub(r"(\d+(?:\.\d+)?)\s*k(?=\s|$)", r"\1 km", str(raw), flags=re.IGNORECASE)
    _refuse_bare_number(text)
    units = _units()
    return Decimal(str(units.parse_expression(text).to(units.meter).magnitude))


@lru_cache(maxsize=1)
def _units() -> Any:
    return needed("pint").UnitRegistry()


def are_close_distances(one: Decimal, other: Decimal) -> bool:
    """Whether two distances are within 10 m, or 2 % of the longer."""
    return abs(one - other) <= max(Decimal(10), max(one, other) * Decimal("0.02"))


def coordinates(raw: Any) -> tuple[float, float]:
    """Read latitude and longitude from a pair, an object or a text."""
    if not raw:
        message = "Coordinate value is empty or None"
        raise ValueError(message)
    try:
        point = _point(raw)
    except (AttributeError, TypeError, ValueError) as cause:
        message = f"Unable to parse coordinates: {raw!r}"
        raise ValueError(message) from cause
    if not -_MOST_NORTH <= point.latitude <= _MOST_NORTH:
        message = f"Latitude must be between -90 and 90 degrees, got {point.latitude}"
        raise ValueError(message)
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
    message = f"Unsupported coordinate input type: {type(raw).__name__}"
    raise ValueError(message)


def _named(raw: dict[Any, Any], whole: str, also: tuple[str, ...]) -> Any:
    for key in raw:
        short = key.lower() if isinstance(key, str) else ""
        if (whole.startswith(short) and len(short) >= _PAIR) or short in also:
            return key
    message = f"Dictionary must contain {whole}"
    raise ValueError(message)


def location_name(raw: Any) -> str:
    """Read a place's name."""
    if raw is None:
        message = "Value cannot be None"
        raise ValueError(message)
    return str(raw).lower().strip() if raw else ""


def are_similar(one: str, other: str) -> bool:
    """Whether two names have a similarity of 80 of 100, the order of words aside."""
    if not one or not other:
        return one == other
    return bool(needed("thefuzz.fuzz").token_sort_ratio(one, other) >= _ALIKE)


def json_text(raw: Any) -> str:
    """Read a JSON document in one spelling."""
    if not isinstance(raw, str) or not raw:
        message = f"JsonString only accepts string input. Got {raw!r}"
        raise ValueError(message)
    return json.dumps(json.loads(raw), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def string_list(raw: Any) -> tuple[str, ...]:
    """Read texts between commas, sorted."""
    items = [one.strip() for one in str(raw or "").split(",") if one.strip()]
    if not items:
        message = f"No valid items in StringList: {raw!r}"
        raise ValueError(message)
    return tuple(sorted(items))


def empty(raw: Any) -> None:
    """Read nothing."""
    if not raw:
        if isinstance(raw, (int, float, Decimal)):
            message = "Numeric zero is not considered empty"
            raise ValueError(message)
        return
    if not isinstance(raw, str) or raw not in _NOTHING:
        message = f"Value is not an empty representation: {raw!r}"
        raise ValueError(message)


def markdown(raw: Any) -> str:
    """Read a Markdown text: line ends, blank lines, marks of headings and lists, links."""
    if not isinstance(raw, str) or not raw:
        message = f"MarkdownString only accepts string input. Got {raw!r}"
        raise ValueError(message)
    text = raw.replace("\r\n", "\n").replace("\r", "\n")
    text = re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\n{3,}", "\n\n", text)
    text = re.sub(r"^(\s*)(#{1,6})[ \t]+", r"\1\2 ", text, flags=re.MULTILINE)
    text = re.sub(r"^(\s*)[\*\+][ \t]+", r"\1- ", text, flags=re.MULTILINE)
    text = re.sub(r"^[ \t]+(-)", r"  \1", text, flags=re.MULTILINE)
    text = re.sub(r"\[([^\]]*?)\n\s*([^\]]*?)\](\([^\)]+\))", r"[\1 \2]\3", text)
    text = re.sub(r"\[([^\]]+)\]", lambda found: f"[{' '.join(found[1].split())}]", text)
    return re.sub(r"\(\s*([^\)]+?)\s*\)", r"(\1)", text).strip()


def base64_text(raw: Any) -> str:
    """Read what a text in Base64 says."""
    if not isinstance(raw, str) or not raw:
        message = f"Base64String only accepts string input. Got {raw!r}"
        raise ValueError(message)
    text = base64.b64decode(raw, validate=True).decode()
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _refuse_empty(raw: Any, message: str) -> None:
    if not raw and not isinstance(raw, (int, float, Decimal)):
        raise ValueError(message)


def _refuse_bare_number(text: str) -> None:
    try:
        float(text)
    except ValueError:
        return
    message = f"{text} must include a unit"
    raise ValueError(message)
