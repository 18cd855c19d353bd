"""Rules on the pages that a task, its reference or its computed values open."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from arena_core.errors import ManifestError
from arena_core.names import offered
from arena_core.worlds import World
from evaluators.checks import Computed
from evaluators.fields import PerWorld
from evaluators.lint import Location, TaskFault
from evaluators.values.logical_urls import parse_logical_url
from sites.fields import path_fault
from sites.registry import SiteRegistry
from sites.upstreams import BLANK
from tasks.lint.reference_rules import scripts
from tasks.reference import GotoPage
from tasks.schema import Task, located_checks


@dataclass(frozen=True, slots=True)
class TaskPage:
    """A logical URL of a task, and in which worlds it is used."""

    logical: str
    worlds: tuple[World, ...]


def opening_faults(page: TaskPage, task: Task, registry: SiteRegistry) -> Iterator[str]:
    """Yield why a page cannot be opened."""
    fault = _form_fault(page, task, registry) or _path_fault(page)
    if fault is None:
        yield from _unopenable(page, registry)
    else:
        yield fault


def visiting_faults(page: TaskPage, task: Task, registry: SiteRegistry) -> Iterator[str]:
    """Yield why no visit can equal a page."""
    fault = _form_fault(page, task, registry) or _dots_fault(page)
    if fault is None:
        yield from _unreachable(page, registry)
    else:
        yield fault


def _form_fault(page: TaskPage, task: Task, registry: SiteRegistry) -> str | None:
    """Say why text is no logical URL of one of the task's sites."""
    name, colon, rest = page.logical.partition(":")
    if not colon or not rest.startswith("/") or rest.startswith("//"):
        return f"'{page.logical}' is no logical URL: write `site:/path`"
    if name not in registry.sites:
        return f"'{page.logical}': unknown site '{name}'; {offered(name, registry.sites)}"
    if name not in task.sites:
        return f"'{page.logical}': '{name}' is not one of the task's sites"
    return None


def _path_fault(page: TaskPage) -> str | None:
    """Say why a browser would open another page than the one that is written."""
    fault = path_fault(page.logical.partition(":")[2])
    return f"'{page.logical}': its path {fault}" if fault else None


def _dots_fault(page: TaskPage) -> str | None:
    """Say why no visited page can be called so: browsers resolve `.` and `..`."""
    parts = parse_logical_url(page.logical).page.split("/")
    if {".", ".."}.isdisjoint(parts):
        return None
    return f"'{page.logical}': its path holds '.' or '..' between slashes: no visited page does"


def _unopenable(page: TaskPage, registry: SiteRegistry) -> Iterator[str]:
    for world in page.worlds:
        try:
            registry.url(page.logical, world)
        except ManifestError as error:
            yield f"cannot be opened: {error.message}"


def _unreachable(page: TaskPage, registry: SiteRegistry) -> Iterator[str]:
    """Yield a page that no visit can equal, since route rules give it another logical path."""
    wanted = parse_logical_url(page.logical)
    for world in page.worlds:
        try:
            reached = registry.logical(registry.url(page.logical, world))
        except ManifestError:
            continue
        if reached is not None and parse_logical_url(reached).page != wanted.page:
            message = f"no visit in the {world} world equals '{page.logical}'"
            yield f"{message}: there it is '{reached}'"
            return


def page_faults(task: Task, registry: SiteRegistry) -> Iterator[TaskFault]:
    """Yield what is wrong with the logical URLs that a task opens itself.

    Those of its checks are a matter of their locators.
    """
    for at, page in _opened(task):
        for message in opening_faults(page, task, registry):
            yield TaskFault(at, message)


def _opened(task: Task) -> Iterator[tuple[Location, TaskPage]]:
    for number, start in enumerate(task.start):
        at: Location = ("start", number)
        if start == BLANK:
            continue
        if isinstance(start, str):
            yield at, TaskPage(start, task.worlds)
        else:
            yield (*at, "page"), TaskPage(start.page, task.worlds)
    for place, script in scripts(task):
        for number, action in enumerate(script):
            if isinstance(action, GotoPage):
                worlds = tuple(world for world in task.worlds if action.only in (None, world))
                yield from _branches((*place, number, "page"), action.page, worlds)
    for at, check in located_checks(task):
        if World.OFFLINE in {*check.worlds} & {*task.worlds}:
            for place, asked in check.asked:
                yield from _computed((*at, *place), asked)


def _computed(at: Location, computed: Computed) -> Iterator[tuple[Location, TaskPage]]:
    """Yield the page of a replica that a value is read from."""
    for field, path in (("page", computed.page), ("path", computed.path)):
        if path is not None:
            yield (*at, field), TaskPage(f"{computed.site}:{path}", (World.OFFLINE,))


def _branches(
    at: Location, text: str | PerWorld[str], worlds: tuple[World, ...]
) -> Iterator[tuple[Location, TaskPage]]:
    if isinstance(text, str):
        yield at, TaskPage(text, worlds)
    else:
        for world in worlds:
            yield (*at, world.value), TaskPage(text.of(world), (world,))
