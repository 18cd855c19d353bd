"""Companies and ships of the county, and the makers whose goods the shop sells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from region.dice import Dice
from region.people import Person, Society, Trade
from region.places import City, Land, Settlement, Town
from region.subject import Event, Kind, Subject
from region.words import Words


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Company(Subject):
    """A company; no two open ones employ equally many people."""

    form: str
    product: str
    place: Settlement
    opened: int
    closed: int | None
    founder: str
    employees: int
    story: str

    def events(self) -> Iterator[Event]:
        """Yield its founding and its end."""
        words = f"The {self.form} {self.link} is founded in {self.place.link}."
        yield Event(year=self.opened, kind=Kind.EVENT, words=words)
        if self.closed is not None:
            ends = f"The {self.form} {self.link} of {self.place.link} closes."
            yield Event(year=self.closed, kind=Kind.EVENT, words=ends)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ship(Subject):
    """A ship."""

    form: str
    yard: Company | None
    launched: int
    length: int
    tons: int
    crew: int
    port: City | Town
    cargo: str
    master: Person | None
    fate: str
    ended: int

    @property
    def ship(self) -> str:
        """Return her name with the year that tells namesakes apart."""
        return f"{self.name} of {self.launched}"

    def events(self) -> Iterator[Event]:
        """Yield her launch and her end."""
        words = f"The {self.form} {self.link} is launched for {self.port.link}."
        yield Event(year=self.launched, kind=Kind.EVENT, words=words)
        ends = f"The {self.form} {self.link} is {self.fate}."
        yield Event(year=self.ended, kind=Kind.EVENT, words=ends)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Maker(Subject):
    """A maker of goods that the shop Harbour & Pine sells, at home in real cities."""

    goods: tuple[str, ...]
    workshops: tuple[tuple[str, str], ...]

    @property
    def city(self) -> str:
        """Return the link to the city of its first workshop."""
        return f"[[{self.workshops[0][1]}]]"

    @property
    def second(self) -> str | None:
        """Return the link to the city of a second workshop, if there is one."""
        others = [city for _, city in self.workshops if city != self.workshops[0][1]]
        return f"[[{others[0]}]]" if others else None

    @property
    def listed(self) -> str:
        """Return the kinds of goods in prose."""
        goods = [one.lower() for one in self.goods]
        return goods[0] if len(goods) == 1 else f"{', '.join(goods[:-1])} and {goods[-1]}"

    @property
    def count(self) -> int:
        """Return how many kinds of goods it makes."""
        return len(self.goods)

    @property
    def department(self) -> str:
        """Return its first department of the shop."""
        return self.workshops[0][0]


def grow_companies(words: Words, land: Land, society: Society) -> tuple[Company, ...]:
    """Return the county's companies."""
    dice = Dice("companies")
    products = words.records("company_products_list")[0]
    surnames = sorted({one.surname for one in society.people})
    kinds = words["company_kinds"]
    names = dice.some(surnames, 100)
    staff = dice.distinct(len(names), 6, 1_240)
    companies = []
    for at, (founder, employees) in enumerate(zip(names, staff, strict=True)):
        form = kinds[at % len(kinds)]
        place: Settlement = dice.pick((*land.cities, *land.cities, *land.towns))
        if form == "boatyard":
            place = dice.pick(land.ports)
        opened = dice.between(1803, 1931)
        tail = dice.pick(("& Sons", "& Daughters", "Brothers", "and Company", form.title()))
        name = f"{founder} {tail}"
        companies.append(
            Company(
                title=name,
                name=name,
                form=form,
                product=products[form],
                place=place,
                opened=opened,
                closed=opened + dice.between(24, 110) if dice.happens(0.45) else None,
                founder=f"{dice.pick(words['founders'])} {founder}",
                employees=employees,
                story=dice.pick(words["company_story"]),
            )
        )
    return tuple(
        one if one.closed is None or one.closed < 2025 else _open(one) for one in companies
    )


def _open(company: Company) -> Company:
    return Company(
        title=company.title,
        name=company.name,
        form=company.form,
        product=company.product,
        place=company.place,
        opened=company.opened,
        closed=None,
        founder=company.founder,
        employees=company.employees,
        story=company.story,
    )


def grow_ships(
    words: Words, land: Land, society: Society, companies: tuple[Company, ...]
) -> tuple[Ship, ...]:
    """Return the ships; of one name there may be several, one after the other."""
    dice = Dice("ships")
    yards = [one for one in companies if one.form == "boatyard"]
    found: dict[str, Ship] = {}
    lengths = dice.distinct(190, 9, 240)
    for length in lengths:
        name, launched = dice.pick(words["ship_names"]), dice.between(1803, 1958)
        form = dice.pick(words["ship_kinds"])
        able = [
            one
            for one in yards
            if one.opened <= launched and (one.closed is None or one.closed >= launched)
        ]
        title = f"{name} ({form} of {launched})"
        found[title] = Ship(
            title=title,
            name=name,
            form=form,
            yard=dice.pick(able) if able else None,
            launched=launched,
            length=length // 6 + 8,
            tons=length * dice.between(1, 3) + 11,
            crew=dice.between(3, 38),
            port=dice.pick(land.ports),
            cargo=dice.pick(words["cargo"]),
            master=society.at_work(dice, Trade.CAPTAIN, launched),
            fate=dice.pick(words["fates"]),
            ended=min(2019, launched + dice.between(3, 61)),
        )
    return tuple(found.values())


def read_makers(words: Words) -> tuple[Maker, ...]:
    """Return the makers whose goods the shop sells."""
    makers = []
    for one in words.records("makers"):
        workshops = [pair.split(" = ") for pair in one["workshops"].split("; ")]
        makers.append(
            Maker(
                title=one["name"],
                name=one["name"],
                goods=tuple(one["goods"].split("; ")),
                workshops=tuple((department, city) for department, city in workshops),
            )
        )
    return tuple(makers)
