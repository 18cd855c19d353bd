"""JSONPath (RFC 9535) for api locators: `$.items[?@.price > 10].name`, or short `items[0].id`.

The standard's `match()` and `search()` take their pattern (RFC 9485) as a literal of the path: what
an answer or a page says is never a pattern. The engine is the one of all patterns of tasks.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from jsonpath import JSONPathEnvironment
    from jsonpath.path import JSONPath
    from jsonpath.segments import JSONPathSegment

# In the short form a name may hold hyphens; the standard wants such a name in quotes.
_HYPHENED: Final = re.compile(r"(?:^|\.)([A-Za-z_][\w]*-[\w-]*)")
_QUOTED: Final = frozenset("'\"?")


class JsonPathError(ValueError):
    """The path does not parse, or leads nowhere."""


def read_json_path(document: Any, path: str) -> list[object]:
    """Return the values at a path, in the order of RFC 9535.

    Elements that lack a name after `[*]`, a slice or a filter are passed over, as the standard
    says. A name or an index that no element has is an error, so that a misspelt path is not taken
    for an empty answer; a wildcard, slice or filter may select nothing.
    """
    from jsonpath import JSONPathMatch  # noqa: PLC0415  only where an answer is read
    from jsonpath.exceptions import JSONPathError as Refused  # noqa: PLC0415

    query = _query(path)
    found = [
        JSONPathMatch(
            filter_context={}, obj=document, parent=None, path="$", parts=(), root=document
        )
    ]
    for segment in query.segments:
        try:
            selected = list(segment.resolve(found))
        except (Refused, RecursionError) as error:
            message = f"the path '{path}' cannot be followed: {_first_line(error)}"
            raise JsonPathError(message) from error
        if found and not selected and _must_exist(segment):
            kind = type(found[0].obj).__name__
            raise JsonPathError(f"the answer has no '{_named(segment)}' there (it is a {kind})")
        found = selected
    return [match.obj for match in found]


def json_path_fault(path: str) -> str | None:
    """Say where a path does not parse; None where it does."""
    if not path:
        return "the path is empty: omit it to mean the whole answer"
    try:
        _query(path)
    except JsonPathError as error:
        return str(error)
    return None


@cache
def _environment() -> JSONPathEnvironment:
    from evaluators.values.json_path_functions import PatternEnvironment  # noqa: PLC0415  only here

    return PatternEnvironment(strict=True)


def _query(path: str) -> JSONPath:
    from jsonpath.exceptions import JSONPathError as Refused  # noqa: PLC0415
    from jsonpath.path import JSONPath  # noqa: PLC0415

    try:
        query = _environment().compile(_rooted(path))
    except (Refused, RecursionError) as error:
        raise JsonPathError(f"the path '{path}' does not parse: {_first_line(error)}") from error
    if not isinstance(query, JSONPath):
        raise JsonPathError(f"the path '{path}' does not parse: it joins several paths")
    return query


def _rooted(path: str) -> str:
    """Return the standard's form of a short one."""
    if path.startswith("$"):
        return path
    if _QUOTED.isdisjoint(path):
        path = _HYPHENED.sub(r"['\1']", path)
    return f"${path}" if path.startswith(("[", ".")) or not path else f"$.{path}"


def _must_exist(segment: JSONPathSegment) -> bool:
    """Whether a step names one thing, which is there or is not."""
    from jsonpath.segments import JSONPathChildSegment  # noqa: PLC0415
    from jsonpath.selectors import IndexSelector, NameSelector  # noqa: PLC0415

    return isinstance(segment, JSONPathChildSegment) and all(
        isinstance(selector, NameSelector | IndexSelector) for selector in segment.selectors
    )


def _named(segment: JSONPathSegment) -> str:
    return ", ".join(str(selector).strip("'") for selector in segment.selectors)


def _first_line(error: Exception) -> str:
    return str(error.args[0] if error.args else error).splitlines()[0]
