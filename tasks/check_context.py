"""What the lint rules of locators and matchers may ask of a task and its sites."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from arena_core.worlds import World
from evaluators.checks import Check
from evaluators.linting import Place, Problem, Tables
from sites.atlas import Atlas
from sites.manifest import Site
from tasks.pages import TaskPage, opening_faults, visiting_faults
from tasks.roles import role_doubt
from tasks.schema import Task
from tasks.selectors import selector_fault
from tasks.site_tables import SiteTables
from tasks.sql import engine_of, select_fault
from tasks.sql_names import names_fault


@dataclass(frozen=True, slots=True)
class CheckContext:
    """One check of a task, with everything that the linter knows around it."""

    check: Check
    task: Task
    atlas: Atlas
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
        return self.atlas.sites

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

    def tables(self, site: str) -> Tables | None:
        """Return the tables of a site's database; None where they are not known here."""
        return self.known_tables.get(site)

    def query_problem(self, sql: str, site: str) -> str | None:
        """Say why a site's database cannot answer text as a SELECT; None where nothing is seen."""
        fault = select_fault(sql, engine_of(self.atlas.sites.get(site)))
        if fault is not None or site not in self.known_tables:
            return fault
        unknown = names_fault(sql, self.known_tables[site])
        return f"the query cannot be answered: {unknown}" if unknown else None

    def selector_problem(self, selector: str) -> str | None:
        """Say what keeps text from being a CSS selector; None where nothing is seen."""
        return selector_fault(selector)

    def role_problem(self, role: str) -> str | None:
        """Say that browsers give no accessible role of that name; None where they do."""
        return role_doubt(role)

    def page_to_open(self, at: Place, logical: str) -> Iterator[Problem]:
        """Yield why a logical URL cannot be opened in the worlds of the check."""
        for message in opening_faults(TaskPage(logical, self.worlds), self.task, self.atlas):
            yield Problem(at, message)

    def page_to_visit(self, at: Place, logical: str, worlds: Sequence[World]) -> Iterator[Problem]:
        """Yield why no visit in these worlds can equal a logical URL."""
        for message in visiting_faults(TaskPage(logical, tuple(worlds)), self.task, self.atlas):
            yield Problem(at, message)
