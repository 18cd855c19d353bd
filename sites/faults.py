"""What a validation found wrong, field by field, in words for the person who wrote the file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from arena_core.names import nearest

Location = tuple[int | str, ...]

_SHOWN_LENGTH: Final = 60
_LONGEST: Final = 500  # of what a validator says, which may quote all that stood there
_SECRETS: Final = frozenset({"password", "secret"})
_KEY_MARK: Final = "[key]"
_UNKNOWN: Final = "unknown field"

# What a value is not: the kinds that a field takes are said together.
_KINDS: Final = {
    **dict.fromkeys(("string_type", "string_sub_type", "string_unicode"), "text"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "a whole number"),
    **dict.fromkeys(("int_parsing_size",), "a smaller whole number"),
    **dict.fromkeys(("float_type", "float_parsing", "decimal_type"), "a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"),
    **dict.fromkeys(("list_type", "tuple_type", "set_type", "frozen_set_type"), "a list"),
    **dict.fromkeys(
        ("dict_type", "mapping_type", "model_type", "model_attributes_type", "dataclass_type"),
        "a mapping of fields",
    ),
    **dict.fromkeys(
        (
            *("datetime_type", "datetime_parsing", "datetime_from_date_parsing"),
            *("datetime_object_invalid", "timezone_aware", "timezone_offset"),
        ),
        "a moment with its time zone, such as 2026-10-01T09:00:00Z",
    ),
}


_BOUNDS: Final = {
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "greater_than": "must be greater than {gt:g}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt:g}",
    "less_than_equal": "must be at most {le}",
    "finite_number": "must be a finite number",
    "string_pattern_mismatch": "must look like {pattern}",
    "invalid_key": "names of fields must be text",
}
_COUNTS: Final = {
    "too_short": ("least", "min_length", "entry", "entries"),
    "too_long": ("most", "max_length", "entry", "entries"),
    "string_too_short": ("least", "min_length", "character", "characters"),
    "string_too_long": ("most", "max_length", "character", "characters"),
}
_QUOTES: Final = "'"


@dataclass(frozen=True, slots=True)
class Mistake:
    """One wrong field.

    Attributes:
        at: the field's path as the file has it; the last part may be the field that is missing.
        message: what is wrong with it, and what stood there.
    """

    at: Location
    message: str

    def __str__(self) -> str:
        at = ".".join(_cut(str(part), _SHOWN_LENGTH) for part in self.at) or "document"
        return f"{at}: {_cut(self.message, _LONGEST)}"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 2]} …"


@dataclass(frozen=True, slots=True)
class _Fault:
    """One error of the validation, its place split at the first name that stands in no file.

    Attributes:
        at: the part of the place that the content has.
        branch: which form of several was tried; None where there was one.
        rest: what comes after that.
    """

    details: ErrorDetails
    at: Location
    branch: str | None
    rest: Location


def mistakes(
    error: ValidationError, content: object, fields: Iterable[str] = ()
) -> tuple[Mistake, ...]:
    """Return what is wrong with content, one mistake a field, in the order of the fields.

    Of a field that may have several forms, only what is wrong with the form that was meant is
    returned. What follows from another mistake is left out.
    """
    faults = [
        _split(details, content, (), details["loc"])
        for details in error.errors(include_url=False)
        if not _is_consequence(details)
    ]
    found = dict.fromkeys(_told(faults, content))
    return tuple(_with_offer(one, tuple(fields)) for one in found)


def _with_offer(mistake: Mistake, fields: Sequence[str]) -> Mistake:
    """Name the field that may have been meant by an unknown one."""
    if mistake.message != _UNKNOWN or len(mistake.at) != 1:
        return mistake
    near = nearest(str(mistake.at[0]), fields)
    return mistake if near is None else Mistake(mistake.at, f"{_UNKNOWN}; did you mean '{near}'?")


def _is_consequence(details: ErrorDetails) -> bool:
    """Whether a list only counts as too short because entries of it are wrong themselves."""
    if details["type"] != "too_short":
        return False
    given = details["input"]
    return isinstance(given, (Sequence, Mapping)) and len(given) >= details["ctx"]["min_length"]


def _split(details: ErrorDetails, node: object, at: Location, rest: Location) -> _Fault:
    """Follow a place into the content as far as both agree."""
    while rest:
        inner = _child(node, rest[0])
        is_last_and_absent = len(rest) == 1 and details["type"] == "missing"
        if not is_last_and_absent and (inner is None or _is_branch(node, rest)):
            return _Fault(details, at, str(rest[0]), rest[1:])
        at, rest = (*at, rest[0]), rest[1:]
        node = inner[0] if inner else None
    return _Fault(details, at, None, ())


def _is_branch(node: object, rest: Location) -> bool:
    """Whether a name is that of a form although the content has a field called alike.

    A form is called as its `by`, `how`, `do` or `scheme` says, or stands twice: once for the form.
    """
    if not isinstance(node, Mapping) or len(rest) < 2:  # noqa: PLR2004 - a form and a field
        return False
    below = _child(node, rest[0])
    return (
        any(node.get(mark) == rest[0] for mark in ("by", "how", "do", "scheme"))
        and below is not None
        and _child(below[0], rest[1]) is None
    )


def _child(node: object, part: int | str) -> tuple[object] | None:
    if isinstance(node, Mapping):
        for key, value in node.items():
            if str(key) == str(part):
                return (value,)
    if isinstance(node, (list, tuple)) and isinstance(part, int) and part < len(node):
        return (node[part],)
    return None


def _told(faults: Sequence[_Fault], content: object) -> Iterator[Mistake]:
    """Yield the mistakes of faults, those of one field with several forms as one."""
    done: set[Location] = set()
    for fault in faults:
        if fault.branch is None:
            yield Mistake(fault.at, _message(fault.details))
        elif fault.branch == _KEY_MARK:
            # The place of a wrong name ends with the name itself.
            yield Mistake(fault.at, f"as a name: {_message(fault.details)}")
        elif fault.at not in done:
            done.add(fault.at)
            here = [one for one in faults if one.branch is not None and one.at == fault.at]
            yield from _meant(here, content)


def _meant(faults: Sequence[_Fault], content: object) -> Iterator[Mistake]:
    """Yield what is wrong with the form that was meant: the one whose kind fits what is there."""
    at = faults[0].at
    node = _at(content, at)
    forms: dict[str, list[_Fault]] = {}
    for fault in faults:
        inside = _split(fault.details, node, at, fault.rest)
        if inside.at != at or fault.details["type"] not in _KINDS:
            forms.setdefault(fault.branch or "", []).append(inside)
    if forms:
        yield from _told(next(iter(forms.values())), content)
        return
    kinds = dict.fromkeys(_KINDS[fault.details["type"]] for fault in faults)
    yield Mistake(at, f"must be {_either(tuple(kinds))}{_found(faults[0].details, at)}")


def _at(content: object, at: Location) -> object:
    node = content
    for part in at:
        below = _child(node, part)
        node = below[0] if below else None
    return node


def _message(details: ErrorDetails) -> str:
    kind = details["type"]
    if kind == "missing":
        return "is required"
    if kind == "extra_forbidden":
        return _UNKNOWN
    return f"{_wrong(details)}{_found(details, details['loc'])}"


def _wrong(details: ErrorDetails) -> str:
    """Say what is wrong with a value; no word of the validating library gets through."""
    kind, more = details["type"], details.get("ctx", {})
    message = "is not allowed here"
    if kind in _KINDS:
        message = f"must be {_KINDS[kind]}"
    elif kind in _BOUNDS:
        message = _BOUNDS[kind].format(**more)
    elif kind in _COUNTS:
        words, bound, one, several = _COUNTS[kind]
        count = int(more[bound])
        message = f"must have at {words} {count} {one if count == 1 else several}"
    elif kind in {"value_error", "assertion_error"}:
        text = str(more["error"])
        message = text[:1].lower() + text[1:]
    elif kind in {"union_tag_invalid", "union_tag_not_found"}:
        field = f"`{str(more['discriminator']).strip(_QUOTES)}`"
        message = f"needs {field}, which says what kind it is"
        if "expected_tags" in more:
            message = f"{field} must be one of {more['expected_tags']}"
    return message


def _found(details: ErrorDetails, at: Location) -> str:
    """Return the end of a message that says what stood there, where that is short and no secret."""
    given = details["input"]
    if isinstance(given, Mapping) and given:
        return ""
    if at and at[-1] in _SECRETS:
        return ""
    text = shown(given)
    if len(text) > _SHOWN_LENGTH:
        text = f"{text[: _SHOWN_LENGTH - 3]}..."
    return f" (found {text})"


def shown(value: object) -> str:
    """Return a value as YAML writes it, on one line."""
    match value:
        case str():
            return repr(value)
        case date():
            return value.isoformat()
        case float():
            return repr(value)
        case _:
            return json.dumps(value, default=str, ensure_ascii=False)


def kind_of(value: object) -> str:
    """Say what kind of value a document holds: `nothing`, `a list`, `text`."""
    kinds: tuple[tuple[type | tuple[type, ...], str], ...] = (
        (str, "text"),
        (bool, "true or false"),
        ((int, float), "a number"),
        ((list, tuple), "a list"),
        (Mapping, "a mapping"),
    )
    if value is None:
        return "nothing"
    return next((words for kind, words in kinds if isinstance(value, kind)), "a single value")


def _either(kinds: Sequence[str]) -> str:
    *first, last = (kind for kind in kinds if kind != "a whole number" or "a number" not in kinds)
    return f"{', '.join(first)} or {last}" if first else last
