"""Gaps that follow another: what is known of a boat, a dish, a museum, a walk or a club.

Museums, walks and clubs are the encyclopedia's; what it says of them, the newspaper says too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from gazette.sources import Club, County, Museum, Walk, grow, vocabulary

WEEK = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
DISH = ("begin", "finish", "beside")
MILE, PACE, CLIMB = 1.609, 4.0, 600  # km; km an hour; metres of ascent an hour
Followers = Mapping[str, tuple[str, Mapping[str, str]]]


@cache
def followers() -> Followers:
    """Return, by gap, the gap whose word it takes, and what stands in for each of its words."""
    made = {
        name: (told["of"], told["instead"]) for name, told in vocabulary("town")["fitted"].items()
    }
    dishes = vocabulary("dishes")["dish"]
    for gap in DISH:
        made[gap] = ("dish", {dish: one[gap] for dish, one in dishes.items()})
    return made | dict(_from_the_county(grow()))


def _from_the_county(county: County) -> Iterator[tuple[str, tuple[str, Mapping[str, str]]]]:
    for kind, known in (
        ("museum", {one.name: _of_museum(one) for one in county.buildings.museums if one.opens}),
        ("walk", {one.name: _of_walk(one) for one in county.nature.walks}),
        ("club", {one.name: _of_club(one) for one in county.football.clubs}),
    ):
        names = vocabulary("town")["slots"][kind]
        told = {name: known[name.removeprefix("the ")] for name in names}
        for gap in told[names[0]]:
            yield gap, (kind, {name: one[gap] for name, one in told.items()})


def _of_museum(it: Museum) -> Mapping[str, str]:
    if it.street is None or it.opens is None:
        message = f"{it.name} has no street or no hour at which it opens"
        raise ValueError(message)
    is_free = it.admission == "free"
    return {
        "days": open_days({"Monday", it.closed_on}),
        "closed": " and ".join(f"{day}s" for day in WEEK if day in {"Monday", it.closed_on}),
        "admission": "Admission is free" if is_free else f"Admission {it.admission}",
        "fee": "admission is free" if is_free else f"{it.admission}, children free",
        "opens": it.opens,
        "opened": str(it.opened),
        "objects": f"{it.objects:,}",
        "topic": it.topic,
        "address": it.street.name,
    }


def open_days(closed: set[str]) -> str:
    """Return the days of the week without some: `on Tuesday and from Thursday to Sunday`."""
    runs: list[list[str]] = [[]]
    for day in WEEK:
        if day in closed:
            runs.append([])
        else:
            runs[-1].append(day)
    said = [_run(one) for one in runs if one]
    return f"{', '.join(said[:-1])} and {said[-1]}" if len(said) > 1 else said[0]


def _run(days: list[str]) -> str:
    if len(days) < 3:
        return f"on {' and '.join(days)}"
    return f"from {days[0]} to {days[-1]}"


def _of_walk(it: Walk) -> Mapping[str, str]:
    hours = round((it.length / PACE + it.climb / CLIMB) * 2) / 2
    way = (
        f"leads from {it.start.name} to {it.end.name}"
        if it.end
        else f"begins and ends in {it.start.name}"
    )
    return {
        "way": way,
        "length": f"{it.length} km ({it.length / MILE:.1f} miles)",
        "climb": f"{it.climb} metres of ascent",
        "hours": f"{hours:g} hour{'' if hours == 1 else 's'}",
    }


def _of_club(it: Club) -> Mapping[str, str]:
    return {
        "ground": it.ground,
        "founded": str(it.founded),
        "capacity": f"{it.capacity:,}",
        "kit": it.kit,
    }
