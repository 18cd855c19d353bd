"""What the lint rule of a locator or matcher may ask, and what it reports."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from arena_core.names import offered
from arena_core.worlds import World
from evaluators.fields import When
from sites.manifest import Site
from sites.upstreams import Upstream, upstream_of

Place = tuple[int | str, ...]

# Says why an upstream cannot answer, None where it can: see sites/upstreams.py.
Capability = Callable[[Upstream], str | None]


class Severity(StrEnum):
    """An error makes a task unusable or its score wrong; a warning asks to look again.

    A note says what nobody proves of a task that is right as far as can be seen.
    """

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Problem:
    """A mistake inside one check, at a field's path in it: `("locate", "sql")`."""

    at: Place
    message: str
    severity: Severity = Severity.ERROR


class Tables(Protocol):
    """The tables of a site's database, as far as its image on this machine names them."""

    @property
    def state(self) -> Mapping[str, Collection[str]]:
        """Columns by table that are part of the site's state."""


class CheckFrame(Protocol):
    """What holds of a check whatever it locates and matches."""

    @property
    def name(self) -> str:
        """Unique in its task."""

    @property
    def when(self) -> When:
        """Whether it is a key node or an end check."""

    @property
    def worlds(self) -> tuple[World, ...]:
        """Where it applies."""


class LintContext(Protocol):
    """What the linter knows of a check's surroundings: its task, the sites, their tables."""

    @property
    def check(self) -> CheckFrame:
        """The check that is looked at."""

    @property
    def others(self) -> Sequence[CheckFrame]:
        """The other checks of its task, what the task requires included."""

    @property
    def worlds(self) -> tuple[World, ...]:
        """The worlds of the task that the check applies in."""

    @property
    def sites(self) -> Mapping[str, Site]:
        """The manifests of all sites that can be used, by name."""

    @property
    def task_sites(self) -> tuple[str, ...]:
        """The names of the task's sites."""

    @property
    def start_pages(self) -> tuple[str, ...]:
        """The logical URLs of the task's start pages."""

    def roles_of(self, site: str) -> tuple[str, ...]:
        """Return the task's roles on a site, in order."""

    def tables(self, site: str) -> Tables | None:
        """Return the tables of a site's database; None where they are not known here."""

    def query_problem(self, sql: str, site: str) -> str | None:
        """Say why a site's database cannot answer text as one SELECT; None where nothing is seen.

        Names of tables and columns are looked up where the site's tables are known.
        """

    def is_count(self, sql: str, site: str) -> bool:
        """Whether a query yields one number of rows, and nothing else."""

    def selector_problem(self, selector: str) -> str | None:
        """Say what keeps text from being a CSS selector; None where nothing is seen."""

    def role_problem(self, role: str) -> str | None:
        """Say that browsers give no accessible role of that name; None where they do."""

    def page_to_open(self, at: Place, logical: str) -> Iterator[Problem]:
        """Yield why a logical URL cannot be opened in the worlds of the check."""

    def page_to_visit(self, at: Place, logical: str, worlds: Sequence[World]) -> Iterator[Problem]:
        """Yield why no visit in these worlds can equal a logical URL."""


def site_problems(known: LintContext, site: str, field: str = "site") -> Iterator[Problem]:
    """Yield that a locator names a site which there is not, or which its task does not use."""
    at = ("locate", field)
    if site not in known.sites:
        yield Problem(at, f"unknown site '{site}'; {offered(site, known.sites)}")
    elif site not in known.task_sites:
        yield Problem(at, f"looks at '{site}', which is not one of the task's sites")


def unanswered(
    known: LintContext, site: str, fault_of: Capability, field: str = "site"
) -> Iterator[Problem]:
    """Yield that a site's upstream cannot answer what is asked, in a world of the check.

    Args:
        known: the surroundings of the check.
        site: the site that the locator asks; one that there is not is another problem.
        fault_of: what the upstream must be able to do.
        field: of the locator; it is wrong where no world has an answer.
    """
    manifest = known.sites.get(site)
    if manifest is None:
        return
    faults = {world: fault_of(upstream_of(manifest, world)) for world in World}
    answering = [world for world, fault in faults.items() if fault is None]
    for world, fault in faults.items():
        if fault is None:
            continue
        if not answering:
            yield Problem(("locate", field), fault)
            return
        if world in known.worlds:
            limit = f"`worlds: [{', '.join(answering)}]`"
            yield Problem((), f"{fault}: give check '{known.check.name}' {limit}")


Location = tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One mistake in a suite.

    Attributes:
        task: the task's id.
        where: file and line where the suite's file is known, the field's path otherwise.
    """

    severity: Severity
    task: str
    where: str
    message: str

    @property
    def is_error(self) -> bool:
        """Whether the task cannot be used as it is."""
        return self.severity is Severity.ERROR

    def __str__(self) -> str:
        return f"{self.where}: {self.severity}: task '{self.task}': {self.message}"


@dataclass(frozen=True, slots=True)
class TaskFault:
    """A mistake inside one task, at a field's path: `("checks", 2, "locate")`."""

    at: Location
    message: str
    severity: Severity = Severity.ERROR


def warning(at: Location, message: str) -> TaskFault:
    """Return a fault that asks to look again."""
    return TaskFault(at, message, Severity.WARNING)
