"""Rules on the pages that a task, its reference or its computed values open."""

from __future__ import annotations

from collections.abc import Iterator

from arena_core.worlds import World
from evaluators.computed import Computed
from evaluators.fields import PerWorld
from sites.atlas import Atlas
from sites.upstreams import BLANK
from tasks.check_rules import located_checks
from tasks.findings import Location, TaskFault
from tasks.pages import TaskPage, opening_faults
from tasks.reference_rules import scripts
from tasks.schema import GotoPage, Task


def page_faults(task: Task, atlas: Atlas) -> Iterator[TaskFault]:
    """Yield what is wrong with the logical URLs that a task opens itself.

    Those of its checks are a matter of their locators.
    """
    for at, page in _opened(task):
        for message in opening_faults(page, task, atlas):
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
        if check.computed is not None and World.OFFLINE in {*check.worlds} & {*task.worlds}:
            yield from _computed((*at, "computed"), check.computed)


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
