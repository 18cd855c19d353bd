"""Choosing tasks of a suite."""

from __future__ import annotations

from collections.abc import Collection
from fnmatch import fnmatchcase

from sites.errors import UnknownNameError
from tasks.schema import Family, Suite, Task


def select_tasks(
    suite: Suite,
    ids: Collection[str] = (),
    *,
    families: Collection[Family] = (),
    sites: Collection[str] = (),
) -> tuple[Task, ...]:
    """Return the tasks that fit all of what is asked, in the order of the suite.

    Args:
        suite: where to choose from.
        ids: task ids, or patterns of them with `*` and `?`; any may fit.
        families: kinds of work; any may fit.
        sites: tasks that use at least one of these.

    Raises:
        UnknownNameError: an id or pattern fits no task, no task uses a site, or nothing is left.
    """
    _refuse_unknown(suite, ids, sites)
    chosen = tuple(
        task
        for task in suite.tasks
        if (not ids or any(fnmatchcase(task.id, pattern) for pattern in ids))
        and (not families or task.family in families)
        and (not sites or not set(sites).isdisjoint(task.sites))
    )
    if not chosen:
        message = f"no task of suite '{suite.suite}' fits all of what was asked for"
        raise UnknownNameError(message, hint="arena tasks list shows ids, families and sites")
    return chosen


def _refuse_unknown(suite: Suite, ids: Collection[str], sites: Collection[str]) -> None:
    known = [task.id for task in suite.tasks]
    missing = [
        f"no task '{pattern}' in suite '{suite.suite}'; there are: {', '.join(known)}"
        for pattern in ids
        if not any(fnmatchcase(task, pattern) for task in known)
    ]
    used = {site for task in suite.tasks for site in task.sites}
    missing += [
        f"no task of suite '{suite.suite}' uses site '{site}'; used are: {', '.join(sorted(used))}"
        for site in sites
        if site not in used
    ]
    if missing:
        raise UnknownNameError("; ".join(missing))
