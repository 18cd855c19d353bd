"""Paintings, music, novels and films of the county."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from region.built import Buildings, Museum
from region.dice import Dice
from region.people import Person, Society, Trade
from region.places import Land, Settlement
from region.subject import Event, Kind, Subject
from region.trade import Company
from region.words import Words


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Work(Subject):
    """Something that one person made in a year, with a place in it."""

    maker: Person
    year: int
    place: Settlement

    def events(self) -> Iterator[Event]:
        """Yield its making."""
        words = f"''{self.link}'' by {self.maker.link}".replace("''", "")
        yield Event(year=self.year, kind=Kind.WORK, words=f"{words} appears.")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Painting(Work):
    """A painting; its number in the museum is its own."""

    medium: str
    width: int
    height: int
    museum: Museum
    number: str
    acquired: int
    seen: str

    def events(self) -> Iterator[Event]:
        """Yield its painting and its coming to the museum."""
        words = f"{self.maker.link} paints {self.link}."
        yield Event(year=self.year, kind=Kind.WORK, words=words)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Piece(Work):
    """A piece of music."""

    opus: int
    minutes: int
    movements: int
    forces: str
    key: str
    played: int

    def events(self) -> Iterator[Event]:
        """Yield its first performance."""
        words = f"{self.link} by {self.maker.link} is first played, in {self.place.link}."
        yield Event(year=self.played, kind=Kind.WORK, words=words)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Novel(Work):
    """A novel."""

    pages: int
    chapters: int
    publisher: Company | None
    plot: str
    critic: str

    def events(self) -> Iterator[Event]:
        """Yield its publication."""
        words = f"{self.link}, a novel by {self.maker.link}, is published."
        yield Event(year=self.year, kind=Kind.WORK, words=words)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Film(Work):
    """A film, after a novel or not."""

    minutes: int
    novel: Novel | None
    colour: str
    composer: Person | None
    plot: str
    days: int

    def events(self) -> Iterator[Event]:
        """Yield its first showing."""
        words = f"{self.link}, a film by {self.maker.link}, is first shown."
        yield Event(year=self.year, kind=Kind.WORK, words=words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arts:
    """All works."""

    paintings: tuple[Painting, ...]
    pieces: tuple[Piece, ...]
    novels: tuple[Novel, ...]
    films: tuple[Film, ...]


def grow_arts(
    words: Words, land: Land, society: Society, buildings: Buildings, companies: tuple[Company, ...]
) -> Arts:
    """Return all works."""
    novels = _novels(words, land, society, companies)
    return Arts(
        paintings=_paintings(words, land, society, buildings),
        pieces=_pieces(words, land, society),
        novels=novels,
        films=_films(words, land, society, novels),
    )


def _year(dice: Dice, maker: Person) -> int:
    first, last = maker.working
    return dice.between(first, max(first, last))


def _place(dice: Dice, land: Land) -> Settlement:
    return dice.weighted(
        (dice.pick(land.cities), dice.pick(land.towns), dice.pick(land.villages)), (2, 5, 3)
    )


def _paintings(
    words: Words, land: Land, society: Society, buildings: Buildings
) -> tuple[Painting, ...]:
    dice = Dice("paintings")
    galleries = [one for one in buildings.museums if one.art]
    painters = society.of(Trade.PAINTER)
    found: dict[str, Painting] = {}
    for serial in count(1000, 7):
        if len(found) == 220:
            break
        place, maker = _place(dice, land), dice.pick(painters)
        name = f"{dice.pick(words['painting_first'])} " + dice.pick(words["painting_last"]).format(
            place=place.name
        )
        museum, year = dice.pick(galleries), _year(dice, maker)
        acquired = max(year, museum.opened) + dice.between(0, 40)
        found[name] = Painting(
            title=name,
            name=name,
            maker=maker,
            year=year,
            place=place,
            museum=museum,
            medium=dice.pick(words["media"]),
            width=dice.between(24, 240),
            height=dice.between(20, 190),
            number=f"{museum.name[:1]}.{serial}",
            acquired=min(acquired, 2025),
            seen=dice.pick(words["seen"]),
        )
    return tuple(found.values())


def _pieces(words: Words, land: Land, society: Society) -> tuple[Piece, ...]:
    dice = Dice("pieces")
    composers = society.of(Trade.COMPOSER)
    found: dict[str, Piece] = {}
    while len(found) < 150:
        place, maker = _place(dice, land), dice.pick(composers)
        last = dice.pick(words["piece_names"]).format(place=place.name)
        name = f"{dice.pick(words['piece_forms'])} {last}"
        year = _year(dice, maker)
        found[name] = Piece(
            title=name,
            name=name,
            maker=maker,
            year=year,
            place=place,
            opus=dice.between(2, 94),
            minutes=dice.between(4, 58),
            movements=dice.between(1, 5),
            forces=dice.pick(words["forces"]),
            key=dice.pick(words["keys"]),
            played=min(2025, year + dice.between(0, 6)),
        )
    return tuple(found.values())


def _novels(
    words: Words, land: Land, society: Society, companies: tuple[Company, ...]
) -> tuple[Novel, ...]:
    dice = Dice("novels")
    writers = society.of(Trade.NOVELIST)
    titles = dice.some(words.pairs("novel_first", "novel_last", " "), 190)
    houses = [one for one in companies if one.form == "publisher"]
    novels = []
    for name in titles:
        maker = dice.pick(writers)
        year = _year(dice, maker)
        able = [
            one
            for one in houses
            if one.opened <= year and (one.closed is None or one.closed > year)
        ]
        novels.append(
            Novel(
                title=name,
                name=name,
                maker=maker,
                year=year,
                place=_place(dice, land),
                pages=dice.between(118, 744),
                chapters=dice.between(9, 61),
                publisher=dice.pick(able) if able else None,
                plot=dice.pick(words["plots"]),
                critic=dice.pick(words["critics"]),
            )
        )
    return tuple(novels)


def _films(
    words: Words, land: Land, society: Society, novels: tuple[Novel, ...]
) -> tuple[Film, ...]:
    dice = Dice("films")
    directors = society.of(Trade.DIRECTOR)
    films = []
    for name in words["film_names"]:
        maker = dice.pick(directors)
        year = _year(dice, maker)
        novel = dice.pick([one for one in novels if one.year < year])
        films.append(
            Film(
                title=f"{name} ({year} film)",
                name=name,
                maker=maker,
                year=year,
                place=_place(dice, land),
                minutes=dice.between(71, 164),
                novel=novel if dice.happens(0.5) else None,
                colour="black and white" if year < 1958 else "colour",
                composer=society.at_work(dice, Trade.COMPOSER, year),
                plot=dice.pick(words["plots"]),
                days=dice.between(17, 96),
            )
        )
    return tuple(films)
