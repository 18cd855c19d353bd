"""The whole county, grown once, and who of it names whom."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TypeVar

from region.building import grow_buildings
from region.built import Buildings
from region.landscape import grow_land
from region.nature import Nature, grow_nature
from region.people import Society, grow_society
from region.places import Land
from region.sport import Football, grow_football
from region.subject import Event, Subject
from region.trade import Company, Maker, Ship, grow_companies, grow_ships, read_makers
from region.words import Words
from region.works import Arts, grow_arts

Found = TypeVar("Found", bound=Subject)
VILLAGES = 700


@dataclass(frozen=True, kw_only=True)
class World:
    """Every subject of the county; the articles say only what stands here."""

    land: Land
    society: Society
    buildings: Buildings
    companies: tuple[Company, ...]
    ships: tuple[Ship, ...]
    makers: tuple[Maker, ...]
    arts: Arts
    football: Football
    nature: Nature

    @cached_property
    def subjects(self) -> tuple[Subject, ...]:
        """Return every subject, kind by kind."""
        groups = (self.land, self.society, self.buildings, self.arts, self.football, self.nature)
        found = [
            one for group in groups for part in fields(group) for one in getattr(group, part.name)
        ]
        return (*found, *self.companies, *self.ships, *self.makers)

    @cached_property
    def _naming(self) -> Mapping[Subject, tuple[Subject, ...]]:
        naming: dict[Subject, list[Subject]] = defaultdict(list)
        for one in self.subjects:
            for part in fields(one):
                value = getattr(one, part.name)
                if isinstance(value, Subject):
                    naming[value].append(one)
        return {subject: tuple(others) for subject, others in naming.items()}

    def naming(self, subject: Subject, kind: type[Found]) -> tuple[Found, ...]:
        """Return the subjects of a kind that name this one, by title."""
        found = [one for one in self._naming.get(subject, ()) if isinstance(one, kind)]
        return tuple(sorted(dict.fromkeys(found), key=lambda one: one.title))

    def events(self) -> Iterator[Event]:
        """Yield what happened, in the order of the subjects."""
        for one in self.subjects:
            yield from one.events()


def grow() -> World:
    """Return the county; the same at every call."""
    places, people, built = Words.of("places"), Words.of("people"), Words.of("built")
    works, sport, nature = Words.of("works"), Words.of("sport"), Words.of("nature")
    land = grow_land(places, VILLAGES)
    society = grow_society(people, land)
    buildings = grow_buildings(built, land, society)
    companies = grow_companies(works, land, society)
    return World(
        land=land,
        society=society,
        buildings=buildings,
        companies=companies,
        ships=grow_ships(works, land, society, companies),
        makers=read_makers(Words.of("makers")),
        arts=grow_arts(works, land, society, buildings, companies),
        football=grow_football(sport, land, society),
        nature=grow_nature(nature, land, society),
    )
