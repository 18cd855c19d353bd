"""`by: db` and `by: db_delta`: what a site's database answers, and what changed in a replica."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import ClassVar, Final, Literal

from arena_core.names import offered
from evaluators.changes import IgnoredChanges, change_as_text
from evaluators.episode_view import EpisodeView
from evaluators.lint import LintContext, Place, Problem, site_problems, unanswered
from evaluators.locators.base import Found, LookingLocator, Need, Subject
from evaluators.matchers.base import Matcher
from evaluators.matchers.delta import CHANGES, DeltaMatcher, ExpectedChange
from evaluators.values.text import rows_as_text, shown
from sites.manifest import DatabaseEngine, Site
from sites.upstreams import changes_fault, sql_fault

_COUNT: Final = re.compile(r"\d+(\.0*)?")


class DbLocator(LookingLocator):
    """Yields the rows of one SELECT on a replica's database, columns joined with ` | `.

    There is no database behind a live site: a task that runs online limits the check by `worlds`.
    """

    subject: ClassVar[Subject] = Subject.ROWS

    by: Literal["db"] = "db"
    site: str
    sql: str

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({Need.DATABASE})

    def requirement_fault(self) -> None:
        """A database can be asked at any time."""

    async def look(self, episode: EpisodeView) -> Found:
        return Found(rows_as_text(await episode.databases.query(self.site, self.sql)))

    def absence(self) -> str:
        return f"the query found no row in {self.site}'s database"

    @property
    def tables_of(self) -> str:
        return self.site

    def lint(self, matcher: Matcher, known: LintContext) -> Iterator[Problem]:
        """Yield a site without a database, a query that it cannot answer, and no count of one."""
        yield from site_problems(known, self.site)
        yield from unanswered(known, self.site, sql_fault)
        fault = known.query_problem(self.sql, self.site)
        if fault:
            yield Problem(("locate", "sql"), fault)
        elif known.is_count(self.sql, self.site):
            for one in matcher.whole_texts():
                if not _COUNT.fullmatch(one.text.strip()):
                    message = f"the query counts, and no count is ever {shown(one.text)}"
                    yield Problem(one.at, f"{message}: expect a number such as 0")


class DbDeltaLocator(LookingLocator):
    """Yields what the episode changed in a replica, one canonical JSON text a change.

    Rows before and after, entries of the stateful folders, tables and their definitions; next ids
    are left out: a row added moves them, and one that is gone again did no harm. What a change
    looks like says `evaluators.changes`.

    Attributes:
        ignore: what changes by itself, such as the login that precedes every episode.
    """

    subject: ClassVar[Subject] = Subject.CHANGES
    yields: ClassVar[str] = CHANGES

    by: Literal["db_delta"] = "db_delta"
    site: str
    ignore: IgnoredChanges = IgnoredChanges()

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({Need.DATABASE})

    def requirement_fault(self) -> str:
        """Say that nothing has changed before the agent starts."""
        return "before the agent starts nothing has changed: require by page, db or api"

    async def look(self, episode: EpisodeView) -> Found:
        """Compare the replica with the state it was golden in."""
        changes = await episode.databases.changes(self.site, self.ignore)
        return Found(tuple(map(change_as_text, changes)))

    def absence(self) -> str:
        return f"nothing changed in {self.site}"

    @property
    def tables_of(self) -> str:
        return self.site

    def lint(self, matcher: Matcher, known: LintContext) -> Iterator[Problem]:
        """Yield changes that can never be found, and tables and columns that there are not."""
        yield from site_problems(known, self.site)
        yield from unanswered(known, self.site, changes_fault)
        if not isinstance(matcher, DeltaMatcher):
            return
        manifest = known.sites.get(self.site)
        if manifest is not None:
            yield from _stateless(manifest)
            yield from _outside(matcher, manifest)
        for at, wanted, table in _rows(matcher):
            if manifest is not None:
                yield from _unseen_rows((*at, "table"), manifest)
            yield from self._ignored(at, wanted, table)
        tables = known.tables(self.site)
        if tables is not None:
            yield from self._unknown(matcher, tables.state)

    def _ignored(self, at: Place, wanted: ExpectedChange, table: str) -> Iterator[Problem]:
        """Yield expected rows and values that the locator is not to look at."""
        if self.ignore.has_table(table):
            message = f"table '{table}' is ignored by the locator: no change of it is found"
            yield Problem((*at, "table"), message)
        ignored = self.ignore.columns.get(table, ())
        for column in (*wanted.columns, *wanted.before):
            if column in ignored:
                message = f"column '{column}' is ignored by the locator: it has no value"
                yield Problem(at, message)

    def _unknown(
        self, asked: DeltaMatcher, tables: Mapping[str, Collection[str]]
    ) -> Iterator[Problem]:
        ignored = ("locate", "ignore")
        yield from _no_tables((*ignored, "tables"), self.ignore.tables, tables)
        for table, columns in self.ignore.columns.items():
            yield from _no_columns((*ignored, "columns", table), table, columns, tables)
        yield from _no_tables(("match", "allow", "tables"), asked.allow.tables, tables)
        for at, wanted, table in _rows(asked):
            named = (*wanted.columns, *wanted.before, *wanted.also)
            yield from _no_columns(at, table, named, tables)


def _rows(asked: DeltaMatcher) -> Iterator[tuple[Place, ExpectedChange, str]]:
    """Yield the expected changes of rows, with their place and table."""
    places = (
        (("match", "changes"), asked.changes),
        (("match", "allow", "changes"), asked.allow.changes),
    )
    for place, changes in places:
        for number, wanted in enumerate(changes):
            if wanted.table is not None:
                yield (*place, number), wanted, wanted.table


def _unseen_rows(at: Place, site: Site) -> Iterator[Problem]:
    """Yield that no change of a site's rows is ever seen."""
    if site.database is None:
        yield Problem(at, f"site '{site.name}' has no database")
    elif site.database.engine is DatabaseEngine.POSTGRESQL:
        message = f"the rows of '{site.name}' are in PostgreSQL: no change in them is found"
        yield Problem(at, message)


def _stateless(site: Site) -> Iterator[Problem]:
    """Yield a delta of a site of which nothing is ever seen to change."""
    at = ("locate", "site")
    if not site.stateful:
        yield Problem(at, f"site '{site.name}' holds no state: it never changes")
    elif site.database is None and not site.fingerprint.files:
        message = f"of site '{site.name}' neither rows nor files are state: no change is found"
        yield Problem(at, message)


def _outside(asked: DeltaMatcher, site: Site) -> Iterator[Problem]:
    """Yield expected files that are in none of the folders that are looked at."""
    named: list[tuple[Place, str]] = [
        (("match", "changes", number, "file"), wanted.file)
        for number, wanted in enumerate(asked.changes)
        if wanted.file is not None
    ]
    named += [
        (("match", "allow", "files", number), pattern)
        for number, pattern in enumerate(asked.allow.files)
    ]
    folders = site.fingerprint.files
    for at, pattern in named:
        start = re.split(r"[*?\[]", pattern, maxsplit=1)[0]
        if not any(
            f"{folder}/".startswith(start) or start.startswith(f"{folder}/") or start == folder
            for folder in folders
        ):
            listed = ", ".join(folders) or "none"
            message = f"'{pattern}' is in no folder of '{site.name}' that is state: {listed}"
            yield Problem(at, message)


def _no_tables(at: Place, patterns: Iterable[str], tables: Collection[str]) -> Iterator[Problem]:
    for number, pattern in enumerate(patterns):
        if not any(fnmatchcase(table, pattern) for table in tables):
            yield Problem((*at, number), f"no table '{pattern}'; {offered(pattern, tables)}")


def _no_columns(
    at: Place, table: str, columns: Iterable[str], tables: Mapping[str, Collection[str]]
) -> Iterator[Problem]:
    if table not in tables:
        yield Problem(at, f"no table '{table}'; {offered(table, tables)}")
        return
    for column in columns:
        if not any(fnmatchcase(name, column) for name in tables[table]):
            message = f"table '{table}' has no column '{column}'"
            yield Problem(at, f"{message}; {offered(column, tables[table])}")
