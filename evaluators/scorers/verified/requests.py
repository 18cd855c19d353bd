"""webarena-verified's `NetworkEventEvaluator`: a request that was sent, or was not."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlparse

from evaluators.evidence import Evidence
from evaluators.network import RequestRecord, cookies_set
from evaluators.scorers.base import NotInEvidenceError
from evaluators.scorers.verified.patterns import is_path, value_at
from evaluators.scorers.verified.schemas import Comparison, Maker
from evaluators.scorers.verified.urls import SiteUrls, Url, UrlRules

_UNSEEN: Final = (
    *(".css", ".js", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".woff", ".woff2", ".ttf", ".ico"),
    ".webp",
)
_NO_ANSWER: Final = -1
_BOUNDARY: Final = re.compile(r"boundary=([^;\s]+)")
_NAME: Final = re.compile(r'name="([^"]+)"')


_URLS: Final = frozenset({"redirect_url", "referer"})


@dataclass(frozen=True)
class Event:
    """One request with its answer."""

    record: RequestRecord

    @property
    def url(self) -> str:
        """The URL as it was sent."""
        return self.record.url

    @property
    def method(self) -> str:
        return self.record.method

    @property
    def status(self) -> int:
        """The HTTP status, -1 where no answer came."""
        return _NO_ANSWER if self.record.status is None else self.record.status

    @cached_property
    def headers(self) -> Mapping[str, str]:
        """The request's headers by name in small letters."""
        return {name.lower(): value for name, value in self.record.request_headers.items()}

    @property
    def is_navigation(self) -> bool:
        """Whether the user navigated, by the headers alone."""
        if self.method != "GET":
            return False
        accept = self.headers.get("accept", "").lower()
        if "sec-fetch-user" not in self.headers:
            return accept.startswith("text/html")
        wanted = {
            "sec-fetch-dest": "document",
            "sec-fetch-mode": "navigate",
            "sec-fetch-user": "?1",
        }
        said = {name: self.headers.get(name, "").lower() for name in wanted}
        return said == wanted and "text/html" in accept

    @property
    def cookies(self) -> Mapping[str, str]:
        """The cookies that the answer set, decoded."""
        return {name: unquote(value) for name, value in cookies_set(self.record).items()}

    @property
    def post_data(self) -> dict[str, Any] | None:
        """The request's body, where it is a form or a JSON object."""
        if self.record.request_body is None and self.record.request_bytes:
            raise NotInEvidenceError(f"the body of {self.method} {self.url} was not kept")
        return _content(self.headers.get("content-type", ""), self.record.request_body or "")

    @property
    def answer(self) -> dict[str, Any] | None:
        """The answer's body, where it is a JSON object or a form."""
        kind = self.record.response_headers.get("content-type", "")
        if self.record.response_body is None and "json" in kind:
            raise NotInEvidenceError(f"the answer to {self.method} {self.url} was not kept")
        return _content(kind, self.record.response_body or "")


def events_of(evidence: Evidence) -> Sequence[Event]:
    """Return the requests of an episode that evaluators look at, in their order."""
    if evidence.network is None or evidence.network_fault is not None:
        why = f": {evidence.network_fault}" if evidence.network_fault else ""
        raise NotInEvidenceError(f"the evidence has no whole record of the episode's requests{why}")
    if not evidence.network:
        raise ValueError("Trace content list is empty")
    return [Event(one) for one in evidence.network if not urlparse(one.url).path.endswith(_UNSEEN)]


def _content(kind: str, text: str) -> dict[str, Any] | None:
    """Read a body: of a form the first value of each name, of JSON an object."""
    if not text:
        return None
    if "application/x-www-form-urlencoded" in kind:
        return {name: one[0] for name, one in parse_qs(text, keep_blank_values=True).items()}
    if "application/json" in kind:
        try:
            parsed = json.loads(text)
        except json.JSONDecodeError:
            return None
        return parsed if isinstance(parsed, dict) else None
    boundary = _BOUNDARY.search(kind) if "multipart/form-data" in kind else None
    return None if boundary is None else _parts(text, boundary[1])


def _parts(text: str, boundary: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in (one.strip() for one in text.split(f"--{boundary}")):
        separator = "\r\n\r\n" if "\r\n\r\n" in part else "\n\n"
        head, between, body = part.partition(separator)
        lines = (
            one for one in head.split("\r\n") if one.lower().startswith("content-disposition:")
        )
        line = next(lines, "")
        named = _NAME.search(line)
        if between and named:
            found[named[1]] = body.rstrip("\r\n")
    return found


class RequestCheck:
    """One network check of a task."""

    def __init__(self, config: Mapping[str, Any], sites: SiteUrls, *, navigates: bool) -> None:
        self._config = config
        self._sites = sites
        self._navigates = navigates
        self._expected: Mapping[str, Any] = config["expected"]
        self._method: str = self._expected.get("http_method", "GET")

    def differences(self, events: Sequence[Event]) -> list[str]:
        """Return why no request is the expected one, or that one is which must not be."""
        found = self._candidates(events)
        if found and self._config.get("last_event_only", True):
            found = found[-1:]
        expected = self._made(self._raw_expected(), strict=True)
        actual = [self._made(self._raw(one), strict=False, like=expected) for one in found]
        if self._config.get("should_not_exist"):
            return [f"{len(actual)} requests that must not be sent"] if actual else []
        if not actual:
            return [f"no {self._method} request to {self._expected['url']}"]
        comparison = Comparison(more_keys=True)
        missed: list[str] = []
        for one in actual:
            missed = comparison.differences(expected, one, "request")
            if not missed:
                return []
        return missed

    def _candidates(self, events: Sequence[Event]) -> list[Event]:
        if not events:
            return []
        if self._navigates and self._method == "GET":
            return [one for one in events if one.is_navigation][-1:]
        url = self._url(self._expected["url"], strict=True)
        referer = (self._expected.get("headers") or {}).get("referer")
        expected_referer = None if referer is None else self._url(referer, strict=True)
        return [one for one in events if self._is_candidate(one, url, expected_referer)]

    def _is_candidate(self, event: Event, url: Any, referer: Any) -> bool:
        if self._method and event.method.lower() != self._method.lower():
            return False
        actual = self._url(event.url, strict=False)
        if isinstance(actual, str):
            message = f"Event URL '{event.url}' normalized to string instead of URL object."
            raise ValueError(message)  # noqa: TRY004  what it raises
        if not url.has_path_of(actual):
            return False
        said = event.headers.get("referer", "").lower()
        if referer is None or not said:
            return True
        return bool(referer.has_path_of(self._url(said, strict=False)))

    def _url(self, raw: Any, *, strict: bool, params: Any = None) -> Any:
        schema = self._config.get("query_params_schema")
        maker = Maker(None, strict=strict)
        rules = UrlRules(
            sites=self._sites,
            strict=strict,
            params=params,
            decode_base64=bool(self._config.get("decode_base64_query")),
            ignored=frozenset(self._config.get("ignored_query_params") or ()),
            ignored_patterns=tuple(self._config.get("ignored_query_params_patterns") or ()),
            typed=(lambda found: maker.body(found, schema)) if schema else (lambda found: found),
        )
        try:
            return Url(raw, rules)
        except NotInEvidenceError:
            raise
        except Exception:
            if strict:
                raise
            return raw

    def _raw_expected(self) -> dict[str, Any]:
        raw = {name: value for name, value in self._expected.items() if value is not None}
        return {"response_status": 200, "http_method": "GET", **raw}

    def _raw(self, event: Event) -> dict[str, Any]:
        expected = self._expected
        raw: dict[str, Any] = {
            "url": event.url,
            "response_status": event.status,
            "http_method": event.method,
        }
        wanted = expected.get("headers") or {}
        headers = {
            name: event.headers[name.lower()] for name in wanted if name.lower() in event.headers
        }
        cookies = {
            name: event.cookies[name]
            for name in expected.get("response_cookies") or {}
            if name in event.cookies
        }
        more = {
            "headers": headers or None,
            "post_data": event.post_data if expected.get("post_data") else None,
            "response_content": event.answer if expected.get("response_content") else None,
            "response_cookies": cookies or None,
        }
        return raw | {name: value for name, value in more.items() if value is not None}

    def _made(
        self, raw: dict[str, Any], *, strict: bool, like: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return a request with typed values; an actual one with the keys of the expected one."""
        maker = Maker(None, strict=strict)
        made = {name: value for name, value in raw.items() if name != "query_params"}
        made["url"] = self._url(raw["url"], strict=strict, params=raw.get("query_params"))
        if "headers" in raw:
            made["headers"] = dict(self._headers(raw["headers"], maker))
        made["post_data"] = self._body(raw.get("post_data"), strict=strict, like=like)
        made["response_content"] = self._answer(raw.get("response_content"), like)
        cookies = raw.get("response_cookies")
        made["response_cookies"] = (
            {name: maker.or_raw("string", one) for name, one in cookies.items()}
            if cookies
            else None
        )
        return made

    def _headers(self, headers: Mapping[str, Any], maker: Maker) -> Iterator[tuple[str, Any]]:
        for name, value in headers.items():
            if name in _URLS and value:
                yield name, self._url(value, strict=maker.strict)
                continue
            try:
                text = self._sites.derendered(value, strict=False)
                yield name, maker.or_raw("string", text)
            except (AttributeError, TypeError, ValueError):
                yield name, value

    def _body(self, body: Any, *, strict: bool, like: Mapping[str, Any] | None) -> Any:
        if not body:
            return None
        ignored = self._config.get("ignored_post_data_params_patterns") or ()
        if ignored:
            body = {name: one for name, one in body.items() if not _is_any(name, ignored)}
        keys = (like or {}).get("post_data")
        if keys:
            names = [name.strip() for name in keys]
            body = {name: _at(body, name) for name in sorted(names, key=is_path)}
        if not body:
            return body
        schema = self._config.get("post_data_schema") or {}
        return Maker(self._sites, strict=strict).body(body, schema)

    def _answer(self, content: Any, like: Mapping[str, Any] | None) -> Any:
        if not content:
            return None
        keys = (like or {}).get("response_content")
        if not keys:
            return content
        names = [name.strip() for name in keys]
        return {name: _at(content, name) for name in names if is_path(name) or name in content}


def _at(data: Mapping[str, Any], name: str) -> Any:
    return value_at(data, name) if is_path(name) else data.get(name)


def _is_any(name: str, patterns: Sequence[str]) -> bool:
    for pattern in patterns:
        try:
            if re.search(pattern, name):
                return True
        except re.error:
            continue
    return False
