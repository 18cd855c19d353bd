"""The values that a request must have, each as what a check asks for."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue, ValidationError

from evaluators.matchers.answer import AnswerMatcher
from tasks.imports.formats import Written
from tasks.imports.verified.records import (
    NetworkEvaluator,
    UnsaidPatternError,
    inner,
    is_pattern,
    pattern_match,
)
from tasks.imports.verified.response_checks import type_options

# By field of the record: names in the request, each with a value or a match; any of them will do.
Options = Mapping[str, tuple[tuple[str, object], ...]]

_ABSENT: Final[Written] = {"how": "exact", "value": []}
_TYPES: Final = {"number": "number", "currency": "money", "date": "date"}
_PLAIN: Final = frozenset({"string", "null"})
_NAMED_BY: Final = re.compile(r"(?:\$\.)?\^(.*)\$")
_ABSENT_IS_EMPTY: Final = "query_params"


class UnsaidError(ValueError):
    """A field asks in a way that no check says; the message is field and reason."""

    def __init__(self, why: str, *, field: str) -> None:
        super().__init__(why)
        self.field = field


@dataclass(frozen=True, slots=True)
class Values:
    """Reads the values of one evaluator.

    Attributes:
        bases: what placeholders stand for in the replicas.
        asked: whose schemas say what type they are.
    """

    bases: Mapping[str, str]
    asked: NetworkEvaluator

    def of(self, given: Mapping[str, object] | None, field: str) -> Options:
        """Return what will do for each name; null asks that there is none."""
        found: dict[str, tuple[tuple[str, object], ...]] = {}
        for name, value in (given or {}).items():
            at = f"expected.{field}.{name}"
            found[name] = tuple(
                option
                for named in _names(name, at)
                for option in self._options(named, value, self._schema(name, field), at, field)
            )
        return found

    def _schema(self, name: str, field: str) -> Mapping[str, JsonValue]:
        schemas = {
            "post_data": self.asked.post_data_schema,
            "query_params": self.asked.query_params_schema,
        }
        properties = (schemas.get(field) or {}).get("properties")
        found = properties.get(name) if isinstance(properties, dict) else None
        return found if isinstance(found, dict) else {}

    def _options(
        self, name: str, value: object, schema: Mapping[str, JsonValue], at: str, field: str
    ) -> list[tuple[str, object]]:
        items = schema.get("items")
        if schema.get("type") == "array" and field == "post_data":
            return [self._listed(name, value, at)]
        kind = _kind(items if isinstance(items, dict) else schema)
        values = value if isinstance(value, list) else [value]
        if any(isinstance(one, dict | list) for one in values):
            raise UnsaidError("asks for a list or an object", field=at)
        found = [fit for one in values for fit in self._fits(one, kind, at, field)]
        return [(name, one) for one in found]

    def _listed(self, name: str, value: object, at: str) -> tuple[str, object]:
        """Return the match of a list in a JSON body: all of these and no others, in any order."""
        if not isinstance(value, list) or any(isinstance(one, dict | list) for one in value):
            raise UnsaidError("asks for a list in another form", field=at)
        path = name if "?(" in name else f"{name}[*]"
        wanted = [one if isinstance(one, int | float) else self._text(str(one)) for one in value]
        return path, {"how": "exact", "value": wanted, "ordered": False}

    def _fits(self, value: object, kind: str, at: str, field: str) -> list[object]:
        if value is None:
            if field not in {"post_data", _ABSENT_IS_EMPTY}:
                raise UnsaidError("asks that the field is empty or not there", field=at)
            return [_ABSENT]
        if isinstance(value, str) and is_pattern(value):
            return self._by_pattern(value, at, field)
        if value == "" and field == _ABSENT_IS_EMPTY:
            return ["", _ABSENT]
        return self._of_kind(self._text(value) if isinstance(value, str) else value, kind, at)

    def _of_kind(self, value: object, kind: str, at: str) -> list[object]:
        if kind in _PLAIN:
            return [value]
        if kind in _TYPES:
            return [_typed(_TYPES[kind], value, at)]
        if kind == "string_list":
            return [_any_order(str(value), at)]
        if kind == "markdown":
            return _line_ends(str(value))
        if kind == "json":
            return [{"how": "data", "value": _json_form(str(value), at)}]
        raise UnsaidError(f"is compared as {kind}", field=at)

    def _by_pattern(self, pattern: str, at: str, field: str) -> list[object]:
        try:
            match = pattern_match(self._text(inner(pattern)))
        except UnsaidPatternError as error:
            raise UnsaidError(str(error), field=at) from error
        is_optional = field == _ABSENT_IS_EMPTY and re.fullmatch(inner(pattern), "") is not None
        return [match, _ABSENT] if is_optional else [match]

    def _text(self, text: str) -> str:
        """Return a text with the replicas' URLs in place of what stands for them in the file."""
        for base, replica in self.bases.items():
            text = text.replace(base, replica)
        return text


def _names(name: str, at: str) -> list[str]:
    """Return the names that a field may have: some are said by a pattern."""
    named = _NAMED_BY.fullmatch(name)
    if named is None:
        return [name]
    names = [one.replace(r"\d+", "*") for one in named[1].split("|")]
    plain = [re.sub(r"\\([\[\]])", r"\1", one) for one in names]
    if any(re.search(r"[\\^$.+?(){}|]", one) for one in plain):
        raise UnsaidError("names fields by a pattern of another kind", field=at)
    return plain


def _kind(schema: Mapping[str, JsonValue]) -> str:
    return str(schema.get("format") or schema.get("type") or "string")


def _typed(kind: str, value: object, at: str) -> Written:
    match: Written = {"how": "answer", **type_options(kind), "value": value}
    try:
        AnswerMatcher.model_validate(match)
    except ValidationError as error:
        raise UnsaidError(f"is no {kind}: {value!r}", field=at) from error
    return match


def _json_form(text: str, at: str) -> object:
    """Return the form of a JSON text: its parts, lists in their order."""
    try:
        return _form(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise UnsaidError(f"is no JSON: {error}", field=at) from error


def _form(found: JsonValue) -> object:
    match found:
        case dict() if found:
            return {"fields": {name: _form(one) for name, one in found.items()}}
        case list() if found:
            return {"items": [_form(one) for one in found], "ordered": True}
        case dict() | list():
            raise ValueError("holds an empty list or object")
        case _:
            return found


def _any_order(listed: str, at: str) -> Written:
    """Return the match of different texts between commas, in any order."""
    items = [one.strip() for one in listed.split(",") if one.strip()]
    if not items or len(set(items)) < len(items):
        raise UnsaidError("lists a text twice, or none", field=at)
    as_many = rf"[^,]+(?:,[^,]+){{{len(items) - 1}}}"
    each = [rf"(?:.*,)?\s*{re.escape(one)}\s*(?:,.*)?" for one in items]
    return {"how": "regex", "value": [as_many, *each], "case": True}


def _line_ends(text: str) -> list[object]:
    whole = text.strip("\n")
    return [
        f"{spelled}{end}"
        for line_end in ("\n", "\r\n")
        for spelled in [whole.replace("\n", line_end)]
        for end in ("", line_end)
    ]
