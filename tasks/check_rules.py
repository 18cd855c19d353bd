"""Rules on the checks of a task; what is one locator's or matcher's own matter, it says itself."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from evaluators.checks import Check
from evaluators.fields import When
from evaluators.locators.base import LookingLocator
from evaluators.matchers.base import JudgedMatcher
from sites.atlas import Atlas
from tasks.check_context import CheckContext
from tasks.findings import Location, TaskFault
from tasks.schema import Task
from tasks.site_tables import Tables
from tasks.sql import select_fault
from tasks.sql_names import names_fault


def located_checks(task: Task) -> Iterator[tuple[Location, Check]]:
    """Yield every check of a task with its place, `requires` last."""
    for number, check in enumerate(task.checks):
        yield ("checks", number), check
    for number, check in enumerate(task.requires):
        yield ("requires", number), check


def check_faults(task: Task, atlas: Atlas, tables: Tables) -> Iterator[TaskFault]:
    """Yield what is wrong with a task's checks.

    Args:
        task: whose checks.
        atlas: the sites there are.
        tables: of the sites whose databases are known.
    """
    yield from _twins(task)
    yield from _look_faults(task)
    for at, check in located_checks(task):
        if not set(check.worlds) & set(task.worlds):
            yield TaskFault(
                (*at, "worlds"), f"check '{check.name}' applies in no world of the task"
            )
        for number, way in enumerate(check.ways):
            place = (*at, "any_of", number - 1) if number else at
            yield from _way_faults(place, way, CheckContext(way, task, atlas, tables))


def _way_faults(at: Location, way: Check, known: CheckContext) -> Iterator[TaskFault]:
    """Yield what is wrong with a check by one of its ways."""
    if at[0] == "requires":
        unable = way.locate.requirement_fault()
        if unable is not None:
            yield TaskFault((*at, "locate"), unable)
        if isinstance(way.match, JudgedMatcher):
            message = "no judge is asked before the agent starts: require what can be compared"
            yield TaskFault((*at, "match"), message)
    problems = chain(way.locate.lint(way.match, known), way.match.lint(known))
    yield from (TaskFault((*at, *one.at), one.message, one.severity) for one in problems)
    if way.when is When.STEP and way.match.asks_for_nothing:
        message = f"key node '{way.name}' is met wherever nothing is found"
        yield TaskFault((*at, "match"), message)


def _look_faults(task: Task) -> Iterator[TaskFault]:
    """Yield what is wrong with what a task looks at for readings."""
    taken = {check.name for _, check in located_checks(task)}
    for number, look in enumerate(task.looks):
        at = ("looks", number)
        if look.name in taken:
            yield TaskFault((*at, "name"), f"another look or check is called '{look.name}'")
        taken.add(look.name)
        if not set(look.worlds) & set(task.worlds):
            yield TaskFault((*at, "worlds"), f"look '{look.name}' is in no world of the task")
        if not isinstance(look.locate, LookingLocator):
            message = f"`by: {look.locate.by}` reads what all evidence holds: it needs no look"
            yield TaskFault((*at, "locate"), message)


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


def table_faults(task: Task, known: Tables) -> Iterator[TaskFault]:
    """Yield tables and columns that a site does not have; sites that are not known are passed."""
    for at, check in located_checks(task):
        computed = check.computed
        if computed is None or computed.sql is None or computed.site not in known:
            continue
        if select_fault(computed.sql, known[computed.site].engine) is None:
            fault = names_fault(computed.sql, known[computed.site])
            if fault:
                message = f"the query cannot be answered: {fault}"
                yield TaskFault((*at, "computed", "sql"), message)
