"""Rules on the checks of a task."""

from __future__ import annotations

from collections.abc import Iterator

from evaluators.checks import (
    Check,
    LocateAnswer,
    LocateApi,
    LocateDb,
    LocateDelta,
    LocateElement,
    LocatePage,
    LocateUrl,
    MatchDelta,
    MatchExact,
    PerWorld,
    When,
)
from sites.atlas import Atlas
from sites.worlds import World
from tasks.findings import Fault, Location
from tasks.schema import Task
from tasks.selectors import selector_fault
from tasks.sql import select_fault


def located_checks(task: Task) -> Iterator[tuple[Location, Check]]:
    """Yield every check of a task with its place, `requires` last."""
    for number, check in enumerate(task.checks):
        yield ("checks", number), check
    for number, check in enumerate(task.requires):
        yield ("requires", number), check


def check_faults(task: Task, atlas: Atlas) -> Iterator[Fault]:
    """Yield what is wrong with a task's checks."""
    yield from _twins(task)
    for at, check in located_checks(task):
        if not set(check.worlds) & set(task.worlds):
            yield Fault((*at, "worlds"), f"check '{check.name}' applies in no world of the task")
        if at[0] == "requires":
            yield from _requirement(at, check)
        yield from _locator(at, check, task, atlas)
        yield from _matcher(at, check)


def _twins(task: Task) -> Iterator[Fault]:
    """Yield checks that share a name, or that one event would meet twice."""
    checks = list(located_checks(task))
    for number, (at, check) in enumerate(checks):
        for other_at, other in checks[:number]:
            if check.name == other.name:
                yield Fault((*at, "name"), f"two checks are called '{check.name}'")
            elif (
                at[0] == other_at[0]
                and (check.when, check.locate, check.match)
                == (other.when, other.locate, other.match)
                and set(check.worlds) & set(other.worlds)
            ):
                message = f"checks '{other.name}' and '{check.name}' ask for the same thing"
                yield Fault(at, f"{message}: one event would count twice")


def _requirement(at: Location, check: Check) -> Iterator[Fault]:
    if isinstance(check.locate, LocateUrl | LocateAnswer | LocateElement):
        message = f"before the agent starts there is no {check.locate.by} to look at"
        yield Fault((*at, "locate"), f"{message}: require by page, db or api")
    if isinstance(check.locate, LocateDelta):
        message = "before the agent starts nothing has changed: require by page, db or api"
        yield Fault((*at, "locate"), message)
    if isinstance(check.locate, LocatePage) and check.locate.at == "own":
        message = "before the agent starts it has no page of its own: name one with `at`"
        yield Fault((*at, "locate"), message)


def _locator(at: Location, check: Check, task: Task, atlas: Atlas) -> Iterator[Fault]:
    where = (*at, "locate")
    match check.locate:
        case LocateDb() as locate:
            yield from _database(where, check, locate, task, atlas)
        case LocateDelta() as locate:
            yield from _delta(where, check, locate, task, atlas)
        case LocateApi() as locate:
            yield from _api(where, check, locate, task, atlas)
        case LocatePage(selector=PerWorld() as selectors):
            for world in World:
                fault = selector_fault(selectors.of(world))
                if fault:
                    yield Fault((*where, "selector", world.value), fault)
        case LocatePage(selector=str() as selector):
            fault = selector_fault(selector)
            if fault:
                yield Fault((*where, "selector"), fault)
        case _:
            return


def _database(
    at: Location, check: Check, locate: LocateDb, task: Task, atlas: Atlas
) -> Iterator[Fault]:
    yield from _site(at, locate.site, task, atlas)
    site = atlas.sites.get(locate.site)
    if site is not None and site.database is None:
        yield Fault((*at, "site"), f"site '{locate.site}' has no database")
    yield from _behind_live(at, check, locate.site, task, atlas)
    fault = select_fault(locate.sql)
    if fault:
        yield Fault((*at, "sql"), fault)


def _api(
    at: Location, check: Check, locate: LocateApi, task: Task, atlas: Atlas
) -> Iterator[Fault]:
    yield from _site(at, locate.site, task, atlas)
    site = atlas.sites.get(locate.site)
    if locate.role is None or site is None:
        return
    with_api = sorted(name for name, role in site.roles.items() if role.api)
    if locate.role not in with_api:
        message = f"site '{site.name}' has no API login of role '{locate.role}'"
        yield Fault((*at, "role"), f"{message}; there are: {', '.join(with_api) or 'none'}")
    yield from _behind_live(at, check, locate.site, task, atlas, what="API login")


def _delta(
    at: Location, check: Check, locate: LocateDelta, task: Task, atlas: Atlas
) -> Iterator[Fault]:
    yield from _site(at, locate.site, task, atlas)
    yield from _behind_live(at, check, locate.site, task, atlas)
    if not isinstance(check.match, MatchDelta):
        return
    site = atlas.sites.get(locate.site)
    for number, wanted in enumerate(check.match.changes):
        where = (*at[:-1], "match", "changes", number)
        if wanted.table is None:
            continue
        if site is not None and site.database is None:
            yield Fault((*where, "table"), f"site '{locate.site}' has no database")
        if locate.ignore.has_table(wanted.table):
            message = f"table '{wanted.table}' is ignored by the locator: no change of it is found"
            yield Fault((*where, "table"), message)
        ignored = locate.ignore.columns.get(wanted.table, ())
        for column in (*wanted.columns, *wanted.before):
            if column in ignored:
                message = f"column '{column}' is ignored by the locator: it has no value"
                yield Fault(where, message)


def _behind_live(
    at: Location, check: Check, name: str, task: Task, atlas: Atlas, *, what: str = "database"
) -> Iterator[Fault]:
    """Yield a check that looks behind a site in a world where the site is visited live."""
    site = atlas.sites.get(name)
    worlds = set(check.worlds) & set(task.worlds)
    if site is not None and site.live is not None and World.ONLINE in worlds:
        message = f"there is no {what} behind the live '{name}'"
        yield Fault(at[:-1], f"{message}: give check '{check.name}' `worlds: [offline]`")


def _site(at: Location, name: str, task: Task, atlas: Atlas) -> Iterator[Fault]:
    if name not in atlas.sites:
        there_are = ", ".join(sorted(atlas.sites))
        yield Fault((*at, "site"), f"unknown site '{name}'; there are: {there_are}")
    elif name not in task.sites:
        yield Fault((*at, "site"), f"looks at '{name}', which is none of the task's sites")


def _matcher(at: Location, check: Check) -> Iterator[Fault]:
    """Yield a key node that asks that nothing is found: the first step would meet it."""
    if not (isinstance(check.match, MatchExact) and check.when is When.STEP):
        return
    value = check.match.value
    branches = (value.offline, value.online) if isinstance(value, PerWorld) else (value,)
    if () in branches:
        yield Fault((*at, "match"), f"key node '{check.name}' is met wherever nothing is found")
