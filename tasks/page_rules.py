"""Rules on logical URLs: they parse, name the task's sites, and have a form in each world."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from arena_core.errors import ManifestError
from arena_core.worlds import World
from evaluators.checks import (
    Check,
    Expected,
    LocateApi,
    LocateElement,
    LocatePage,
    LocateUrl,
    MatchExact,
    PerWorld,
    UrlPart,
    When,
)
from evaluators.computed import Computed
from evaluators.logical_urls import parse_logical_url
from sites.atlas import Atlas
from sites.fields import path_fault
from tasks.check_rules import located_checks
from tasks.findings import Location, TaskFault, warning
from tasks.schema import GotoPage, Task

_WHOLE = frozenset({UrlPart.LOGICAL, UrlPart.FULL})


@dataclass(frozen=True, slots=True)
class _Page:
    """A logical URL of a task, where it stands, and in which worlds it is used."""

    at: Location
    logical: str
    worlds: tuple[World, ...]


def page_faults(task: Task, atlas: Atlas) -> Iterator[TaskFault]:
    """Yield what is wrong with the logical URLs that a task opens or expects."""
    for page in _opened(task):
        fault = _form_fault(page, task, atlas) or _path_fault(page)
        if fault is None:
            yield from _unopenable(page, atlas)
        else:
            yield TaskFault(page.at, fault)
    for page in _expected(task):
        fault = _form_fault(page, task, atlas) or _dots_fault(page)
        if fault is None:
            yield from _unreachable(page, atlas)
        else:
            yield TaskFault(page.at, fault)
    yield from _beyond_the_path(task)
    yield from _met_by_opening(task)


def _opened(task: Task) -> Iterator[_Page]:
    """Yield the pages that the task, its reference or its checks open."""
    for number, start in enumerate(task.start):
        at: Location = ("start", number)
        if isinstance(start, str):
            yield _Page(at, start, task.worlds)
        else:
            yield _Page((*at, "page"), start.page, task.worlds)
    for number, action in enumerate(task.reference):
        if isinstance(action, GotoPage):
            worlds = tuple(world for world in task.worlds if action.only in (None, world))
            yield from _branches(("reference", number, "page"), action.page, worlds)
    for at, check in located_checks(task):
        worlds = _worlds(task, check)
        if isinstance(check.locate, LocatePage) and check.locate.at != "own":
            yield _Page((*at, "locate", "at"), check.locate.at, worlds)
        if isinstance(check.locate, LocateApi):
            logical = f"{check.locate.site}:{check.locate.path}"
            yield _Page((*at, "locate", "path"), logical, worlds)
        if check.computed is not None and World.OFFLINE in worlds:
            yield from _computed((*at, "computed"), check.computed)


def _computed(at: Location, computed: Computed) -> Iterator[_Page]:
    """Yield the page of a replica that a value is read from."""
    for field, path in (("page", computed.page), ("path", computed.path)):
        if path is not None:
            yield _Page((*at, field), f"{computed.site}:{path}", (World.OFFLINE,))


def _expected(task: Task) -> Iterator[_Page]:
    """Yield the pages that checks expect the agent to visit or to act on."""
    for at, check in located_checks(task):
        if isinstance(check.locate, LocateUrl | LocateElement) and check.locate.page is not None:
            yield _Page((*at, "locate", "page"), check.locate.page, _worlds(task, check))
    for _, page in _asked(task):
        yield page


def _asked(task: Task) -> Iterator[tuple[Check, _Page]]:
    """Yield the whole URLs that url checks ask for, with their check."""
    for at, check in located_checks(task):
        is_whole = isinstance(check.locate, LocateUrl) and check.locate.part in _WHOLE
        if not (is_whole and isinstance(check.match, MatchExact)):
            continue
        value = check.match.value
        here = (*at, "match", "value")
        worlds = _worlds(task, check)
        if not isinstance(value, PerWorld):
            for text in _texts(value):
                yield check, _Page(here, text, worlds)
            continue
        for world in worlds:
            for text in _texts(value.of(world)):
                yield check, _Page((*here, world.value), text, (world,))


def _branches(
    at: Location, text: str | PerWorld[str], worlds: tuple[World, ...]
) -> Iterator[_Page]:
    if isinstance(text, str):
        yield _Page(at, text, worlds)
    else:
        for world in worlds:
            yield _Page((*at, world.value), text.of(world), (world,))


def _texts(value: Expected | tuple[Expected, ...]) -> tuple[str, ...]:
    return tuple(str(text) for text in (value if isinstance(value, tuple) else (value,)))


def _worlds(task: Task, check: Check) -> tuple[World, ...]:
    return tuple(world for world in task.worlds if world in check.worlds)


def _form_fault(page: _Page, task: Task, atlas: Atlas) -> str | None:
    """Say why text is no logical URL of one of the task's sites."""
    name, colon, rest = page.logical.partition(":")
    if not colon or not rest.startswith("/") or rest.startswith("//"):
        return f"'{page.logical}' is no logical URL: write `site:/path`"
    if name not in atlas.sites:
        there_are = ", ".join(sorted(atlas.sites))
        return f"'{page.logical}': unknown site '{name}'; there are: {there_are}"
    if name not in task.sites:
        return f"'{page.logical}': '{name}' is none of the task's sites"
    return None


def _path_fault(page: _Page) -> str | None:
    """Say why a browser would open another page than the one that is written."""
    fault = path_fault(page.logical.partition(":")[2])
    return f"'{page.logical}': its path {fault}" if fault else None


def _dots_fault(page: _Page) -> str | None:
    """Say why no visited page can be called so: browsers resolve `.` and `..`."""
    parts = parse_logical_url(page.logical).page.split("/")
    if {".", ".."}.isdisjoint(parts):
        return None
    return f"'{page.logical}': its path holds '.' or '..' between slashes: no visited page does"


def _unopenable(page: _Page, atlas: Atlas) -> Iterator[TaskFault]:
    for world in page.worlds:
        try:
            atlas.url(page.logical, world)
        except ManifestError as error:
            yield TaskFault(page.at, f"cannot be opened: {error.message}")


def _unreachable(page: _Page, atlas: Atlas) -> Iterator[TaskFault]:
    """Yield a page that no visit can equal, since route rules give it another logical path."""
    wanted = parse_logical_url(page.logical)
    for world in page.worlds:
        try:
            reached = atlas.logical(atlas.url(page.logical, world))
        except ManifestError:
            continue
        if reached is not None and parse_logical_url(reached).page != wanted.page:
            message = f"no visit in the {world} world equals '{page.logical}'"
            yield TaskFault(page.at, f"{message}: there it is '{reached}'")
            return


def _beyond_the_path(task: Task) -> Iterator[TaskFault]:
    """Yield expected pages with a query or fragment where only the path is looked at."""
    for check, page in _asked(task):
        address = parse_logical_url(page.logical)
        is_path = isinstance(check.locate, LocateUrl) and check.locate.part is UrlPart.LOGICAL
        if is_path and address.full != address.page:
            message = f"'{page.logical}' has more than a path, which is all of `part: logical`"
            yield TaskFault(page.at, f"{message}: say `part: full`, or check the query by itself")


def _met_by_opening(task: Task) -> Iterator[TaskFault]:
    """Yield url key nodes that name a start page: the opening meets none."""
    starts = {parse_logical_url(start).page for start in task.start_pages}
    for check, page in _asked(task):
        if check.when is When.STEP and parse_logical_url(page.logical).full in starts:
            message = f"key node '{check.name}' is the page that the task starts on"
            yield warning(page.at, f"{message}: opening it meets nothing, only a later visit does")
