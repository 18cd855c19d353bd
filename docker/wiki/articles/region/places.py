"""The county's places: districts, cities, towns, villages, rivers, lakes, hills and islands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from region.subject import Event, Kind, Subject


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class District(Subject):
    """One of the nine districts of the county."""

    character: str
    coastal: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Hill(Subject):
    """A hill; no two are equally high."""

    district: District
    height: int
    rock: str
    cairn: int | None
    climbed: int | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class River(Subject):
    """A river that ends in another one or, where that is None, in the sea."""

    district: District
    length: int
    source: Hill | None
    mouth: River | None
    flow: float
    sea: str | None
    navigable: int | None
    frozen: int | None

    def events(self) -> Iterator[Event]:
        """Yield the winter in which it froze."""
        if self.frozen is not None:
            yield Event(year=self.frozen, kind=Kind.EVENT, words=f"The {self.link} freezes over.")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Settlement(Subject):
    """A city, town or village."""

    district: District
    population: int
    population_1901: int
    recorded: int
    elevation: int
    river: River | None
    known_for: str
    custom: str
    feast: str

    @property
    def change(self) -> str:
        """Return how the census of 2021 compares with that of 1901."""
        share = 100 * (self.population - self.population_1901) / self.population_1901
        return f"{abs(share):.0f} per cent {'more' if share >= 0 else 'fewer'}"

    @property
    def rank(self) -> str:
        """Return what sort of settlement it is."""
        return "village"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class City(Settlement):
    """One of the three cities; what is told of them is written by hand."""

    about: str
    history: str
    economy: str

    @property
    def rank(self) -> str:
        """Return what sort of settlement it is."""
        return "city"

    def events(self) -> Iterator[Event]:
        """Yield nothing: the cities' charters are older than the year pages."""
        yield from ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Town(Settlement):
    """A market town, with the city that it looks to."""

    near: City
    distance: int
    way: str
    market: str
    hall: int

    @property
    def rank(self) -> str:
        """Return what sort of settlement it is."""
        return "town"

    def events(self) -> Iterator[Event]:
        """Yield the opening of its town hall."""
        words = f"The town hall of {self.link} is opened."
        yield Event(year=self.hall, kind=Kind.OPENING, words=words)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Village(Settlement):
    """A village, with the town that it looks to."""

    near: Town
    distance: int
    way: str
    households: int
    electric: int | None

    def events(self) -> Iterator[Event]:
        """Yield the coming of electric light."""
        if self.electric is not None:
            words = f"Electric light comes to {self.link}."
            yield Event(year=self.electric, kind=Kind.EVENT, words=words)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lake(Subject):
    """A lake; no two have the same area."""

    district: District
    area: int
    depth: int
    outflow: River | None
    dammed: int | None
    fish: str

    def events(self) -> Iterator[Event]:
        """Yield the dam, where it has one."""
        if self.dammed is not None:
            words = f"The dam that holds {self.link} is finished."
            yield Event(year=self.dammed, kind=Kind.OPENING, words=words)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Island(Subject):
    """An island off the coast; no two have the same area."""

    district: District
    area: int
    population: int
    distance: int
    ferry: City | Town
    emptied: int | None

    def events(self) -> Iterator[Event]:
        """Yield the year in which the last families left."""
        if self.emptied is not None:
            words = f"The last families leave {self.link}."
            yield Event(year=self.emptied, kind=Kind.EVENT, words=words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Land:
    """All places of the county."""

    districts: tuple[District, ...]
    hills: tuple[Hill, ...]
    rivers: tuple[River, ...]
    cities: tuple[City, ...]
    towns: tuple[Town, ...]
    villages: tuple[Village, ...]
    lakes: tuple[Lake, ...]
    islands: tuple[Island, ...]

    @property
    def settlements(self) -> tuple[Settlement, ...]:
        """Return cities, towns and villages."""
        return (*self.cities, *self.towns, *self.villages)

    @property
    def ports(self) -> tuple[City | Town, ...]:
        """Return the cities and towns on the coast."""
        on_the_way: tuple[City | Town, ...] = (*self.cities, *self.towns)
        return tuple(one for one in on_the_way if one.district.coastal)
