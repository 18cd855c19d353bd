"""Rules on the checks of a task; what is one locator's or matcher's own matter, it says itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from arena_core.worlds import World
from evaluators import lint as linting
from evaluators.checks import Check
from evaluators.fields import When
from evaluators.lint import Location, Place, Problem, TaskFault
from evaluators.locators.base import LookingLocator
from evaluators.matchers.base import JudgedMatcher
from sites.manifest import Site
from sites.registry import SiteRegistry
from tasks.lint.page_rules import TaskPage, opening_faults, visiting_faults
from tasks.lint.selectors import role_doubt, selector_fault
from tasks.lint.sql import SiteTables, Tables, engine_of, is_count, names_fault, select_fault
from tasks.schema import Task, located_checks


@dataclass(frozen=True, slots=True)
class CheckContext:
    """One check of a task, with everything that the linter knows around it."""

    check: Check
    task: Task
    registry: SiteRegistry
    known_tables: Mapping[str, SiteTables]

    @property
    def others(self) -> Sequence[Check]:
        """The other checks of its task, what the task requires included."""
        name = self.check.name.partition("/")[0]
        return [one for one in (*self.task.checks, *self.task.requires) if one.name != name]

    @property
    def worlds(self) -> tuple[World, ...]:
        """The worlds of the task that the check applies in."""
        return tuple(world for world in self.task.worlds if world in self.check.worlds)

    @property
    def sites(self) -> Mapping[str, Site]:
        """The manifests of all sites that can be used, by name."""
        return self.registry.sites

    @property
    def task_sites(self) -> tuple[str, ...]:
        """The names of the task's sites."""
        return self.task.sites

    @property
    def start_pages(self) -> tuple[str, ...]:
        """The logical URLs of the task's start pages."""
        return self.task.start_pages

    def roles_of(self, site: str) -> tuple[str, ...]:
        """Return the task's roles on a site, in order."""
        return self.task.roles_of(site)

    def tables(self, site: str) -> linting.Tables | None:
        """Return the tables of a site's database; None where they are not known here."""
        return self.known_tables.get(site)

    def query_problem(self, sql: str, site: str) -> str | None:
        """Say why a site's database cannot answer text as a SELECT; None where nothing is seen."""
        fault = select_fault(sql, engine_of(self.registry.sites.get(site)))
        if fault is not None or site not in self.known_tables:
            return fault
        unknown = names_fault(sql, self.known_tables[site])
        return f"the query cannot be answered: {unknown}" if unknown else None

    def is_count(self, sql: str, site: str) -> bool:
        """Whether a query yields one number of rows, and nothing else."""
        return is_count(sql, engine_of(self.registry.sites.get(site)))

    def selector_problem(self, selector: str) -> str | None:
        """Say what keeps text from being a CSS selector; None where nothing is seen."""
        return selector_fault(selector)

    def role_problem(self, role: str) -> str | None:
        """Say that browsers give no accessible role of that name; None where they do."""
        return role_doubt(role)

    def page_to_open(self, at: Place, logical: str) -> Iterator[Problem]:
        """Yield why a logical URL cannot be opened in the worlds of the check."""
        for message in opening_faults(TaskPage(logical, self.worlds), self.task, self.registry):
            yield Problem(at, message)

    def page_to_visit(self, at: Place, logical: str, worlds: Sequence[World]) -> Iterator[Problem]:
        """Yield why no visit in these worlds can equal a logical URL."""
        for message in visiting_faults(TaskPage(logical, tuple(worlds)), self.task, self.registry):
            yield Problem(at, message)


def check_faults(task: Task, registry: SiteRegistry, tables: Tables) -> Iterator[TaskFault]:
    """Yield what is wrong with a task's checks."""
    yield from _twins(task)
    yield from _look_faults(task)
    for at, check in located_checks(task):
        if not set(check.worlds) & set(task.worlds):
            yield TaskFault(
                (*at, "worlds"), f"check '{check.name}' applies in no world of the task"
            )
        for number, way in enumerate(check.ways):
            place = (*at, "any_of", number - 1) if number else at
            yield from _way_faults(place, way, CheckContext(way, task, registry, tables))


def _way_faults(at: Location, way: Check, known: CheckContext) -> Iterator[TaskFault]:
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
        for place, asked in check.asked:
            if asked.sql is None or asked.site not in known:
                continue
            if select_fault(asked.sql, known[asked.site].engine) is None:
                fault = names_fault(asked.sql, known[asked.site])
                if fault:
                    message = f"the query cannot be answered: {fault}"
                    yield TaskFault((*at, *place, "sql"), message)
