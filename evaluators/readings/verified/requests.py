"""webarena-verified's `NetworkEventEvaluator`: a request that was sent, or was not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from evaluators.readings.upstream import NotInEvidenceError
from evaluators.readings.verified.comparing import Comparison
from evaluators.readings.verified.events import Event
from evaluators.readings.verified.paths import is_path, value_at
from evaluators.readings.verified.schemas import Maker
from evaluators.readings.verified.site_urls import SiteUrls
from evaluators.readings.verified.urls import Url, UrlRules

_URLS: Final = frozenset({"redirect_url", "referer"})


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
