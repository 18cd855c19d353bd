"""`NetworkEventEvaluator`: requests that the browser must have sent, or must not have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from evaluators.values.logical_urls import parse_logical_url
from evaluators.values.patterns import LONGEST_PATTERN
from sites.routes import RouteForm
from tasks.imports.formats import Untranslated, Written, either
from tasks.imports.verified.records import (
    EventSpec,
    NetworkEvaluator,
    UnsaidPatternError,
    allowed_names,
    inner,
    is_pattern,
    pattern_match,
)
from tasks.imports.verified.values import Options, UnsaidError, Values
from tasks.imports.webarena.records import Addresses, UnknownAddressError

_UNANSWERED: Final = -1
_MOST_WAYS: Final = 12
_HTTP: Final = re.compile(r"https?://")
_PLACEHOLDER: Final = re.compile(r"__[A-Z_]+?__")
_NONE: Final[Written] = {"how": "exact", "value": []}


@dataclass(frozen=True, slots=True)
class Requests:
    """What the requests of one task's checks are made of.

    Attributes:
        addresses: of the published set.
        bases: what placeholders stand for in the replicas.
        sites: of the task, as they are called here.
        is_navigation: the task asks to go somewhere: what counts is where the agent is left.
    """

    addresses: Addresses
    bases: Mapping[str, str]
    sites: tuple[str, ...]
    is_navigation: bool

    def checks(
        self, number: int, asked: NetworkEvaluator, *, is_one_of_several: bool = False
    ) -> Iterator[Written | Untranslated]:
        """Yield the check of one evaluator, or what of it cannot be said."""
        if is_one_of_several:
            asked = asked.model_copy(update={"last_event_only": False})
        field = f"eval[{number}]"
        try:
            ways = list(self._ways(asked))
        except UnsaidError as unsaid:
            yield Untranslated(f"{field}.{unsaid.field}", str(unsaid))
            return
        found = "false" if asked.should_not_exist else "true"
        match: Written = {"how": "exact", "value": found}
        yield either(f"request-{number}", [{"locate": way, "match": match} for way in ways])
        if self.is_navigation and not asked.should_not_exist and _is_get(asked.expected):
            pages = {repr(way["url"]): _left_on(way) for way in ways}
            yield either(f"left-on-{number}", list(pages.values()))

    def _ways(self, asked: NetworkEvaluator) -> Iterator[Written]:
        for one in _of_one_query(asked):
            yield from self._ways_of(one)

    def _ways_of(self, asked: NetworkEvaluator) -> Iterator[Written]:
        spec = asked.expected
        if spec.response_status == _UNANSWERED:
            message = "asks for a request that nobody answered, which no replica sends"
            raise UnsaidError(message, field="expected.response_status")
        base: Written = {
            "by": "network",
            "url": self._url(spec),
            "method": spec.http_method.upper(),
        }
        if asked.should_not_exist:
            yield {**base, "status": "any", "read": "found"}
            return
        values = Values(self.bases, asked)
        parts = {
            "headers": values.of(_without_referer(spec), "headers"),
            "query": self._query(spec, asked, values),
            "body": values.of(spec.post_data, "post_data"),
            "response": values.of(spec.response_content, "response_content"),
            "response_cookies": values.of(spec.response_cookies, "response_cookies"),
        }
        came_from = self._came_from(asked)
        choices = [_choices(options) for options in parts.values()]
        count = prod(len(one) for one in choices)
        if count > _MOST_WAYS:
            raise UnsaidError(f"has {count} combinations of alternatives", field="expected")
        others = _others(asked)
        for chosen in product(*choices):
            named = {name: fits for name, fits in zip(parts, chosen, strict=True) if fits}
            yield {
                **base,
                "status": spec.response_status,
                **({"last": True} if asked.last_event_only else {}),
                **({} if others is None else {"other_query": list(others)}),
                **({"query_in_path": True} if _hides_query(asked) else {}),
                **({} if came_from is None else {"came_from": came_from}),
                **named,
                "read": "found",
            }

    def _url(self, spec: EventSpec) -> object:
        """Return the page of a request: as text, or as a match of any of several."""
        urls = [spec.url] if isinstance(spec.url, str) else list(spec.url)
        if len(urls) == 1 and not is_pattern(urls[0]):
            return self._page(urls[0], "expected.url")
        patterns = [self._page_pattern(one, "expected.url") for one in urls]
        joined = patterns[0] if len(patterns) == 1 else "|".join(f"(?:{one})" for one in patterns)
        return _page_match(joined, "expected.url")

    def _page(self, url: str, field: str) -> str:
        try:
            logical = self.addresses.logical(url)
        except UnknownAddressError as unknown:
            raise UnsaidError(str(unknown), field=field) from unknown
        return re.split(r"[?#]", logical, maxsplit=1)[0]

    def _page_pattern(self, url: str, field: str) -> str:
        if not is_pattern(url):
            return re.escape(parse_logical_url(self._page(url, field)).page)
        pattern = inner(url).rstrip("/")
        if pattern.startswith(".*/"):
            self._refuse_renamed(self.sites, field)
            return f"(?:{'|'.join(self.sites)}):{pattern}"
        named = _PLACEHOLDER.match(pattern)
        if named is None:
            raise UnsaidError("is a pattern of URLs on none of the sites", field=field)
        page = self._page(named[0], field)
        self._refuse_renamed([page.partition(":")[0]], field)
        return f"{page.rstrip('/')}{pattern[named.end() :]}"

    def _refuse_renamed(self, sites: Iterable[str], field: str) -> None:
        for site in sites:
            if self.addresses.sites.renames(site, RouteForm.REPLICA):
                message = (
                    f"is a pattern of paths, and '{site}' has routes: its logical paths differ"
                )
                raise UnsaidError(message, field=field)

    def _query(self, spec: EventSpec, asked: NetworkEvaluator, values: Values) -> Options:
        """Return the parameters that are asked for: those that are not ignored."""
        urls = [spec.url] if isinstance(spec.url, str) else list(spec.url)
        given = dict(spec.query_params or {})
        if spec.query_params is None and not is_pattern(urls[0]):
            given = dict(_own_query(urls[0]))
        others = _others(asked)
        compared = {
            name: value
            for name, value in given.items()
            if others is not None or name in _excepted(asked)
        }
        absent = {name: [_NONE] for name in _excepted(asked) if name not in given}
        return {**values.of(compared, "query_params"), **_as_options(absent)}

    def _came_from(self, asked: NetworkEvaluator) -> Written | None:
        """Return the page that a request must have been sent from."""
        headers = asked.expected.headers or {}
        given = headers.get("referer")
        if given is None:
            return None
        field = "expected.headers.referer"
        urls = [str(one) for one in given] if isinstance(given, list) else [str(given)]
        own = {} if is_pattern(urls[0]) else dict(_own_query(urls[0]))
        others = _others(asked)
        if len(urls) == 1 and not is_pattern(urls[0]):
            page: object = self._page(urls[0], field)
        else:
            page = _page_match("|".join(self._page_pattern(one, field) for one in urls), field)
        found: Written = {"url": page, "query": own}
        return found if others is None else {**found, "other_query": list(others)}


def _own_query(url: str) -> list[tuple[str, str]]:
    return parse_qsl(urlsplit(url).query)


def _of_one_query(asked: NetworkEvaluator) -> list[NetworkEvaluator]:
    """Return the evaluator, or one for each alternative where these have queries of their own."""
    spec = asked.expected
    referer = (spec.headers or {}).get("referer")
    urls = [spec.url] if isinstance(spec.url, str) else list(spec.url)
    pages = referer if isinstance(referer, list) else [referer]
    found = [spec]
    if spec.query_params is None and len({str(_own_query(one)) for one in urls}) > 1:
        found = [one.model_copy(update={"url": url}) for one in found for url in urls]
    if len({str(_own_query(str(one))) for one in pages}) > 1:
        found = [
            one.model_copy(update={"headers": {**(spec.headers or {}), "referer": page}})
            for one in found
            for page in pages
        ]
    return [asked.model_copy(update={"expected": one}) for one in found]


def _page_match(pattern: str, field: str) -> Written:
    if len(pattern) > LONGEST_PATTERN:
        raise UnsaidError("has too many alternatives for one pattern", field=field)
    try:
        return pattern_match(pattern, case=True)
    except UnsaidPatternError as error:
        raise UnsaidError(str(error), field=field) from error


def _without_referer(spec: EventSpec) -> dict[str, object]:
    return {name.lower(): one for name, one in (spec.headers or {}).items() if name != "referer"}


def _allowed(asked: NetworkEvaluator) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    try:
        return allowed_names(asked.ignored_query_params_patterns)
    except UnsaidPatternError as error:
        raise UnsaidError(str(error), field="ignored_query_params_patterns") from error


def _others(asked: NetworkEvaluator) -> tuple[str, ...] | None:
    """Return which parameters may be there that are not asked for."""
    allowed, _ = _allowed(asked)
    return None if allowed is None else (*asked.ignored_query_params, *allowed)


def _excepted(asked: NetworkEvaluator) -> tuple[str, ...]:
    return _allowed(asked)[1]


def _as_options(given: Mapping[str, list[Written]]) -> Options:
    return {name: tuple((name, one) for one in values) for name, values in given.items()}


def _is_get(spec: EventSpec) -> bool:
    return spec.http_method.upper() == "GET" and spec.post_data is None


def _hides_query(asked: NetworkEvaluator) -> bool:
    """Whether the query is looked for in the path: only where one is asked for."""
    return asked.decode_base64_query and bool(asked.expected.query_params)


def _left_on(way: Written) -> Written:
    """Return the check of the page that the agent is left on."""
    url = way["url"]
    match: Written = {"how": "exact", "value": url} if isinstance(url, str) else dict(url)  # type: ignore[call-overload]
    if way.get("query_in_path") and isinstance(url, str):
        match = {"how": "regex", "value": f"{re.escape(url.rstrip('/'))}(?:/.*)?"}
    return {"locate": {"by": "url"}, "match": match}


def _choices(options: Options) -> list[dict[str, object]]:
    """Return every choice of one option for each field."""
    return [dict(chosen) for chosen in product(*options.values())]
