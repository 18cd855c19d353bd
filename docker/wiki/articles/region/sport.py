"""Football in the county: the clubs of the Merrow League, its players and its seasons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from region.dice import Dice
from region.people import Person, Society, Trade
from region.places import Land, Settlement
from region.subject import Event, Kind, Subject
from region.words import Words

FIRST_SEASON, LAST_SEASON = 1966, 2025
WIN = 3
FEWEST = 9  # no top scorer has fewer goals


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Club(Subject):
    """A football club."""

    place: Settlement
    founded: int
    ground: str
    capacity: int
    kit: str
    nickname: str

    def events(self) -> Iterator[Event]:
        """Yield its founding."""
        words = f"The football club {self.link} is founded in {self.place.link}."
        yield Event(year=self.founded, kind=Kind.EVENT, words=words)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Career(Subject):
    """What a footballer did for the one club of a career; the player's own page tells it too."""

    player: Person
    club: Club
    position: str
    since: int
    until: int
    matches: int
    goals: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One club's line in a season's final table."""

    club: Club
    won: int
    drawn: int
    lost: int
    scored: int
    conceded: int

    @property
    def points(self) -> int:
        """Return three points for a win, one for a draw."""
        return WIN * self.won + self.drawn


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Season(Subject):
    """A season of the Merrow League: every two clubs met twice."""

    year: int
    table: tuple[Standing, ...]
    top_scorer: Person | None
    top_goals: int
    crowd: int

    @property
    def champion(self) -> Club:
        """Return the first of the table."""
        return self.table[0].club

    @property
    def second(self) -> Club:
        """Return the second of the table."""
        return self.table[1].club

    @property
    def last(self) -> Club:
        """Return the last of the table."""
        return self.table[-1].club

    @property
    def points(self) -> int:
        """Return the champion's points."""
        return self.table[0].points

    @property
    def lead(self) -> int | None:
        """Return by how many points the champion was ahead; None where goals decided."""
        return self.table[0].points - self.table[1].points or None

    @property
    def goals(self) -> int:
        """Return all goals of the season."""
        return sum(one.scored for one in self.table)

    @property
    def matches(self) -> int:
        """Return how many matches were played."""
        return sum(one.won + one.drawn + one.lost for one in self.table) // 2

    def events(self) -> Iterator[Event]:
        """Yield its champion."""
        words = f"{self.champion.link} win the Merrow League ([[{self.title}|season]])."
        yield Event(year=self.year, kind=Kind.EVENT, words=words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Football:
    """The Merrow League."""

    clubs: tuple[Club, ...]
    careers: tuple[Career, ...]
    seasons: tuple[Season, ...]


def grow_football(words: Words, land: Land, society: Society) -> Football:
    """Return clubs, careers and seasons that agree with each other."""
    clubs = _clubs(words, land)
    careers = _careers(words, society, clubs)
    left = {career: career.goals for career in careers}
    years = range(FIRST_SEASON, LAST_SEASON + 1)
    seasons = tuple(_season(year, clubs, left) for year in years)
    return Football(clubs=clubs, careers=careers, seasons=seasons)


def _clubs(words: Words, land: Land) -> tuple[Club, ...]:
    dice = Dice("clubs")
    places = {one.name: one for one in land.settlements}
    records = words.records("clubs")
    capacities = dice.distinct(len(records), 900, 14_500)
    clubs = []
    for one, capacity in zip(records, capacities, strict=True):
        title = one["name"] + (" F.C." if "taken" in one else "")
        clubs.append(
            Club(
                title=title,
                name=one["name"],
                place=places[one["place"]],
                founded=dice.between(1868, 1924),
                ground=one["ground"],
                capacity=capacity,
                kit=one["kit"],
                nickname=one["nickname"],
            )
        )
    return tuple(clubs)


def _careers(words: Words, society: Society, clubs: tuple[Club, ...]) -> tuple[Career, ...]:
    dice = Dice("careers")
    careers = []
    for player in society.of(Trade.FOOTBALLER):
        since = player.born + dice.between(17, 21)
        until = min(2025, since + dice.between(3, 16))
        position = dice.pick(words["positions"])
        matches = (until - since + 1) * dice.between(9, 22)
        often = {"goalkeeper": 0, "full back": 3, "centre half": 5}.get(position, 30)
        careers.append(
            Career(
                title=player.title,
                name=player.name,
                player=player,
                club=dice.pick(clubs),
                position=position,
                since=since,
                until=until,
                matches=matches,
                goals=matches * dice.between(0, often) // 100,
            )
        )
    return tuple(careers)


def _season(year: int, clubs: tuple[Club, ...], left: dict[Career, int]) -> Season:
    """Play a season; its top scorer's goals are taken from what the career has left of them."""
    dice = Dice(f"season {year}")
    table = _play(dice, clubs)
    of_club = {one.club: one.scored for one in table}
    playing = [
        one
        for one in left
        if one.since <= year <= one.until and min(left[one], of_club[one.club] * 3 // 4) >= FEWEST
    ]
    scorer = dice.pick(playing) if playing else None
    goals = 0
    if scorer is not None:
        goals = dice.between(FEWEST, min(22, left[scorer], of_club[scorer.club] * 3 // 4))
        left[scorer] -= goals
    return Season(
        title=f"{year - 1}–{year % 100:02d} Merrow League",
        name=f"season of {year - 1}–{year % 100:02d}",
        year=year,
        table=table,
        top_scorer=None if scorer is None else scorer.player,
        top_goals=goals,
        crowd=dice.between(700, 6_400),
    )


def _goals(dice: Dice, most: int) -> int:
    return min(dice.between(0, most), dice.between(0, most))


def _play(dice: Dice, clubs: tuple[Club, ...]) -> tuple[Standing, ...]:
    strength = {club: dice.between(6, 18) for club in clubs}
    tally = {club: [0, 0, 0, 0, 0] for club in clubs}
    for home in clubs:
        for away in clubs:
            if home is away:
                continue
            ours = _goals(dice, 2 + strength[home] // 4)
            theirs = _goals(dice, 1 + strength[away] // 4)
            for club, own, other in ((home, ours, theirs), (away, theirs, ours)):
                line = tally[club]
                line[0 if own > other else 1 if own == other else 2] += 1
                line[3] += own
                line[4] += other
    standings = [
        Standing(club=club, won=won, drawn=drawn, lost=lost, scored=scored, conceded=conceded)
        for club, (won, drawn, lost, scored, conceded) in tally.items()
    ]
    return tuple(
        sorted(
            standings,
            key=lambda one: (-one.points, one.conceded - one.scored, -one.scored, one.club.name),
        )
    )
