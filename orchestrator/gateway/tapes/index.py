"""Finds what was recorded for a request, and says how exactly the two match."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Generic, Protocol, TypeVar
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from orchestrator.gateway.taped import Exactness

# Names that pages give a number which differs at each request, and nothing else.
_BUSTERS: Final = frozenset(
    {"_", "_t", "cb", "cachebust", "cachebuster", "nocache", "rand", "random", "rnd", "ts"}
)
_NUMBER: Final = re.compile(r"[0-9]{6,20}|0\.[0-9]{4,20}")
BODY_METHOD: Final = "__wb_method"
_FORM: Final = "application/x-www-form-urlencoded"
_MOST_PARAMETERS: Final = 1000


class Recorded(Protocol):
    """What an index holds."""

    @property
    def method(self) -> str: ...
    @property
    def url(self) -> str: ...
    @property
    def status(self) -> int: ...
    @property
    def range(self) -> str: ...
    @property
    def sent_body(self) -> bytes: ...
    @property
    def sent(self) -> tuple[tuple[str, str], ...]: ...


Found = TypeVar("Found", bound=Recorded)


class TapeIndex(Generic[Found]):
    """Recorded exchanges by what was asked.

    Of several that were asked alike, the first that went well stands; a part of a body stands where
    its whole was never recorded.

    Args:
        entries: in the order in which they were recorded.
        logical: the manifests' rules: what two URLs of one page have in common.
    """

    def __init__(
        self, entries: Iterable[Found], logical: Callable[[str], str | None] = lambda _: None
    ) -> None:
        self._logical = logical
        self._by_key: dict[tuple[Exactness, str], Found] = {}
        self._parts: dict[str, list[Found]] = {}
        for entry in entries:
            self._add(entry)

    def _add(self, entry: Found) -> None:
        kind = next((value for name, value in entry.sent if name.lower() == "content-type"), "")
        if entry.status == 304:  # noqa: PLR2004  it says that the browser had it already
            return
        for exactness, key in self._keys(
            entry.method, entry.url, entry.sent_body, kind, asked=False
        ):
            if entry.range:
                if exactness is Exactness.EXACT:
                    self._parts.setdefault(key, []).append(entry)
                continue
            before = self._by_key.get((exactness, key))
            if before is None or _rank(entry) < _rank(before):
                self._by_key[exactness, key] = entry

    def find(
        self, method: str, url: str, body: bytes = b"", content_type: str = ""
    ) -> tuple[Found, Exactness] | None:
        """Return what was recorded for a request; a HEAD has what a GET of it got."""
        for asked in (method, "GET") if method == "HEAD" else (method,):
            for exactness, key in self._keys(asked, url, body, content_type):
                entry = self._by_key.get((exactness, key))
                if entry is not None:
                    return entry, exactness
        return None

    def parts(self, url: str) -> tuple[Found, ...]:
        """Return the parts of a body that were recorded of a URL."""
        _, key = next(self._keys("GET", url, b"", ""))
        return tuple(self._parts.get(key, ()))

    def _keys(
        self, method: str, url: str, body: bytes, content_type: str, *, asked: bool = True
    ) -> Iterator[tuple[Exactness, str]]:
        """Yield what a request is known by, the strictest first; one that is asked, or recorded."""
        place = url.partition("#")[0]
        yield Exactness.EXACT, _key(method, place, body)
        try:
            parts = urlsplit(place)
            query = _parameters(parts.query)
            form = _form(body, content_type)
            added = _added(body, content_type) if asked else []
        except (ValueError, RecursionError):  # no URL, or nothing that a page ever sends
            return
        base = f"{parts.scheme}://{parts.netloc.lower()}{quote(unquote(parts.path), safe='/')}"
        kept, kept_form = _without_busters(query), None if form is None else _without_busters(form)
        yield Exactness.CACHE_BUSTER, _key(method, base + _query(kept), _body(body, kept_form))
        kept = sorted(kept)
        kept_form = None if kept_form is None else sorted(kept_form)
        yield Exactness.REORDERED, _key(method, base + _query(kept), _body(body, kept_form))
        # What was recorded as a POST stands for that POST alone: parameters say less than a body.
        if added or (not asked and not body and BODY_METHOD in dict(query)):
            turned = [*added, (BODY_METHOD, method)] if asked else []
            whole = base + _query(sorted(_without_busters([*query, *turned])))
            yield Exactness.RULE, _key("GET", whole, b"")
        logical = self._logical(base)
        if logical is not None:
            yield Exactness.RULE, _key(method, logical + _query(kept), _body(body, kept_form))


def _rank(entry: Recorded) -> int:
    """Order answers to one request: those that went well, what leads on, all others."""
    return 0 if 200 <= entry.status < 300 else 1 if entry.status < 400 else 2  # noqa: PLR2004


def _key(method: str, place: str, body: bytes) -> str:
    digest = hashlib.sha256(body).hexdigest() if body else ""
    return f"{method} {place} {digest}"


def _parameters(query: str) -> list[tuple[str, str]]:
    return parse_qsl(query, keep_blank_values=True, max_num_fields=_MOST_PARAMETERS)


def _query(parameters: list[tuple[str, str]]) -> str:
    return f"?{urlencode(parameters)}" if parameters else ""


def _form(body: bytes, content_type: str) -> list[tuple[str, str]] | None:
    """Return the fields of a form, or of a JSON object; None for any other body."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind == _FORM:
        return _parameters(body.decode("latin-1"))
    if kind == "application/json":
        fields = json.loads(body) if body else None
        if isinstance(fields, dict):
            return [(name, json.dumps(value, sort_keys=True)) for name, value in fields.items()]
    return None


def body_in_query(body: bytes, content_type: str) -> str:
    """Return a request's body as the parameters that archives put behind its URL.

    ArchiveWeb.page, Browsertrix and pywb find a POST by them, and may record it as a GET of them.

    Raises:
        ValueError: it says that it is JSON, and is not.
        RecursionError: its JSON is nested without end.
    """
    kind = content_type.partition(";")[0].strip().lower()
    if not body:
        return ""
    if kind == _FORM:
        return body.decode("utf-8", "replace")
    if kind == "application/json":
        counts = Counter[str]()
        found = []
        for name, value in _flat(json.loads(body)):
            counts[name] += 1
            found.append((name if counts[name] == 1 else f"{name}.{counts[name]}_", value))
        return urlencode(found)
    return f"__wb_post_data={base64.b64encode(body).decode()}"


def _added(body: bytes, content_type: str) -> list[tuple[str, str]]:
    try:
        return _parameters(body_in_query(body, content_type))
    except (ValueError, RecursionError):  # no JSON, or more fields than any URL has
        return []


def _flat(value: object, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield the leaves of JSON by the name that each has in its object."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _flat(one, key)
    elif isinstance(value, list):
        for one in value:
            yield from _flat(one, name)
    elif value != "":
        yield name, value if isinstance(value, str) else json.dumps(value)


def _body(body: bytes, form: list[tuple[str, str]] | None) -> bytes:
    return body if form is None else urlencode(form).encode()


def _without_busters(parameters: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [
        (name, value)
        for name, value in parameters
        if not (name.lower() in _BUSTERS and _NUMBER.fullmatch(value))
    ]
