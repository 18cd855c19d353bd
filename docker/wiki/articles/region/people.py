"""People of the county, by what they are known for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from region.dice import Dice
from region.places import Land, Settlement
from region.subject import Event, Kind, Subject
from region.words import Words

NOW = 2026


class Trade(StrEnum):
    """What a person is known as; the value is the noun."""

    PAINTER = "painter"
    COMPOSER = "composer"
    NOVELIST = "novelist"
    ENGINEER = "engineer"
    NATURALIST = "naturalist"
    DIRECTOR = "film director"
    POLITICIAN = "politician"
    CAPTAIN = "sea captain"
    FOOTBALLER = "footballer"

    @property
    def words(self) -> str:
        """Return the name of the list of what they are known for."""
        return f"{self.name.lower()}s"


# How many of each trade, and when they were born.
NUMBERS: dict[Trade, tuple[int, int, int]] = {
    Trade.PAINTER: (78, 1748, 1968),
    Trade.COMPOSER: (58, 1751, 1975),
    Trade.NOVELIST: (80, 1762, 1982),
    Trade.ENGINEER: (62, 1755, 1949),
    Trade.NATURALIST: (60, 1751, 1961),
    Trade.DIRECTOR: (34, 1889, 1984),
    Trade.POLITICIAN: (64, 1790, 1975),
    Trade.CAPTAIN: (56, 1765, 1940),
    Trade.FOOTBALLER: (150, 1931, 2004),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Person(Subject):
    """A person of the past or the present of the county."""

    trade: Trade
    woman: bool
    born: int
    birthday: str
    birthplace: Settlement
    died: int | None
    deathplace: Settlement | None
    parent: str
    studied: str
    habit: str
    field: str
    teacher: Person | None

    @property
    def surname(self) -> str:
        """Return the last name."""
        return self.name.split()[-1]

    @property
    def she(self) -> str:
        """Return the pronoun in the nominative."""
        return "she" if self.woman else "he"

    @property
    def her(self) -> str:
        """Return the possessive pronoun."""
        return "her" if self.woman else "his"

    @property
    def She(self) -> str:  # noqa: N802  (the word, as it begins a sentence)
        """Return the pronoun at the start of a sentence."""
        return self.she.capitalize()

    @property
    def life(self) -> str:
        """Return the years of birth and death."""
        return f"{self.born}–{self.died}" if self.died is not None else f"born {self.born}"

    @property
    def was(self) -> str:
        """Return the verb: is for the living."""
        return "is" if self.died is None else "was"

    @property
    def age(self) -> int | None:
        """Return how old they grew, by years alone."""
        return None if self.died is None else self.died - self.born

    @property
    def working(self) -> tuple[int, int]:
        """Return the first and last year of work."""
        return self.born + 22, min(self.born + 68, (self.died or NOW) - 1, NOW - 1)

    @property
    def subject_matter(self) -> str | None:
        """Return what the work is known for, as a sentence."""
        known = {
            Trade.PAINTER: "painted above all",
            Trade.COMPOSER: "wrote above all",
            Trade.NOVELIST: "wrote about",
            Trade.ENGINEER: "built",
            Trade.NATURALIST: "collected",
            Trade.DIRECTOR: "made",
            Trade.POLITICIAN: "stood for",
            Trade.CAPTAIN: "sailed with",
        }
        verb = known.get(self.trade)
        return None if verb is None else f"{self.She} {verb} {self.field}."

    def events(self) -> Iterator[Event]:
        """Yield birth and death."""
        where = self.birthplace.link
        born = f"{self.link}, {self.trade}, is born in {where}."
        yield Event(year=self.born, kind=Kind.BIRTH, words=born)
        if self.died is not None and self.deathplace is not None:
            died = f"{self.link}, {self.trade}, dies in {self.deathplace.link}."
            yield Event(year=self.died, kind=Kind.DEATH, words=died)


@dataclass(frozen=True, slots=True, kw_only=True)
class Society:
    """All people of the county, in the order of their birth within each trade."""

    people: tuple[Person, ...]

    def of(self, *trades: Trade) -> tuple[Person, ...]:
        """Return the people of some trades."""
        return tuple(one for one in self.people if one.trade in trades)

    def at_work(self, dice: Dice, trade: Trade, year: int) -> Person | None:
        """Return somebody of the trade who worked in that year, if anybody did."""
        able = [one for one in self.of(trade) if one.working[0] <= year <= one.working[1]]
        return dice.pick(able) if able else None


def grow_society(words: Words, land: Land) -> Society:
    """Return the people, every name only once."""
    dice = Dice("people")
    names = _names(dice, words, sum(count for count, _, _ in NUMBERS.values()))
    people: list[Person] = []
    for trade, (count, first, last) in NUMBERS.items():
        colleagues: list[Person] = []
        for born in sorted(dice.between(first, last) for _ in range(count)):
            name, woman = names.pop()
            colleagues.append(
                _person(dice, words, land, colleagues, trade, name, born, woman=woman)
            )
        people += colleagues
    return Society(people=tuple(people))


def _names(dice: Dice, words: Words, count: int) -> list[tuple[str, bool]]:
    women = [(f"{first} {last}", True) for first in words["first_f"] for last in words["last"]]
    men = [(f"{first} {last}", False) for first in words["first_m"] for last in words["last"]]
    return list(dice.some([*women, *men], count))


def _person(
    dice: Dice,
    words: Words,
    land: Land,
    colleagues: Sequence[Person],
    trade: Trade,
    name: str,
    born: int,
    *,
    woman: bool,
) -> Person:
    months = "January February March April May June July August September October November December"
    birthplace = _home(dice, land)
    died = born + dice.between(44, 96)
    if died >= NOW or (trade is Trade.FOOTBALLER and born > 1950):
        died = 0
    teachers = [one for one in colleagues if 18 <= born - one.born <= 60 and _alive(one, born + 20)]
    field = "football" if trade is Trade.FOOTBALLER else dice.pick(words[trade.words])
    teacher = dice.pick(teachers) if teachers and dice.happens(0.4) else None
    return Person(
        title=name,
        name=name,
        trade=trade,
        woman=woman,
        born=born,
        birthday=f"{dice.between(1, 28)} {dice.pick(months.split())}",
        birthplace=birthplace,
        died=died or None,
        deathplace=(_home(dice, land) if dice.happens(0.6) else birthplace) if died else None,
        parent=dice.pick(words["parents"]),
        studied=dice.pick(words["studied"]),
        habit=dice.pick(words["habit"]),
        field=field,
        teacher=None if trade is Trade.FOOTBALLER else teacher,
    )


def _alive(person: Person, year: int) -> bool:
    return person.died is None or person.died > year


def _home(dice: Dice, land: Land) -> Settlement:
    """Return a home: as many people come from cities and towns as from all villages."""
    return dice.weighted(
        (dice.pick(land.cities), dice.pick(land.towns), dice.pick(land.villages)), (3, 3, 4)
    )
