"""Which street is called what: those that the shared world knows first, then drawn ones."""

from __future__ import annotations

from random import Random

from region.geometry import Point, length
from region.names import street_names
from region.town import Street, Town

MAIN = frozenset({"primary", "secondary"})


def name_streets(town: Town, known: list[str], wishes: dict[str, Point], seed: str) -> None:
    """Name every street of a town.

    Args:
        town: whose streets.
        known: names that must occur; they go to streets near the middle.
        wishes: of these, the ones that belong near some point.
        seed: what the other names are drawn from.
    """
    taken = set(known)
    main, minor = street_names(Random(f"{seed} {town.plan.name} streets"), taken)
    left = [street for street in town.streets if street.name == ""]
    if "Market Square" in known:
        for street in left:
            if street.highway == "living_street":
                street.name = "Market Square"
    left = [street for street in left if not street.name and length(town.line(street)) > 150]
    for name in sorted(known, key=lambda name: (name not in wishes, known.index(name))):
        if name != "Market Square":
            near = wishes.get(name, town.plan.centre)
            chosen = min(left, key=lambda street: _far(town, street, near))
            chosen.name = name
            left.remove(chosen)
    for street in town.streets:
        if not street.name:
            street.name = next(main if street.highway in MAIN else minor)


def _far(town: Town, street: Street, near: Point) -> float:
    line = town.line(street)
    return line[len(line) // 2].to(near)
