"""What every article of the county is about, and the events that its year pages gather."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """Under which heading of a year's page an event stands."""

    EVENT = "Events"
    OPENING = "Buildings and railways"
    WORK = "Arts"
    BIRTH = "Births"
    DEATH = "Deaths"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened in a year, as marked prose."""

    year: int
    kind: Kind
    words: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Subject:
    """One thing with an article: its title there, and its name in running text."""

    title: str
    name: str

    @property
    def link(self) -> str:
        """Return the mark that links here."""
        return f"[[{self.title}]]" if self.title == self.name else f"[[{self.title}|{self.name}]]"

    def events(self) -> Iterator[Event]:
        """Yield what the year pages say about it."""
        yield from ()


def year_title(year: int) -> str:
    """Return the title of a year's page."""
    return f"{year} in Merrowshire"
