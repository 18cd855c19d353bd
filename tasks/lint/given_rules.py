"""Rules on what a task sets up before it begins."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import assert_never

from arena_core.actions import key_fault
from arena_core.names import offered
from evaluators.fields import PerWorld
from evaluators.lint import Location, TaskFault, warning
from sites.manifest import DatabaseEngine, ServerDatabase, Site
from sites.registry import SiteRegistry
from tasks.given import CallApi, DoAs, PutFile, RunCommand, RunSql, SetClock, Step
from tasks.lint.sql import Tables, statements_fault
from tasks.reference import GiveUp, GotoPage, PressKeys, SolveMiniWob, StopWith, UploadTo
from tasks.schema import Task


def given_faults(task: Task, registry: SiteRegistry, known: Tables) -> Iterator[TaskFault]:
    """Yield what keeps steps of `given` and `contents` from being done, as far as it shows."""
    yield from _faults(("given",), task.given, task, registry, known)
    for content, given in task.contents.items():
        yield from _faults(("contents", content), given, task, registry, known)


def _faults(
    where: Location,
    given: Mapping[str, Sequence[Step]],
    task: Task,
    registry: SiteRegistry,
    known: Tables,
) -> Iterator[TaskFault]:
    for name, steps in given.items():
        at: Location = (*where, name)
        if name not in task.sites:
            yield TaskFault(at, f"sets up '{name}', which is not one of the task's sites")
        site = registry.sites.get(name)
        if site is None:
            continue
        if site.state is None:
            yield TaskFault(at, f"site '{name}' has no `state` in its manifest: nothing to set up")
            continue
        if sum(isinstance(step, SetClock) for step in steps) > 1:
            yield TaskFault(at, "sets the clock twice: only the last time counts")
        for number, step in enumerate(steps):
            yield from _step(site, (*at, number), step, known)


def _step(site: Site, at: Location, step: Step, known: Tables) -> Iterator[TaskFault]:
    match step:
        case RunSql():
            yield from _sql(site, (*at, "sql"), step, known)
        case CallApi():
            yield from _api(site, (*at, "api"), step)
        case PutFile():
            yield from _file(site, (*at, "file"), step)
        case RunCommand():
            pass
        case DoAs():
            yield from _actions(site, at, step)
        case SetClock():
            yield from _clock(site, (*at, "clock"), step)
        case _:
            assert_never(step)


def _sql(site: Site, at: Location, step: RunSql, known: Tables) -> Iterator[TaskFault]:
    database = site.database
    if not isinstance(database, ServerDatabase) or database.engine is not DatabaseEngine.MARIADB:
        message = f"the database of site '{site.name}' is no MariaDB server"
        yield TaskFault(at, f"{message}: use `command` or `api`")
        return
    fault = statements_fault(step.sql, known.get(site.name))
    if fault is not None:
        yield TaskFault(at, fault)


def _api(site: Site, at: Location, step: CallApi) -> Iterator[TaskFault]:
    role = site.roles.get(step.api.role)
    if role is None:
        known = offered(step.api.role, site.roles, intro="it has")
        yield TaskFault((*at, "role"), f"unknown role of site '{site.name}'; {known}")
    elif role.api is None:
        yield TaskFault((*at, "role"), f"role '{step.api.role}' has no `api` login in the manifest")


def _file(site: Site, at: Location, step: PutFile) -> Iterator[TaskFault]:
    folder = "" if site.state is None else f"{site.state.folder}/"
    if not posixpath.normpath(step.file.path).startswith(folder):
        message = f"a file of site '{site.name}' is written under {folder}: nothing else is state"
        yield TaskFault((*at, "path"), message)


def _actions(site: Site, at: Location, step: DoAs) -> Iterator[TaskFault]:
    if step.role is not None and step.role not in site.roles:
        known = offered(step.role, site.roles, intro="it has")
        yield TaskFault((*at, "as"), f"unknown role of site '{site.name}'; {known}")
    for number, action in enumerate(step.do):
        place = (*at, "do", number)
        match action:
            case StopWith() | GiveUp():
                yield TaskFault(place, "ends an episode, and here none has begun: leave it out")
            case SolveMiniWob() | UploadTo():
                yield TaskFault(place, f"`{action.do}` cannot be done here; use `file` or `api`")
            case GotoPage(page=page):
                path = page.offline if isinstance(page, PerWorld) else page
                if path.partition(":")[0] != site.name:
                    message = f"opens '{path}', but these are steps for site '{site.name}'"
                    yield TaskFault((*place, "page"), message)
            case PressKeys(keys=keys):
                fault = key_fault(keys)
                if fault:
                    yield TaskFault((*place, "keys"), fault)
            case _:
                pass


def _clock(site: Site, at: Location, step: SetClock) -> Iterator[TaskFault]:
    begins = site.clock.begins
    if begins is None:
        yield TaskFault(at, f"site '{site.name}' has the machine's clock, which cannot be set")
    elif step.clock == begins:
        yield warning(at, "is when the site's clock begins anyway: it has no effect")
