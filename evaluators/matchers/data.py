"""`how: data`: a JSON value has exactly the parts that are expected, each by a match of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Discriminator, Field, Tag

from arena_core.worlds import World
from evaluators.matchers.answer import AnswerMatcher
from evaluators.matchers.base import Form, Matched, Matcher
from evaluators.matchers.exact import ExactMatcher
from evaluators.matchers.regex import RegexMatcher
from evaluators.values.pairing import pair_up
from evaluators.values.text import as_text, shown
from sites.fields import Strict

_LONGEST = 1_000_000
_LONGEST_WANTED = 400


def _kind(given: object) -> str:
    names = set(given) if isinstance(given, Mapping) else set()
    for name in ("how", "fields", "items"):
        if name in names or hasattr(given, name):
            return name if not isinstance(given, str) else "value"
    return "value"


_Leaf = Annotated[AnswerMatcher | RegexMatcher | ExactMatcher, Field(discriminator="how")]


class Fields(Strict):
    """An object with these fields and no others; one that is null may be missing."""

    fields: Annotated[dict[str, Part], Field(min_length=1)]


class Items(Strict):
    """A list of these and no others, in any order unless `ordered`; one value alone is a list."""

    items: Annotated[tuple[Part, ...], Field(min_length=1)]
    ordered: bool = Field(default=False, exclude_if=lambda value: not value)


Part = Annotated[
    Annotated[_Leaf, Tag("how")]
    | Annotated[Fields, Tag("fields")]
    | Annotated[Items, Tag("items")]
    | Annotated[str | int | float | bool | None, Tag("value")],
    Discriminator(_kind),
]


class DataMatcher(Matcher):
    """Met where a value is JSON of exactly this form, or a text where no more is asked for.

    Attributes:
        value: `{fields: {name: …}}`, `{items: […]}`, a match (`how: answer`, `regex`, `exact`) of
            one value, a value itself, which is compared as JSON writes it, or null: null or empty.
    """

    is_whole: ClassVar[bool] = False

    how: Literal["data"] = "data"
    value: Part

    def answering(self, question: str) -> Self:
        return self.model_copy(update={"value": _answering(self.value, question)})

    def match(self, values: Sequence[str], world: World, form: Form = str) -> Matched:  # noqa: ARG002 - a value has one form
        """Compare the one value; several are no match."""
        value = self.value
        whole = value.model_dump_json() if isinstance(value, Strict) else repr(value)
        wanted = whole if len(whole) <= _LONGEST_WANTED else f"{whole[:_LONGEST_WANTED]}…"
        found = ", ".join(map(shown, values[:1])) or "nothing"
        if len(values) != 1:
            reason = f"found {len(values)} values, wanted one like {wanted}"
            return Matched(met=False, reason=reason, expected=wanted)
        fault = _fault(self.value, _read(values[0]), world)
        if fault is None:
            return Matched(met=True, reason=f"found {found}", expected=wanted)
        reason = " ".join(f"found {found}: {fault}".rstrip(".").split())
        return Matched(met=False, reason=reason, expected=wanted)


def _answering(part: Any, question: str) -> Any:
    match part:
        case Fields():
            named = {name: _answering(one, question) for name, one in part.fields.items()}
            return part.model_copy(update={"fields": named})
        case Items():
            listed = tuple(_answering(one, question) for one in part.items)
            return part.model_copy(update={"items": listed})
        case Matcher():
            return part.answering(question)
        case _:
            return part


def _read(text: str) -> Any:
    """Return what a text holds as JSON; the text where it is none."""
    bare = text.strip()
    if not bare.startswith(("{", "[")) or len(bare) > _LONGEST:
        return text
    try:
        return json.loads(bare, parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        return text


def _fault(part: Any, found: Any, world: World) -> str | None:
    match part:
        case Fields():
            return _fields_fault(part, found, world)
        case Items():
            return _items_fault(part, found, world)
        case None:
            return None if found is None or found == "" else f"{_said(found)} is not null"
        case Matcher():
            if found is None or (isinstance(found, list | dict) and not found):
                return "a value is missing"
            matched = part.match((as_text(found),), world)
            return None if matched.met else matched.reason
        case _:
            same = not isinstance(found, list | dict | None) and as_text(found) == as_text(part)
            return None if same else f"{_said(found)} is not {shown(as_text(part))}"


def _fields_fault(part: Fields, found: Any, world: World) -> str | None:
    if not isinstance(found, dict):
        return f"{_said(found)} has no fields"
    more = sorted(set(found) - set(part.fields))
    if more:
        return f"has the field {shown(more[0])}, which is not expected"
    for name, wanted in part.fields.items():
        if name not in found and wanted is not None:
            return f"has no field {shown(name)}"
        fault = _fault(wanted, found.get(name), world)
        if fault is not None:
            return f"{name}: {fault}"
    return None


def _items_fault(part: Items, found: Any, world: World) -> str | None:
    listed = found if isinstance(found, list) else [found]
    if len(listed) != len(part.items):
        return f"has {len(listed)} items, not {len(part.items)}"
    if part.ordered or len(listed) == 1:
        pairs = zip(part.items, listed, strict=True)
        faults = (_fault(wanted, one, world) for wanted, one in pairs)
        return next((fault for fault in faults if fault is not None), None)
    fits = [
        [n for n, one in enumerate(listed) if _fault(wanted, one, world) is None]
        for wanted in part.items
    ]
    paired = pair_up(fits)
    wrong = next((n for n in range(len(listed)) if n not in paired), None)
    return None if wrong is None else f"has {_said(listed[wrong])}, which is not expected"


def _said(found: Any) -> str:
    return shown(as_text(found))
