"""`by: db`: the rows of a query on a replica's database."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from evaluators.episode_view import EpisodeView
from evaluators.linting import LintContext, Problem, site_problems, unanswered
from evaluators.locators.base import Found, LookingLocator, Need, Subject
from evaluators.matchers.base import Matcher
from evaluators.values import rows_as_text
from sites.capabilities import sql_fault


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
        """The database of a replica."""
        return frozenset({Need.DATABASE})

    def requirement_fault(self) -> None:
        """A database can be asked at any time."""

    async def look(self, episode: EpisodeView) -> Found:
        """Ask the database."""
        return Found(rows_as_text(await episode.databases.query(self.site, self.sql)))

    def absence(self) -> str:
        """Say that the query found nothing."""
        return f"the query found no row in {self.site}'s database"

    @property
    def tables_of(self) -> str:
        """The site that is asked."""
        return self.site

    def lint(self, matcher: Matcher, known: LintContext) -> Iterator[Problem]:  # noqa: ARG002 - any matcher will do
        """Yield a site without a database, and a query that it cannot answer."""
        yield from site_problems(known, self.site)
        yield from unanswered(known, self.site, sql_fault)
        fault = known.query_problem(self.sql, self.site)
        if fault:
            yield Problem(("locate", "sql"), fault)
