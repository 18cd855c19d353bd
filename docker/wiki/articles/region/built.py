"""What people built in the county: lights, lines, stations, bridges, churches, schools and more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from region.people import Person
from region.places import City, Island, River, Settlement
from region.subject import Event, Kind, Subject


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Built(Subject):
    """Something that was opened in a year, at a place."""

    place: Settlement
    opened: int

    def events(self) -> Iterator[Event]:
        """Yield its opening, where the year pages reach back so far."""
        words = f"{self.link} in {self.place.link} is opened."
        yield Event(year=self.opened, kind=Kind.OPENING, words=words)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lighthouse(Built):
    """A lighthouse; no two are equally high."""

    island: Island | None
    height: int
    focal: int
    reach: int
    light: str
    colour: str
    automatic: int
    engineer: Person | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Line(Subject):
    """A railway line between two places."""

    start: Settlement
    end: Settlement
    opened: int
    length: int
    engineer: Person | None

    def events(self) -> Iterator[Event]:
        """Yield its opening."""
        words = f"The {self.link} is opened from {self.start.link} to {self.end.link}."
        yield Event(year=self.opened, kind=Kind.OPENING, words=words)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Station(Built):
    """A railway station."""

    line: Line
    platforms: int
    passengers: int | None
    closed: int | None

    def events(self) -> Iterator[Event]:
        """Yield its closing; its opening is the line's."""
        if self.closed is not None:
            words = f"{self.link} on the {self.line.link} is closed."
            yield Event(year=self.closed, kind=Kind.EVENT, words=words)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bridge(Built):
    """A bridge over a river; no two are equally long."""

    river: River
    length: int
    spans: int
    form: str
    engineer: Person | None
    story: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Church(Built):
    """A parish church."""

    tower: int
    bells: int
    style: str
    treasure: str
    restored: int | None

    def events(self) -> Iterator[Event]:
        """Yield nothing: the year pages begin after most churches."""
        yield from ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class School(Built):
    """A school."""

    pupils: int
    motto: str
    colour: str
    building: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Museum(Built):
    """A museum; no two have the same number of visitors."""

    topic: str
    visitors: int
    objects: int
    admission: str
    opens: str | None
    closed_on: str
    street: Street | None
    art: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Street(Subject):
    """A street of a city; within a city no two are equally long."""

    city: City
    length: int
    houses: int
    trade: str
    paved: int

    def events(self) -> Iterator[Event]:
        """Yield the year of its first paving."""
        words = f"{self.link} in {self.city.link} is paved."
        yield Event(year=self.paved, kind=Kind.EVENT, words=words)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Venue(Built):
    """A public building, a pub or a café of Port Merrow."""

    street: Street
    form: str
    use: str
    seats: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Castle(Subject):
    """A castle or what is left of it."""

    place: Settlement
    begun: int
    builder: str
    state: str
    walls: int
    ruined: int | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Mill(Built):
    """A mill."""

    form: str
    ground: str
    stopped: int
    sails: int | None
    restored: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Buildings:
    """Everything built."""

    lighthouses: tuple[Lighthouse, ...]
    lines: tuple[Line, ...]
    stations: tuple[Station, ...]
    bridges: tuple[Bridge, ...]
    churches: tuple[Church, ...]
    schools: tuple[School, ...]
    streets: tuple[Street, ...]
    museums: tuple[Museum, ...]
    venues: tuple[Venue, ...]
    castles: tuple[Castle, ...]
    mills: tuple[Mill, ...]
