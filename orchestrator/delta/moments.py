"""Which values are the moment of a change: another one each time that the change is made."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from sites.manifest import Clock

_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?")
_EPOCH: Final = re.compile(r"\d{10}(\.\d+|\d{3})?")
_MILLISECONDS: Final = 13
_SLACK: Final = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class Moments:
    """The time in which a replica was changed, by every clock that may have dated the change.

    Attributes:
        spans: first and last moment, in UTC: by the machine's clock, and by the site's own where
            that stands elsewhere.
        zones: in which a time without a zone may be written.
        days: whether a date alone may be that of the change: not where the site's clock begins at
            the same day each time.
    """

    spans: tuple[tuple[datetime, datetime], ...]
    zones: tuple[tzinfo, ...]
    days: bool

    @classmethod
    def between(cls, since: datetime, until: datetime, clock: Clock) -> Moments:
        """Return the moments from the start of a replica until now, given by the machine."""
        spans = [(since - _SLACK, until + _SLACK)]
        if clock.begins is not None:
            spans.append((clock.begins - _SLACK, clock.begins + (until - since) + _SLACK))
        zones = dict.fromkeys((UTC, ZoneInfo(clock.zone)))
        return cls(tuple(spans), tuple(zones), days=clock.begins is None)

    def holds(self, value: str) -> bool:
        """Whether a value is such a moment: date and time, seconds of Unix, or a date alone."""
        if _DATE.fullmatch(value):
            return self.days and self._has_day(value)
        return any(
            first <= moment <= last for moment in self._read(value) for first, last in self.spans
        )

    def _read(self, value: str) -> tuple[datetime, ...]:
        if _EPOCH.fullmatch(value):
            seconds = float(value) / (1000 if len(value) == _MILLISECONDS else 1)
            return (datetime.fromtimestamp(seconds, UTC),)
        if not _TIME.fullmatch(value):
            return ()
        try:
            read = datetime.fromisoformat(value)
        except ValueError:
            return ()
        if read.tzinfo is not None:
            return (read,)
        return tuple(read.replace(tzinfo=zone) for zone in self.zones)

    def _has_day(self, value: str) -> bool:
        try:
            day = date.fromisoformat(value)
        except ValueError:
            return False
        return any(
            first.astimezone(zone).date() <= day <= last.astimezone(zone).date()
            for first, last in self.spans
            for zone in self.zones
        )
