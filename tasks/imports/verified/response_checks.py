"""`AgentResponseEvaluator`: the agent's status, and its data as typed answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from pydantic import JsonValue, ValidationError

from evaluators.matchers.answer import AnswerMatcher
from evaluators.matchers.data import DataMatcher
from tasks.imports.formats import Untranslated, Written, end_check
from tasks.imports.verified.records import (
    AnswerEvaluator,
    UnsaidPatternError,
    inner,
    is_pattern,
    pattern_match,
)

STATUSES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "SUCCESS": "done",
        "ACTION_NOT_ALLOWED_ERROR": "infeasible",
        "NOT_FOUND_ERROR": "not_found",
        "PERMISSION_DENIED_ERROR": "permission_denied",
        "DATA_VALIDATION_ERROR": "data_validation_error",
        "UNKNOWN_ERROR": "unknown_error",
    }
)
# By format where a schema names one, by its type otherwise.
_TYPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "string": "text",
        "number": "number",
        "integer": "number",
        "boolean": "boolean",
        "currency": "money",
        "duration": "duration",
        "distance": "distance",
        "date": "date",
        "month": "month",
        "coordinates": "coordinates",
        "url": "url",
        "location-name": "name",
    }
)
_RETRIEVE: Final = "retrieve"
_SSH_HOST: Final = "__SSH_HOST__"
_SSH: Final = re.compile(rf"(?:ssh://)?\w+@{_SSH_HOST}[:/]")


def response_checks(number: int, asked: AnswerEvaluator) -> Iterator[Written | Untranslated]:
    """Yield the checks of the status, and of the data where the task retrieves any."""
    field = f"eval[{number}]"
    status = STATUSES.get(asked.expected.status)
    if status is None:
        yield Untranslated(f"{field}.expected.status", f"is not known: {asked.expected.status}")
    else:
        locate: Written = {"by": "answer", "part": "status"}
        yield end_check("status", locate, {"how": "exact", "value": status})
    if asked.expected.task_type != _RETRIEVE:
        return
    data = asked.expected.retrieved_data
    if data is None and status != "done":
        return
    match = _data_match(asked, data)
    if match is None or not _can_be_asked(match):
        why = "has a form that no type of answer has"
        yield Untranslated(f"{field}.expected.retrieved_data", why)
    else:
        yield end_check("data", {"by": "answer", "part": "data"}, match)


def _can_be_asked(match: Written) -> bool:
    """Whether each gold is a value of its type: some are not, as text without a letter."""
    kind = DataMatcher if match["how"] == "data" else AnswerMatcher
    try:
        kind.model_validate(match)
    except ValidationError:
        return False
    return True


def _data_match(asked: AnswerEvaluator, data: JsonValue) -> Written | None:
    """Return the match of the data by its schema; None where no type reads a part of it."""
    items = asked.results_schema.get("items")
    if not isinstance(data, list) or not data or not isinstance(items, dict):
        return None
    order: Written = {"ordered": True} if asked.ordered else {}
    column = _column(items)
    is_plain = not any(isinstance(_first(one), dict) or _is_like(one) for one in data)
    if column is not None and is_plain:
        values = [_item(one) for one in data]
        if None not in values:
            return {"how": "answer", **column, "all_of": values, **order}
    try:
        parts = [_part(one, items) for one in data]
    except _UntypedError:
        return None
    return {"how": "data", "value": {"items": parts, **order}}


class _UntypedError(ValueError):
    """No type of Arena's reads a part."""


def _part(value: JsonValue, schema: JsonValue) -> object:
    """Return what is expected at one place, by the place's schema."""
    known = schema if isinstance(schema, dict) else {}
    if value is None or value == "":
        return None
    if isinstance(value, dict) and known.get("format") != "coordinates":
        named = known.get("properties")
        properties = named if isinstance(named, dict) else {}
        # A field that the schema does not name is compared as a text there.
        return {
            "fields": {
                name: _part(one, properties.get(name, {"type": "string"}))
                for name, one in value.items()
            }
        }
    if isinstance(value, list) and known.get("type") == "array":
        return {"items": [_part(one, known.get("items")) for one in value]}
    return _leaf(value, known)


def _leaf(value: JsonValue, schema: Mapping[str, JsonValue]) -> Written:
    column = _column(dict(schema))
    if column is None:
        raise _UntypedError
    choices = value if isinstance(value, list) else [value]
    texts = [_as_coordinates(one) if isinstance(one, dict) else one for one in choices]
    if any(is_pattern(one) for one in texts):
        if len(texts) > 1:
            raise _UntypedError
        return _by_pattern(str(texts[0]))
    if column["type"] == "url" and all(_SSH.match(str(one)) for one in texts):
        return {"how": "regex", "value": _ssh(str(texts[0]))}
    said: Written = {"any_of": texts} if len(texts) > 1 else {"value": texts[0]}
    match = {"how": "answer", **column, **said}
    if not _can_be_asked(match):
        raise _UntypedError
    return match


def _by_pattern(pattern: str) -> Written:
    try:
        return pattern_match(inner(pattern))
    except UnsaidPatternError as error:
        raise _UntypedError from error


def _ssh(url: str) -> str:
    """Return the pattern of a URL to clone with SSH: the host and its port are the replica's."""
    user, _, path = url.partition(_SSH_HOST)
    name = re.escape(path.lstrip(":/"))
    return rf"(?:ssh://)?{re.escape(user)}[A-Za-z0-9.-]+(?::\d+/|[:/]){name}"


def _as_coordinates(value: Mapping[str, JsonValue]) -> str:
    north, east = value.get("latitude"), value.get("longitude")
    if north is None or east is None:
        raise _UntypedError
    return f"{north}, {east}"


def _first(value: JsonValue) -> JsonValue:
    return value[0] if isinstance(value, list) and value else value


def _is_like(value: JsonValue) -> bool:
    """Whether a value, or an alternative of it, is a pattern or the URL of a clone."""
    choices = value if isinstance(value, list) else [value]
    return any(is_pattern(one) or _SSH.match(str(one)) is not None for one in choices)


def _column(schema: JsonValue) -> Written | None:
    """Return how the values of a schema are read; None where no type reads them."""
    if not isinstance(schema, dict):
        return None
    kind = _TYPES.get(str(schema.get("format") or schema.get("type")))
    if kind is None:
        return None
    return type_options(kind)


def type_options(kind: str) -> Written:
    """Return a type with what the set means by it: American dates, dollars."""
    match kind:
        case "date":
            return {"type": kind, "date_order": "month_first"}
        case "money":
            return {"type": kind, "currency": "USD"}
        case _:
            return {"type": kind}


def _item(value: JsonValue) -> object:
    """Return one expected value, any of several for a list; None for what is none."""
    if isinstance(value, list):
        inner_values = [one for one in value if isinstance(one, str | int | float)]
        return {"any_of": inner_values} if value and len(inner_values) == len(value) else None
    return value if isinstance(value, str | int | float) else None
