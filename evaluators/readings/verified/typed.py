"""webarena-verified's typed values: what is read from a raw one, and which are equal."""

from __future__ import annotations

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from evaluators.readings.verified import kinds
from evaluators.readings.verified.patterns import agents_match, is_pattern, matches, needed

Derender = Callable[[str], str]

_DASH: Final = "[\\u002D\\u2010\\u2011\\u2012\\u2013\\u2014\\u2015\\u2212\\u00AD]"
_HYPHEN: Final = re.compile(rf"(?<=[a-zA-Z]){_DASH}|{_DASH}(?=[a-zA-Z])")
_MARKS: Final = {0x2122: None, 0x00AE: None, 0x2120: None, 0x00A9: None}
_AROUND: Final = "'\"`.,;:!?"
_FEWEST: Final = 2


class Typed(ABC):
    """A value of one type, or several of which any will do.

    Raises:
        Exception: of any kind, where a raw value cannot be read as the type.
    """

    kind = ""

    def __init__(self, raw: Any, derender: Derender | None = None) -> None:
        self._derender = derender
        if isinstance(raw, (list, tuple)):
            if len(raw) < _FEWEST:
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
        """Whether the task's value equals the answer's; `actual` may be raw."""
        return isinstance(actual, type(self)) and bool(
            set(self.alternatives) & set(actual.alternatives)
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
    """A text; one from `^` to `$` is a pattern, on either side."""

    kind = "string"

    def equals(self, actual: Any) -> bool:
        """Whether a pattern matches, or both are equal, punctuation around them aside."""
        if isinstance(actual, str):
            actual = String(actual)
        if not isinstance(actual, String):
            return False
        mine, others = self.alternatives, actual.alternatives
        return (
            _any_matches(mine, others, re.IGNORECASE)
            or _any_agents(others, mine, re.IGNORECASE)
            or bool(set(mine) & set(others))
            or bool({one.strip(_AROUND) for one in mine} & {one.strip(_AROUND) for one in others})
        )

    def _value(self, raw: Any) -> str:
        if not raw:
            return ""
        return str(raw).strip() if is_pattern(raw) else str(raw).lower().strip()


class Base64(Typed):
    """A text in Base64."""

    kind = "base64"

    def equals(self, actual: Any) -> bool:
        """Whether a pattern matches what is encoded, or both are equal."""
        if not isinstance(actual, Base64):
            return False
        mine, others = self.alternatives, actual.alternatives
        return (
            _any_matches(mine, others, re.DOTALL)
            or _any_agents(others, mine, re.DOTALL)
            or bool(set(mine) & set(others))
        )

    def _text(self, raw: str) -> str:
        return raw.strip()

    def _value(self, raw: Any) -> str:
        return raw.strip() if is_pattern(raw) else kinds.base64_text(raw)


def _any_matches(patterns: tuple[str, ...], texts: tuple[str, ...], flags: int) -> bool:
    for pattern in patterns:
        if is_pattern(pattern):
            try:
                if any(matches(pattern, text, flags=flags) for text in texts):
                    return True
            except re.error:
                pass
    return False


def _any_agents(patterns: tuple[str, ...], texts: tuple[str, ...], flags: int) -> bool:
    return any(
        agents_match(pattern, text, flags=flags)
        for pattern in patterns
        if is_pattern(pattern)
        for text in texts
    )


class _Plain(Typed):
    """A type whose values are equal where one alternative is."""

    _reader: Callable[[Any], Any]

    def _value(self, raw: Any) -> Any:
        return type(self)._reader(raw)  # noqa: SLF001  its own


class Number(_Plain):
    """A number."""

    kind = "number"
    _reader = staticmethod(kinds.number)


class Boolean(_Plain):
    """A yes or no."""

    kind = "boolean"
    _reader = staticmethod(kinds.boolean)


class Date(_Plain):
    """A date; what is missing of it is today's."""

    kind = "date"
    _reader = staticmethod(kinds.date)


class Month(_Plain):
    """A month."""

    kind = "month"
    _reader = staticmethod(kinds.month)


class StringList(_Plain):
    """Texts between commas."""

    kind = "string_list"
    _reader = staticmethod(kinds.string_list)


class JsonString(_Plain):
    """A JSON document as text."""

    kind = "json"
    _reader = staticmethod(kinds.json_text)


class Empty(_Plain):
    """Nothing, in one of its spellings."""

    kind = "null"
    _reader = staticmethod(kinds.empty)

    def _text(self, raw: str) -> str:
        return re.sub(r"\s*/\s*", "/", re.sub(r"\s+", " ", raw.strip().lower()))


class Markdown(_Plain):
    """A Markdown text."""

    kind = "markdown"
    _reader = staticmethod(kinds.markdown)

    def _text(self, raw: str) -> str:
        return raw.strip()


class Currency(_Plain):
    """An amount, within 0.1; of alternatives only the first is compared."""

    kind = "currency"
    _reader = staticmethod(kinds.amount)

    def equals(self, actual: Any) -> bool:
        """Whether the first amounts are at most 0.1 apart."""
        if not isinstance(actual, Currency):
            return False
        return bool(abs(self.normalized - actual.normalized) <= kinds.MOST_APART)


class Duration(_Plain):
    """A duration, within three minutes or a tenth."""

    kind = "duration"
    _reader = staticmethod(kinds.duration)

    def equals(self, actual: Any) -> bool:
        """Whether any two are close."""
        return isinstance(actual, Duration) and any(
            kinds.are_close_durations(one, other)
            for one in self.alternatives
            for other in actual.alternatives
        )

    def _text(self, raw: str) -> str:
        return re.sub(r"(\d+):(\d+)\s*hours?", r"\1h\2m", super()._text(raw))


class Distance(_Plain):
    """A distance, within 10 m or 2 %."""

    kind = "distance"
    _reader = staticmethod(kinds.distance)

    def equals(self, actual: Any) -> bool:
        """Whether any two are close."""
        return isinstance(actual, Distance) and any(
            kinds.are_close_distances(one, other)
            for one in self.alternatives
            for other in actual.alternatives
        )


class LocationName(_Plain):
    """A place's name, by similarity."""

    kind = "location-name"
    _reader = staticmethod(kinds.location_name)

    def equals(self, actual: Any) -> bool:
        """Whether any two are similar, or both are empty."""
        return isinstance(actual, LocationName) and any(
            kinds.are_similar(one, other)
            for one in self.alternatives
            for other in actual.alternatives
        )


class Coordinates(_Plain):
    """Latitude and longitude; of alternatives only the first is compared."""

    kind = "coordinates"
    _reader = staticmethod(kinds.coordinates)

    def __init__(self, raw: Any, derender: Derender | None = None) -> None:
        is_list = isinstance(raw, (list, tuple)) and len(raw) == _FEWEST
        if is_list and all(isinstance(one, (int, float, str)) for one in raw):
            try:
                self.alternatives = (kinds.coordinates(raw),)
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
        return all(abs(one - other) <= kinds.MOST_DEGREES for one, other in pairs)


class FullAddress(Typed):
    """An address by its parts: registered, and used by no published task."""

    kind = "full_address"

    def _value(self, raw: Any) -> Any:
        del raw
        message = "the type full_address, which no published task uses, is not restated"
        raise kinds.not_restated(message)


TYPES: Final[Mapping[str, type[Typed]]] = {
    one.kind: one
    for one in (
        String,
        Base64,
        Number,
        Boolean,
        Date,
        Month,
        StringList,
        JsonString,
        Empty,
        Markdown,
        Currency,
        Duration,
        Distance,
        LocationName,
        Coordinates,
        FullAddress,
    )
} | {"integer": Number}
