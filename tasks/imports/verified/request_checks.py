"""`NetworkEventEvaluator`: requests that the browser must have sent, or must not have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from pydantic import JsonValue

from tasks.imports.checking import Untranslated, Written, either
from tasks.imports.verified.records import EventSpec, NetworkEvaluator
from tasks.imports.webarena.addresses import Addresses, UnknownAddressError

_ANY_STATUS: Final = -1
_MOST_WAYS: Final = 12
_PATTERN: Final = re.compile(r"\^.*\$", re.DOTALL)


class UnsaidError(ValueError):
    """A field asks in a way that no check says; the message is field and reason."""

    def __init__(self, why: str, *, field: str) -> None:
        super().__init__(why)
        self.field = field


@dataclass(frozen=True, slots=True)
class Requests:
    """What the requests of one task's checks are made of.

    Attributes:
        addresses: of the published set.
        bases: what placeholders stand for in the replicas.
        is_navigation: the task asks to go somewhere: what counts is where the agent is left.
    """

    addresses: Addresses
    bases: Mapping[str, str]
    is_navigation: bool

    def checks(self, number: int, asked: NetworkEvaluator) -> Iterator[Written | Untranslated]:
        """Yield the check of one evaluator, or what of it cannot be said.

        Args:
            number: the evaluator's place in the task.
            asked: what it asks for.
        """
        field = f"eval[{number}]"
        try:
            _refuse_hidden(asked)
            ways = list(self._ways(asked))
        except UnsaidError as unsaid:
            yield Untranslated(f"{field}.{unsaid.field}", str(unsaid))
            return
        if asked.should_not_exist:
            if len(ways) > 1:
                yield Untranslated(f"{field}.expected.url", "has alternatives none of which may be")
                return
            found: Written = {"how": "exact", "value": "false"}
        else:
            found = {"how": "exact", "value": "true"}
        yield either(f"request-{number}", [{"locate": way, "match": found} for way in ways])
        if self.is_navigation and not asked.should_not_exist and _is_page(asked.expected):
            pages = dict.fromkeys(str(way["url"]) for way in ways)
            left: list[Written] = [
                {"locate": {"by": "url"}, "match": {"how": "exact", "value": page}}
                for page in pages
            ]
            yield either(f"left-on-{number}", left)

    def _ways(self, asked: NetworkEvaluator) -> Iterator[Written]:
        spec = asked.expected
        parts = {
            "headers": self._values(spec.headers, "headers"),
            "query": self._values(spec.query_params, "query_params"),
            "body": self._values(spec.post_data, "post_data"),
            "response": self._values(spec.response_content, "response_content"),
            "response_cookies": self._values(spec.response_cookies, "response_cookies"),
        }
        urls = [spec.url] if isinstance(spec.url, str) else list(spec.url)
        choices = [_choices(values) for values in parts.values()]
        count = prod([len(urls), *(len(one) for one in choices)])
        if count > _MOST_WAYS:
            message = f"has {count} combinations of alternatives"
            raise UnsaidError(message, field="expected")
        for url in urls:
            for chosen in product(*choices):
                yield self._way(spec, url, dict(zip(parts, chosen, strict=True)))

    def _way(self, spec: EventSpec, url: str, named: dict[str, dict[str, object]]) -> Written:
        logical, query = self._page(url)
        query |= named.pop("query")
        way: Written = {"by": "network", "url": logical, "method": spec.http_method.upper()}
        if spec.response_status != _ANY_STATUS:
            way["status"] = spec.response_status
        if query:
            way["query"] = query
        headers = named.pop("headers")
        if headers:
            way["headers"] = {name.lower(): value for name, value in headers.items()}
        return {
            **way,
            **{name: values for name, values in named.items() if values},
            "read": "found",
        }

    def _page(self, url: str) -> tuple[str, dict[str, object]]:
        """Return a URL as `site:/path`, and the parameters of its query."""
        if _PATTERN.fullmatch(url):
            message = "is a regular expression"
            raise UnsaidError(message, field="expected.url")
        try:
            logical = self.addresses.logical(url)
        except UnknownAddressError as unknown:
            message = str(unknown)
            raise UnsaidError(message, field="expected.url") from unknown
        parts = urlsplit(url)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        return re.split(r"[?#]", logical, maxsplit=1)[0], dict(query)

    def _values(
        self, given: Mapping[str, JsonValue] | None, field: str
    ) -> Mapping[str, tuple[object, ...]]:
        """Return the values that will do, by name; null asks that there is none."""
        found: dict[str, tuple[object, ...]] = {}
        for name, value in (given or {}).items():
            at = f"expected.{field}.{name}"
            if name.startswith("$.") and ("^" in name):
                message = "names fields by a regular expression"
                raise UnsaidError(message, field=at)
            values = value if isinstance(value, list) else [value]
            if any(isinstance(one, dict | list) for one in values):
                message = "asks for a list or an object"
                raise UnsaidError(message, field=at)
            if any(one is None for one in values):
                message = "asks that the field is empty or not there"
                raise UnsaidError(message, field=at)
            texts = tuple(self._text(at, one) for one in values)
            found[name.removeprefix("$.") if field != "headers" else name] = texts
        return found

    def _text(self, at: str, value: object) -> object:
        if not isinstance(value, str):
            return value
        if _PATTERN.fullmatch(value):
            message = "is a regular expression"
            raise UnsaidError(message, field=at)
        for base, replica in self.bases.items():
            value = value.replace(base, replica)
        return value


def _is_page(spec: EventSpec) -> bool:
    """Whether a request is for a page that the agent is to be left on."""
    return spec.http_method.upper() == "GET" and spec.post_data is None and not spec.headers


def _refuse_hidden(asked: NetworkEvaluator) -> None:
    """Refuse what is compared in a form that no check reads.

    Raises:
        UnsaidError: naming it.
    """
    if asked.decode_base64_query:
        message = "hides the query in the path"
        raise UnsaidError(message, field="decode_base64_query")
    if asked.query_params_schema:
        message = "reads the query as dates or amounts"
        raise UnsaidError(message, field="query_params_schema")
    if (asked.post_data_schema or {}).get("properties"):
        message = "reads the body as dates, amounts or markdown"
        raise UnsaidError(message, field="post_data_schema")


def _choices(values: Mapping[str, Sequence[object]]) -> list[dict[str, object]]:
    """Return every choice of one value for each name."""
    return [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]
