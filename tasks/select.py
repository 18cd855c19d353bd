"""Choosing tasks of a suite."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from arena_core.errors import UnknownNameError
from tasks.schema import Family, Suite, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which tasks are wanted; what is left empty does not narrow the choice.

    Attributes:
        ids: task ids, or patterns of them with `*` and `?`.
        families: kinds of work.
        sites: only tasks that use at least one of these sites.
    """

    ids: tuple[str, ...] = ()
    families: frozenset[Family] = frozenset()
    sites: frozenset[str] = frozenset()


def select_tasks(suite: Suite, selection: Selection) -> tuple[Task, ...]:
    """Return the wanted tasks, in the order of the suite.

    Raises:
        UnknownNameError: an id or pattern fits no task, a site is used by none, or nothing is left.
    """
    _refuse_unknown(suite, selection)
    chosen = tuple(task for task in suite.tasks if _is_wanted(task, selection))
    if not chosen:
        message = f"no task of suite '{suite.suite}' fits all of what was asked for"
        raise UnknownNameError(message, hint="arena tasks list shows ids, families and sites")
    return chosen


def _is_wanted(task: Task, selection: Selection) -> bool:
    return (
        (not selection.ids or any(fnmatchcase(task.id, pattern) for pattern in selection.ids))
        and (not selection.families or task.family in selection.families)
        and (not selection.sites or not selection.sites.isdisjoint(task.sites))
    )


def _refuse_unknown(suite: Suite, selection: Selection) -> None:
    ids = [task.id for task in suite.tasks]
    missing = [
        f"no task '{pattern}' in suite '{suite.suite}'; there are: {', '.join(ids)}"
        for pattern in selection.ids
        if not any(fnmatchcase(task, pattern) for task in ids)
    ]
    used = {site for task in suite.tasks for site in task.sites}
    missing += [
        f"no task of suite '{suite.suite}' uses site '{site}'; used are: {', '.join(sorted(used))}"
        for site in sorted(selection.sites - used)
    ]
    if missing:
        raise UnknownNameError("; ".join(missing))
