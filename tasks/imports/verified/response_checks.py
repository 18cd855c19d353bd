"""`AgentResponseEvaluator`: the agent's status, and its data as typed answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from pydantic import JsonValue, ValidationError

from evaluators.matchers.answer import AnswerMatcher
from tasks.imports.checking import Untranslated, Written, end_check
from tasks.imports.verified.records import AnswerEvaluator

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


def response_checks(number: int, asked: AnswerEvaluator) -> Iterator[Written | Untranslated]:
    """Yield the checks of the status, and of the data where the task retrieves any.

    Args:
        number: the evaluator's place in the task.
        asked: what it asks for.
    """
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
    try:
        AnswerMatcher.model_validate(match)
    except ValidationError:
        return False
    return True


def _data_match(asked: AnswerEvaluator, data: JsonValue) -> Written | None:
    items = asked.results_schema.get("items")
    if not isinstance(data, list) or not data or not isinstance(items, dict):
        return None
    order: Written = {"ordered": True} if asked.ordered else {}
    properties = items.get("properties")
    if isinstance(properties, dict):
        rows = _rows(data, properties)
        columns = [_column(one) for one in properties.values()]
        if rows is None or None in columns:
            return None
        return {"how": "answer", "columns": columns, "rows": rows, **order}
    column = _column(items)
    values = [_item(one) for one in data]
    if column is None or None in values:
        return None
    return {"how": "answer", **column, "all_of": values, **order}


def _column(schema: JsonValue) -> Written | None:
    """Return how the values of a schema are read; None where no type reads them."""
    if not isinstance(schema, dict):
        return None
    kind = _TYPES.get(str(schema.get("format") or schema.get("type")))
    if kind is None:
        return None
    return {"type": kind, "date_order": "month_first"} if kind == "date" else {"type": kind}


def _item(value: JsonValue) -> object:
    """Return one expected value, any of several for a list; None for what is none."""
    if isinstance(value, list):
        inner = [one for one in value if isinstance(one, str | int | float)]
        return {"any_of": inner} if inner and len(inner) == len(value) else None
    return value if isinstance(value, str | int | float) else None


def _rows(data: list[JsonValue], properties: Mapping[str, JsonValue]) -> list[list[object]] | None:
    rows: list[list[object]] = []
    for one in data:
        if not isinstance(one, dict) or set(one) != set(properties):
            return None
        cells = [_item(one[name]) for name in properties]
        if None in cells:
            return None
        rows.append(cells)
    return rows
