"""The rule on `worlds:` of a check: what answers for its site there must be able to answer it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from arena_core.worlds import World
from evaluators.checks import Check
from sites.manifest import Site
from sites.upstreams import Upstream, upstream_of
from tasks.findings import Location, TaskFault
from tasks.schema import Task

# Says why an upstream cannot answer, None where it can: see sites/capabilities.py.
Capability = Callable[[Upstream], str | None]


def unanswered(
    at: Location,
    check: Check,
    task: Task,
    site: Site | None,
    *,
    fault_of: Capability,
    field: str = "site",
) -> Iterator[TaskFault]:
    """Yield a check that asks what its site's upstream cannot answer in a world of the check.

    Args:
        at: the place of the locator.
        check: it has the locator.
        task: it has the check.
        site: the site that the locator asks; None where there is no such site.
        fault_of: what the upstream must be able to do.
        field: of the locator; it is wrong where no world has an answer.
    """
    if site is None:
        return
    faults = {world: fault_of(upstream_of(site, world)) for world in World}
    answering = [world for world, fault in faults.items() if fault is None]
    for world, fault in faults.items():
        if fault is None:
            continue
        if not answering:
            yield TaskFault((*at, field), fault)
            return
        if world in check.worlds and world in task.worlds:
            limit = f"`worlds: [{', '.join(answering)}]`"
            yield TaskFault(at[:-1], f"{fault}: give check '{check.name}' {limit}")
