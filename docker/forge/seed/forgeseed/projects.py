"""The projects: who belongs to them, when they began, which versions they plan."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from random import Random

from forgeseed.clock import DAY, NOW, moments
from forgeseed.people import Person
from forgeseed.sources import vocabulary

MANAGER, DEVELOPER, REPORTER = 3, 4, 5  # ids of Redmine's default roles
# Who is where, whatever the draw says: the maintainer manages, the developer develops.
SET = {
    "ines.ferreira": (
        MANAGER,
        ("kettle-firmware", "lantern-firmware", "ropewalk", "inkwell", "halyard", "harbour-store"),
    ),
    "tom.ashworth": (
        DEVELOPER,
        ("waypost", "waypost-markdown", "ropewalk", "kettle-firmware", "harbour-store", "foghorn"),
    ),
    "margaret.oakes": (REPORTER, ("harbour-store", "harbour-checkout", "harbour-warehouse")),
    "helen.fairweather": (MANAGER, ("gazette-site", "gazette-newsletter")),
    "idris.calloway": (REPORTER, ("gazette-site", "gazette-presses")),
    "nora.lindqvist": (REPORTER, ("gazette-site", "gazette-archive")),
    "anna.fairweather": (DEVELOPER, ("inkwell", "waypost-mobile")),
}


@dataclass(frozen=True, slots=True)
class Version:
    """A milestone."""

    id: int
    name: str
    due: date
    status: str
    made: datetime


@dataclass(frozen=True, slots=True)
class Project:
    """A project with what its issues, pages and history are made of.

    Attributes:
        team: members by role, in the order in which they joined.
        labels: issue categories: id and name.
    """

    id: int
    identifier: str
    name: str
    about: str
    org: str
    parent: str
    is_public: bool
    code: str
    things: tuple[str, ...]
    labels: tuple[tuple[int, str], ...]
    versions: tuple[Version, ...]
    team: tuple[tuple[Person, int], ...]
    since: datetime

    def of_role(self, *roles: int) -> tuple[Person, ...]:
        """Return the members that have one of these roles."""
        return tuple(person for person, role in self.team if role in roles)

    @property
    def committers(self) -> tuple[Person, ...]:
        """Those who may push."""
        return self.of_role(MANAGER, DEVELOPER)


def projects(people: tuple[Person, ...]) -> tuple[Project, ...]:
    """Return all projects in the order of their ids."""
    rng = Random("forge/projects")
    started = moments(rng, 40, datetime(2023, 3, 10, tzinfo=UTC), datetime(2025, 6, 1, tzinfo=UTC))
    made: list[Project] = []
    labels = versions = 0
    for number, told in enumerate(vocabulary("projects")["project"], start=1):
        since = started[number - 1]
        planned = _versions(rng, since, versions)
        made.append(
            Project(
                id=number,
                identifier=told["id"],
                name=told["name"],
                about=told["about"],
                org=told["org"],
                parent=told.get("parent", ""),
                is_public=not told.get("private", False),
                code=told.get("code", ""),
                things=tuple(told["things"]),
                labels=tuple(enumerate(told["labels"], start=labels + 1)),
                versions=planned,
                team=_team(rng, told, people),
                since=since,
            )
        )
        labels += len(told["labels"])
        versions += len(planned)
    return tuple(made)


def _versions(rng: Random, since: datetime, before: int) -> tuple[Version, ...]:
    """Versions every few months from the start until after the forge's now; one has no date due."""
    major, minor, due = rng.choice((0, 1)), 1, since + 90 * DAY
    made: list[Version] = []
    while due < NOW + 120 * DAY:
        status = "closed" if due < NOW - 40 * DAY else "open"
        made.append(
            Version(before + len(made) + 1, f"{major}.{minor}", due.date(), status, due - 85 * DAY)
        )
        due += timedelta(days=rng.randint(95, 190))
        major, minor = (major + 1, 0) if rng.random() < 0.2 else (major, minor + 1)
    return tuple(made)


def _team(
    rng: Random, told: dict[str, str], people: tuple[Person, ...]
) -> tuple[tuple[Person, int], ...]:
    fixed = {login: role for login, (role, where) in SET.items() if told["id"] in where}
    team = [(person, fixed[person.login]) for person in people if person.login in fixed]
    own = [one for one in people if one.org == told["org"] and one.login not in SET and one.id > 1]
    others = [one for one in people if one.org != told["org"] and one.login not in SET]
    wanted = [MANAGER] * rng.choice((1, 1, 2))
    wanted += [DEVELOPER] * rng.randint(4, 8)
    wanted += [REPORTER] * rng.randint(2, 9)
    if any(role == MANAGER for _, role in team):
        wanted = wanted[1:]
    chosen = rng.sample(own, len(wanted) - 2) + rng.sample(others[10:], 2)
    rng.shuffle(chosen)
    team += list(zip(chosen, wanted, strict=True))
    return tuple(team)
