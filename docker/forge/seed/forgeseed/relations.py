"""What ties issues together: relations between them, people who watch them."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from forgeseed.issues import REJECTED, Issue

RELATIONS = 420
KINDS = ("relates", "relates", "relates", "blocks", "duplicates")


@dataclass(frozen=True, slots=True)
class Relation:
    """One relation, told once, as Redmine keeps it."""

    first: int
    second: int
    kind: str


def relations(issues: list[Issue]) -> list[Relation]:
    """Return relations between issues of one project that lie near to each other in time."""
    rng = Random("forge/relations")
    by_project: dict[int, list[Issue]] = {}
    for issue in issues:
        by_project.setdefault(issue.project.id, []).append(issue)
    made: dict[tuple[int, int], Relation] = {}
    while len(made) < RELATIONS:
        held = by_project[rng.choice(issues).project.id]
        place = rng.randrange(len(held) - 1)
        other = rng.randrange(place + 1, min(place + 12, len(held)))
        older, newer = held[place], held[other]
        if newer.parent is older or older.parent is newer:
            continue
        kind = "duplicates" if newer.status == REJECTED else rng.choice(KINDS)
        first, second = (newer, older) if kind == "duplicates" else (older, newer)
        if kind == "relates" and first.id > second.id:
            first, second = second, first
        if kind == "blocks" and first.closed is None and second.closed is not None:
            kind = "relates"
        made.setdefault((older.id, newer.id), Relation(first.id, second.id, kind))
    return list(made.values())


def watchers(issues: list[Issue]) -> list[tuple[int, int]]:
    """Return which issue is watched by whom."""
    rng = Random("forge/watchers")
    made: list[tuple[int, int]] = []
    for issue in issues:
        for person, _ in rng.sample(issue.project.team, rng.choice((0, 0, 0, 1, 2))):
            made.append((issue.id, person.id))
    return made
