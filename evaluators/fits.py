"""What a check asks of one part of a request: a value, or a match of any kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, Discriminator, Field, Tag

from arena_core.worlds import World
from evaluators.linting import LintContext, Place, Problem
from evaluators.logical_urls import parse_logical_url
from evaluators.matcher_kinds import Match
from evaluators.matchers.base import TEXTS, JudgedMatcher, Matcher, UrlForm
from evaluators.network import NotKeptError, RequestRecord, is_redacted, reveals
from evaluators.values import as_text
from sites.fields import Strict

ANY: Final = "*"


def _kind(given: object) -> str:
    return "match" if isinstance(given, Mapping | Matcher) else "value"


def _compares_texts(matcher: Matcher) -> Matcher:
    if isinstance(matcher, JudgedMatcher) or matcher.compares != TEXTS:
        message = f"`how: {matcher.how}` does not compare a part of a request"
        raise ValueError(message)
    return matcher


_Match = Annotated[Match, AfterValidator(_compares_texts), Tag("match")]
Fit = Annotated[
    Annotated[str | int | float | bool | None, Tag("value")] | _Match, Discriminator(_kind)
]
Fits = dict[str, Fit]
PageFit = Annotated[Annotated[str, Tag("value")] | _Match, Discriminator(_kind)]


class CameFrom(Strict):
    """The page that a request was sent from, by its `referer` header: one of the same site.

    Attributes:
        url, query, other_query: as of a request.
    """

    url: PageFit
    query: Fits = Field(default_factory=dict)
    other_query: tuple[str, ...] | None = Field(default=None, exclude_if=lambda one: one is None)


def referer_of(one: RequestRecord) -> str | None:
    """Return the logical URL that a request was sent from; None where it is on no known site."""
    sent_from, own = urlsplit(one.request_headers.get("referer", "")), urlsplit(one.url)
    if one.site is None or (sent_from.scheme, sent_from.netloc) != (own.scheme, own.netloc):
        return None
    query = f"?{sent_from.query}" if sent_from.query else ""
    return f"{one.site}:{sent_from.path or '/'}{query}"


def fits_query(logical: str, asked: Fits, others: tuple[str, ...] | None, world: World) -> bool:
    """Say whether a URL has the parameters that are asked for, and no others than those allowed.

    Args:
        logical: the URL.
        asked: by name, one of its values.
        others: names that may be there besides, `*` for any letters; None for any.
        world: of the episode.
    """
    pairs = parse_logical_url(logical).query
    if not all(
        fits(tuple(value for key, value in pairs if key == name), wanted, world)
        for name, wanted in asked.items()
    ):
        return False
    return others is None or all(
        not value or name in asked or any(is_like(other, name) for other in others)
        for name, value in pairs
    )


def fits(found: Sequence[str], wanted: Fit, world: World) -> bool:
    """Say whether the values of a part are what is asked for: one of them, or as a match says.

    Raises:
        NotKeptError: a match is asked of a secret, of which only a hash was kept.
    """
    if not isinstance(wanted, Matcher):
        return any(_is(one, wanted) for one in found)
    if any(map(is_redacted, found)):
        message = "a secret can be compared with an exact value alone: its text was not kept"
        raise NotKeptError(message)
    return wanted.match(found, world).met


def fits_page(logical: str, wanted: PageFit, world: World) -> bool:
    """Say whether a page is the one that is asked for; `*` in a text is any letters."""
    page = parse_logical_url(logical).page
    if not isinstance(wanted, Matcher):
        return is_like(parse_logical_url(wanted).page, page)
    form: Callable[[str], str] = lambda text: parse_logical_url(text).page  # noqa: E731 - a form
    return wanted.match((page,), world, UrlForm(form)).met


def lint_fit(wanted: Fit, place: Place, known: LintContext) -> Iterator[Problem]:
    """Yield what is wrong with a match, at its place in the check."""
    if isinstance(wanted, Matcher):
        for one in wanted.lint(known):
            yield Problem((*place, *one.at[1:]), one.message, one.severity)


def is_like(pattern: str, text: str) -> bool:
    """Say whether a text is like a pattern in which `*` stands for any letters."""
    first, *others = pattern.split(ANY)
    if not others:
        return text == pattern
    *middle, last = others
    if not (text.startswith(first) and text.endswith(last)):
        return False
    at, end = len(first), len(text) - len(last)
    for part in middle:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return at <= end


def _is(found: str, wanted: str | float | bool | None) -> bool:  # noqa: FBT001 - a value
    if wanted == ANY:
        return True
    return reveals(found, wanted if isinstance(wanted, str) else as_text(wanted))
