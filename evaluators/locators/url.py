"""`by: url`: the logical URLs that the agent visited."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Annotated, ClassVar, Final, Literal, Self, assert_never

from pydantic import Field, model_validator

from evaluators.evidence import Evidence, Located, StepEvidence
from evaluators.fields import When
from evaluators.lint import LintContext, Problem, Severity, site_problems
from evaluators.locators.base import ReadingLocator, Subject
from evaluators.matchers.base import Matcher
from evaluators.values.logical_urls import LogicalUrl, is_page, parse_logical_url
from evaluators.values.text import shown_all

_FIRST_ERROR: Final = 400

Status = Annotated[int, Field(ge=100, le=599)]


class UrlPart(StrEnum):
    """What of a visited URL a url locator yields.

    `logical` is `site:/path` without query and fragment, `query` every value of one parameter,
    `full` the logical URL with query and fragment. All are percent-decoded once; a trailing slash
    of the path and the order of different parameters make no difference. The expected side of
    `logical` and `full` is a logical URL and is read the same way; that of `query` and `fragment`
    is a plain value and stands as it is meant.
    """

    LOGICAL = "logical"
    QUERY = "query"
    FRAGMENT = "fragment"
    FULL = "full"


class UrlLocator(ReadingLocator):
    """Yields the URLs a step passed through (`step`), or the current tab's last one (`end`).

    Attributes:
        page: only URLs of this page (`site:/path`) count.
        site: only URLs on this site's pages count.
        status: the HTTP statuses of pages that count; those below 400 if omitted, so that an error
            page at the right address is no visit; `any` for all. Where the evidence does not know
            a page's status, the page counts unless statuses are named.
    """

    phases: ClassVar[frozenset[When]] = frozenset(When)
    subject: ClassVar[Subject] = Subject.PATH

    by: Literal["url"] = "url"
    part: UrlPart = UrlPart.LOGICAL
    key: str | None = None
    page: str | None = None
    site: str | None = Field(default=None, exclude_if=lambda value: value is None)
    status: Literal["any"] | Status | tuple[Status, ...] | None = None

    @model_validator(mode="after")
    def _key_fits_part(self) -> Self:
        if (self.part is UrlPart.QUERY) != (self.key is not None):
            raise ValueError("`key` names the parameter of `part: query` and stands nowhere else")
        return self

    def at_step(self, check: str, step: StepEvidence) -> Located:
        """Return the parts of the URLs that tabs committed to in the step.

        A page that was open before is no visit, nor is an address that a script of the agent's set.
        """
        return Located(
            check=check,
            values=tuple(
                self._parts(
                    visit.logical
                    for visit in step.visits
                    if visit.counts and self._answered(visit.status)
                )
            ),
        )

    def at_end(self, check: str, evidence: Evidence) -> Located:
        """Return the part of the URL that the current tab is left on."""
        last = evidence.steps[-1] if evidence.steps else None
        if last is None or last.is_forged or not self._answered(last.status):
            return Located(check=check)
        return Located(check=check, values=tuple(self._parts((last.logical,))))

    def absence(self) -> str:
        """Say which part of which page was not there."""
        page = self.page or (f"a page of '{self.site}'" if self.site else "a page of a site")
        match self.part:
            case UrlPart.QUERY:
                return f"no '{self.key}' in the query of {page}"
            case UrlPart.FRAGMENT:
                return f"no fragment in the URL of {page}"
            case UrlPart.LOGICAL | UrlPart.FULL:
                return "found no page of a site"
            case _:
                assert_never(self.part)

    def never_met(self, seen: Sequence[str], expected: str) -> str:
        """Say which pages were visited instead."""
        if not self._is_url:
            return super().never_met(seen, expected)
        others = f"visited {shown_all(seen)}" if seen else "visited no page of a site"
        return f"no visit to {expected}; {others}"

    @property
    def are_urls(self) -> bool:
        """Whether values are whole logical URLs, not a part of one."""
        return self._is_url

    def expected_form(self, text: str, *, is_whole: bool) -> str:
        """Read an expected URL as a visited one is read."""
        if not self._is_url:
            return text
        return parse_logical_url(text).full if is_whole else text

    def lint(self, matcher: Matcher, known: LintContext) -> Iterator[Problem]:
        """Yield pages that no visit can equal, or that the opening shows already."""
        if self.page is not None:
            yield from known.page_to_visit(("locate", "page"), self.page, known.worlds)
        if self.site is not None:
            yield from site_problems(known, self.site)
        if not self._is_url:
            return
        starts = {parse_logical_url(start).page for start in known.start_pages}
        for one in matcher.whole_texts():
            if one.world is not None and one.world not in known.worlds:
                continue
            worlds = known.worlds if one.world is None else (one.world,)
            yield from known.page_to_visit(one.at, one.text, worlds)
            wanted = parse_logical_url(one.text)
            if self.part is UrlPart.LOGICAL and wanted.full != wanted.page:
                message = f"'{one.text}' has more than a path, which is all of `part: logical`"
                message += ": say `part: full`, or check the query by itself"
                yield Problem(one.at, message)
            if known.check.when is When.STEP and wanted.full in starts:
                message = f"key node '{known.check.name}' is the page that the task starts on"
                message += ": opening it meets nothing, only a later visit does"
                yield Problem(one.at, message, Severity.WARNING)

    @property
    def _is_url(self) -> bool:
        """Whether values are logical URLs, not a part that stands as it is."""
        return self.part in {UrlPart.LOGICAL, UrlPart.FULL}

    def _answered(self, status: int | None) -> bool:
        match self.status:
            case None:
                return status is None or status < _FIRST_ERROR
            case "any":
                return True
            case int():
                return status == self.status
            case _:
                return status in self.status

    def _parts(self, logicals: Iterable[str | None]) -> Iterator[str]:
        for logical in logicals:
            if logical is not None:
                yield from self._part(parse_logical_url(logical))

    def _part(self, address: LogicalUrl) -> tuple[str, ...]:
        if self.page is not None and not is_page(self.page, address):
            return ()
        if self.site is not None and address.page.partition(":")[0] != self.site:
            return ()
        match self.part:
            case UrlPart.LOGICAL:
                return (address.page,)
            case UrlPart.FULL:
                return (address.full,)
            case UrlPart.FRAGMENT:
                return () if address.fragment is None else (address.fragment,)
            case UrlPart.QUERY:
                return tuple(value for name, value in address.query if name == self.key)
            case _:
                assert_never(self.part)
