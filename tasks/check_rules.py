"""Rules on the checks of a task."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from arena_core.worlds import World
from evaluators.checks import (
    Check,
    LocateAnswer,
    LocateApi,
    LocateDb,
    LocateDelta,
    LocateElement,
    LocatePage,
    LocateUrl,
    LocateWob,
    MatchDelta,
    MatchExact,
    PerWorld,
    When,
)
from evaluators.json_path import json_path_fault
from sites.atlas import Atlas
from sites.capabilities import api_login_fault, changes_fault, sql_fault
from sites.manifest import DatabaseEngine, Site
from tasks.findings import Location, TaskFault, warning
from tasks.roles import role_doubt
from tasks.schema import Task
from tasks.selectors import selector_fault
from tasks.sql import engine_of, select_fault
from tasks.upstream_rules import unanswered


def located_checks(task: Task) -> Iterator[tuple[Location, Check]]:
    """Yield every check of a task with its place, `requires` last."""
    for number, check in enumerate(task.checks):
        yield ("checks", number), check
    for number, check in enumerate(task.requires):
        yield ("requires", number), check


def check_faults(task: Task, atlas: Atlas) -> Iterator[TaskFault]:
    """Yield what is wrong with a task's checks."""
    yield from _twins(task)
    for at, check in located_checks(task):
        if not set(check.worlds) & set(task.worlds):
            yield TaskFault(
                (*at, "worlds"), f"check '{check.name}' applies in no world of the task"
            )
        if at[0] == "requires":
            yield from _requirement(at, check)
        yield from _locator(at, check, task, atlas)
        yield from _matcher(at, check)


def _twins(task: Task) -> Iterator[TaskFault]:
    """Yield checks that share a name, or that one event would meet twice."""
    checks = list(located_checks(task))
    for number, (at, check) in enumerate(checks):
        for other_at, other in checks[:number]:
            if check.name == other.name:
                yield TaskFault((*at, "name"), f"two checks are called '{check.name}'")
            elif (
                at[0] == other_at[0]
                and (check.when, check.locate, check.match)
                == (other.when, other.locate, other.match)
                and set(check.worlds) & set(other.worlds)
            ):
                message = f"checks '{other.name}' and '{check.name}' ask for the same thing"
                yield TaskFault(at, f"{message}: one event would count twice")


def _requirement(at: Location, check: Check) -> Iterator[TaskFault]:
    if isinstance(check.locate, LocateUrl | LocateAnswer | LocateElement):
        message = f"before the agent starts there is no {check.locate.by} to look at"
        yield TaskFault((*at, "locate"), f"{message}: require by page, db or api")
    if isinstance(check.locate, LocateWob):
        yield TaskFault((*at, "locate"), "before the agent starts no page has given a reward")
    if isinstance(check.locate, LocateDelta):
        message = "before the agent starts nothing has changed: require by page, db or api"
        yield TaskFault((*at, "locate"), message)
    if isinstance(check.locate, LocatePage) and check.locate.at == "own":
        message = "before the agent starts it has no page of its own: name one with `at`"
        yield TaskFault((*at, "locate"), message)


def _locator(at: Location, check: Check, task: Task, atlas: Atlas) -> Iterator[TaskFault]:
    where = (*at, "locate")
    if isinstance(check.locate, LocatePage) and check.locate.role is not None:
        yield from _page_role(where, check.locate.at.partition(":")[0], check.locate.role, task)
    match check.locate:
        case LocateDb() as locate:
            yield from _database(where, check, locate, task, atlas)
        case LocateDelta() as locate:
            yield from _delta(where, check, locate, task, atlas)
        case LocateApi() as locate:
            yield from _api(where, check, locate, task, atlas)
        case LocatePage() as locate:
            yield from _selectors(where, locate)
        case LocateElement(role=str() as role):
            doubt = role_doubt(role)
            if doubt:
                yield warning((*where, "role"), doubt)
        case _:
            return


def _selectors(at: Location, locate: LocatePage) -> Iterator[TaskFault]:
    named: list[tuple[Location, str]] = []
    if isinstance(locate.selector, PerWorld):
        named += [((*at, "selector", world.value), locate.selector.of(world)) for world in World]
    else:
        named.append(((*at, "selector"), locate.selector))
    for where, selector in named:
        fault = selector_fault(selector)
        if fault:
            yield TaskFault(where, fault)


def _page_role(at: Location, site: str, role: str, task: Task) -> Iterator[TaskFault]:
    roles = task.roles_of(site)
    if role not in roles:
        there = ", ".join(roles) or "none"
        message = f"the task has no role '{role}' on '{site}'; it has: {there}"
        yield TaskFault((*at, "role"), message)


def _database(
    at: Location, check: Check, locate: LocateDb, task: Task, atlas: Atlas
) -> Iterator[TaskFault]:
    yield from _site(at, locate.site, task, atlas)
    site = atlas.sites.get(locate.site)
    yield from unanswered(at, check, task, site, fault_of=sql_fault)
    fault = select_fault(locate.sql, engine_of(site))
    if fault:
        yield TaskFault((*at, "sql"), fault)


def _api(
    at: Location, check: Check, locate: LocateApi, task: Task, atlas: Atlas
) -> Iterator[TaskFault]:
    yield from _site(at, locate.site, task, atlas)
    site = atlas.sites.get(locate.site)
    fault = None if locate.json_path is None else json_path_fault(locate.json_path)
    if fault:
        yield TaskFault((*at, "json_path"), fault)
    if locate.role is not None:
        has_login = partial(api_login_fault, role=locate.role)
        yield from unanswered(at, check, task, site, fault_of=has_login, field="role")


def _delta(
    at: Location, check: Check, locate: LocateDelta, task: Task, atlas: Atlas
) -> Iterator[TaskFault]:
    yield from _site(at, locate.site, task, atlas)
    site = atlas.sites.get(locate.site)
    yield from unanswered(at, check, task, site, fault_of=changes_fault)
    if not isinstance(check.match, MatchDelta):
        return
    if site is not None:
        yield from _stateless(at, site)
        yield from _outside(at, check.match, site)
    for number, wanted in enumerate(check.match.changes):
        where = (*at[:-1], "match", "changes", number)
        if wanted.table is None:
            continue
        if site is not None and site.database is None:
            yield TaskFault((*where, "table"), f"site '{locate.site}' has no database")
        elif site and site.database and site.database.engine is DatabaseEngine.POSTGRESQL:
            message = f"the rows of '{locate.site}' are in PostgreSQL: no change in them is found"
            yield TaskFault((*where, "table"), message)
        if locate.ignore.has_table(wanted.table):
            message = f"table '{wanted.table}' is ignored by the locator: no change of it is found"
            yield TaskFault((*where, "table"), message)
        ignored = locate.ignore.columns.get(wanted.table, ())
        for column in (*wanted.columns, *wanted.before):
            if column in ignored:
                message = f"column '{column}' is ignored by the locator: it has no value"
                yield TaskFault(where, message)


def _stateless(at: Location, site: Site) -> Iterator[TaskFault]:
    """Yield a delta of a site of which nothing is ever seen to change."""
    if not site.stateful:
        yield TaskFault((*at, "site"), f"site '{site.name}' holds no state: it never changes")
    elif site.database is None and not site.fingerprint.files:
        message = f"of site '{site.name}' neither rows nor files are state: no change is found"
        yield TaskFault((*at, "site"), message)


def _outside(at: Location, asked: MatchDelta, site: Site) -> Iterator[TaskFault]:
    """Yield expected files that are in none of the folders that are looked at."""
    named = [
        ((*at[:-1], "match", "changes", number, "file"), wanted.file)
        for number, wanted in enumerate(asked.changes)
        if wanted.file is not None
    ]
    named += [
        ((*at[:-1], "match", "allow", "files", number), pattern)
        for number, pattern in enumerate(asked.allow.files)
    ]
    folders = site.fingerprint.files
    for where, pattern in named:
        start = re.split(r"[*?\[]", pattern, maxsplit=1)[0]
        if not any(
            f"{folder}/".startswith(start) or start.startswith(f"{folder}/") or start == folder
            for folder in folders
        ):
            listed = ", ".join(folders) or "none"
            message = f"'{pattern}' is in no folder of '{site.name}' that is state: {listed}"
            yield TaskFault(where, message)


def _site(at: Location, name: str, task: Task, atlas: Atlas) -> Iterator[TaskFault]:
    if name not in atlas.sites:
        there_are = ", ".join(sorted(atlas.sites))
        yield TaskFault((*at, "site"), f"unknown site '{name}'; there are: {there_are}")
    elif name not in task.sites:
        yield TaskFault((*at, "site"), f"looks at '{name}', which is none of the task's sites")


def _matcher(at: Location, check: Check) -> Iterator[TaskFault]:
    """Yield a key node that asks that nothing is found: the first step would meet it."""
    if not (isinstance(check.match, MatchExact) and check.when is When.STEP):
        return
    value = check.match.value
    branches = (value.offline, value.online) if isinstance(value, PerWorld) else (value,)
    if () in branches:
        yield TaskFault((*at, "match"), f"key node '{check.name}' is met wherever nothing is found")
