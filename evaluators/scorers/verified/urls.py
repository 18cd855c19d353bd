"""webarena-verified's URL type: base and parameters, patterns, and which are equal."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import ParseResult, parse_qs, unquote, urlparse, urlunparse

from evaluators.scorers.verified.patterns import is_pattern, needed
from evaluators.scorers.verified.typed import Typed

_SEGMENT: Final = re.compile(r"^[A-Za-z0-9_-]{4,}={0,2}$")


@dataclass(frozen=True, slots=True)
class SiteUrls:
    """Where the sites of a task are.

    Attributes:
        sites: as the task names them, in its order.
        bases: URL by placeholder, `__GITLAB__`.
    """

    sites: Sequence[str]
    bases: Mapping[str, str]

    def placeholder(self, site: str) -> str:
        return f"__{site.upper()}__"

    def rendered(self, url: str, *, strict: bool) -> str:
        """Put the URL in the place of the placeholder that a URL begins with."""
        for site in self.sites:
            name = self.placeholder(site)
            if url.startswith(name) and self.bases[name] != name:
                return url.replace(name, self.bases[name])
        if strict:
            message = f"No site in {[site.upper() for site in self.sites]} matched template: {url}"
            raise ValueError(message)
        return url

    def derendered(self, url: str, *, strict: bool) -> str:
        """Put the placeholder in the place of the first site's URL that is in a text, anywhere."""
        longest_first = sorted(
            self.sites, key=lambda site: len(self.bases[self.placeholder(site)]), reverse=True
        )
        for site in longest_first:
            base = self.bases[self.placeholder(site)]
            if base in url:
                return url.replace(base.rstrip("/"), self.placeholder(site))
        if strict:
            message = f"URL '{url}' does not match any configured URLs for sites {[*self.sites]}"
            raise ValueError(message)
        return url


Params = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlRules:
    """How the URLs of one evaluator are read.

    Attributes:
        params: in the place of the URL's own.
        typed: turns the values of parameters into typed ones.
    """

    sites: SiteUrls
    strict: bool
    params: Params | None = None
    decode_base64: bool = False
    ignored: frozenset[str] = frozenset()
    ignored_patterns: tuple[str, ...] = ()
    typed: Callable[[Params], Any] = field(default=lambda params: params)


@dataclass(frozen=True, slots=True)
class UrlValue:
    """One URL: scheme, host, path and fragment, and its parameters."""

    base: str
    params: Params
    is_pattern: bool = False

    def has_path_of(self, other: UrlValue, render: Callable[[str], str]) -> bool:
        """Whether both have the same base, case and last slash aside; or one's pattern matches."""
        if self.is_pattern and re.match(_rendered_pattern(self.base, render), _at(other, render)):
            return True
        if other.is_pattern and re.match(_rendered_pattern(other.base, render), _at(self, render)):
            return True
        if self.is_pattern or other.is_pattern:
            return False
        return self.base.lower().rstrip("/") == other.base.lower().rstrip("/")

    def has_params_of(self, other: UrlValue) -> bool:
        """Whether the first values of all parameters are equal; a missing one is empty."""
        return all(
            _equal(_first(self.params.get(name)), _first(other.params.get(name)))
            for name in {*self.params, *other.params}
        )


class Url(Typed):
    """A URL, or several of which any will do."""

    kind = "url"

    def __init__(self, raw: Any, rules: UrlRules) -> None:
        self._rules = rules
        super().__init__(raw)

    def equals(self, actual: Any) -> bool:
        """Whether any two have the same base and parameters."""
        return isinstance(actual, Url) and any(
            one.has_path_of(other, self._render) and one.has_params_of(other)
            for one in self.alternatives
            for other in actual.alternatives
        )

    def has_path_of(self, actual: Url) -> bool:
        """Whether any two have the same base."""
        return any(
            one.has_path_of(other, self._render)
            for one in self.alternatives
            for other in actual.alternatives
        )

    def _render(self, url: str) -> str:
        return self._rules.sites.rendered(url, strict=self._rules.strict)

    def _text(self, raw: str) -> str:
        return raw.strip()

    def _value(self, raw: Any) -> UrlValue:
        if not raw:
            raise ValueError("Empty URL value")
        if is_pattern(raw):
            params = {} if self._rules.params is None else self._params(self._rules.params)
            return UrlValue(raw.rstrip("/"), params, is_pattern=True)
        value = raw.rstrip("/")
        if value.startswith("__"):
            value = self._render(value)
        if _is_ssh(value):
            return UrlValue(_ssh_base(value), {})
        parsed = self._parsed(value)
        params, path = self._own_params(parsed)
        return UrlValue(_base(parsed, path), self._params(params))

    def _parsed(self, value: str) -> ParseResult:
        normal = needed("url_normalize").url_normalize(value)
        if normal is None:
            raise ValueError(f"Invalid URL: {value!r}")
        return urlparse(self._rules.sites.derendered(normal, strict=self._rules.strict))

    def _own_params(self, parsed: ParseResult) -> tuple[Params, str]:
        path = f"{parsed.path};{parsed.params}" if parsed.params else parsed.path
        if self._rules.params is not None:
            return self._rules.params, path
        queries: list[str] = []
        if self._rules.decode_base64:
            path, queries = without_base64(path)
        if parsed.query:
            queries.append(parsed.query.strip())
        merged = parse_qs("&".join(queries), keep_blank_values=True)
        found = {
            unquote(name): tuple(sorted(unquote(one) for one in values))
            for name, values in merged.items()
        }
        return found, path

    def _params(self, params: Params) -> Params:
        kept = {name: values for name, values in params.items() if not self._is_ignored(name)}
        lowered = {
            name: tuple(
                sorted(one.lower().strip() if isinstance(one, str) else one for one in values)
            )
            for name, values in kept.items()
        }
        return self._rules.typed(lowered) or {}

    def _is_ignored(self, name: str) -> bool:
        if name in self._rules.ignored:
            return True
        for pattern in self._rules.ignored_patterns:
            try:
                if re.search(pattern, name, re.IGNORECASE):
                    return True
            except re.error:
                continue
        return False


def without_base64(path: str) -> tuple[str, list[str]]:
    """Take the segments of a path that are queries in Base64 out of it, and return them decoded."""
    queries: list[str] = []
    segments = path.split("/")
    for index, segment in enumerate(segments):
        query = _query_in(segment)
        if query:
            queries.append(query.lstrip("?&"))
            segments[index] = ""
    kept = "/".join(one for one in segments if one)
    if not path:
        return path, []
    if not kept:
        return ("/" if path.startswith("/") else ""), queries
    kept = f"/{kept}" if path.startswith("/") else kept
    return (f"{kept}/" if path.endswith("/") else kept), queries


def _query_in(segment: str) -> str:
    if not _SEGMENT.match(segment):
        return ""
    try:
        decoded = base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4)).decode()
    except ValueError:
        return ""
    return unquote(decoded).strip() if "=" in decoded else ""


def _base(parsed: ParseResult, path: str) -> str:
    scheme, netloc = parsed.scheme.lower(), parsed.netloc.lower()
    try:
        if (scheme, parsed.port) in {("http", 80), ("https", 443)} and netloc:
            netloc = (parsed.hostname or netloc).lower()
    except ValueError:
        pass
    return urlunparse((scheme, netloc, path, "", "", parsed.fragment))


def _is_ssh(url: str) -> bool:
    low = url.lower()
    return low.startswith("ssh://") or (low.startswith("git@") and ":" in url and "://" not in url)


def _ssh_base(url: str) -> str:
    if url.lower().startswith("ssh://"):
        parsed = urlparse(url)
        user = parsed.netloc.split("@")[0].lower() if "@" in parsed.netloc else "git"
        return f"{user}@__SSH_HOST__:{parsed.path.lstrip('/').lower()}"
    user, _, rest = url.partition("@")
    path = rest.partition(":")[2]
    return f"{user.lower()}@__SSH_HOST__:{path.lstrip('/').lower()}"


def _rendered_pattern(pattern: str, render: Callable[[str], str]) -> str:
    if is_pattern(pattern):
        return f"^{_if_needed(pattern[1:-1], render)}$"
    return _if_needed(pattern, render)


def _at(value: UrlValue, render: Callable[[str], str]) -> str:
    return _if_needed(value.base, render)


def _if_needed(url: str, render: Callable[[str], str]) -> str:
    return render(url) if url.startswith("__") else url


def _first(values: Any) -> Any:
    if not values:
        return ""
    return "" if values[0] is None else values[0]


def _equal(expected: Any, actual: Any) -> bool:
    if expected.is_pattern if isinstance(expected, Typed) else is_pattern(expected):
        return re.match(str(expected), str(actual)) is not None
    if isinstance(expected, Typed):
        return expected.equals(actual)
    return bool(expected == actual)
