"""Functions that a model may call: described by pydantic models, Arena's actions among them."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, TypeVar, get_args

from pydantic import BaseModel, JsonValue, ValidationError

from arena_core.actions import Action
from orchestrator.agents.action_spaces.parser import Misread, ToolActions, build, problems
from orchestrator.agents.model.messages import ToolSpec
from orchestrator.browser.observation import Observation

LONGEST: Final = 20_000
_FAULTS_NAMED: Final = 3
_ATTRIBUTE: Final = re.compile(r"^ {4}(?P<names>\w+(?:, \w+)*): (?P<what>.*)$")


@dataclass(frozen=True, slots=True)
class Combined:
    """Several sets of functions at once; the first that offers a function reads its calls."""

    sets: tuple[ToolActions, ...]

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        return tuple(tool for one in self.sets for tool in one.tools)

    def read(
        self, name: str, arguments: str, observation: Observation
    ) -> tuple[Action, ...] | Misread:
        for one in self.sets[:-1]:
            read = one.read(name, arguments, observation)
            if not isinstance(read, UnknownFunction):
                return read
        read = self.sets[-1].read(name, arguments, observation)
        return unknown(name, self.tools) if isinstance(read, UnknownFunction) else read


class UnknownFunction(Misread):
    """A function was called that there is not."""


def unknown(name: str, tools: tuple[ToolSpec, ...]) -> UnknownFunction:
    known = ", ".join(tool.name for tool in tools)
    return UnknownFunction(f"there is no function {name[:100]!r}; there are: {known}")


def arguments_of(name: str, said: str) -> dict[str, JsonValue] | Misread:
    if len(said) > LONGEST:
        return Misread(f"the arguments of {name} are longer than {LONGEST} characters")
    try:
        arguments = json.loads(said or "{}")
    except (ValueError, RecursionError) as broken:
        return Misread(f"the arguments of {name} are no JSON ({broken})")
    if not isinstance(arguments, dict):
        return Misread(f"the arguments of {name} are no JSON object")
    return arguments


Said = TypeVar("Said", bound=BaseModel)


def read_as(model: type[Said], name: str, said: str) -> Said | Misread:
    if len(said) > LONGEST:
        return Misread(f"the arguments of {name} are longer than {LONGEST} characters")
    try:
        return model.model_validate_json(said or "{}")
    except ValidationError as cause:
        return Misread("; ".join(problems(cause, name)[:_FAULTS_NAMED]))
    except ValueError:  # half a code point
        return Misread(f"the arguments of {name} are no JSON")


@cache  # each question to a model offers all of them
def described(name: str, model: type[BaseModel], *, but: frozenset[str] = frozenset()) -> ToolSpec:
    """Return the function whose arguments are a model's fields, without those in `but`.

    Its description is the docstring's sentences; what stands there under `Attributes` describes
    the arguments.
    """
    what, fields = _documented(model)
    schema = _plain(model.model_json_schema(), {})
    required = _object(schema).get("required", [])
    shown: dict[str, JsonValue] = {
        field: {**_object(one), "description": fields[field]} if field in fields else one
        for field, one in _object(_object(schema).get("properties", {})).items()
        if field not in but
    }
    parameters: dict[str, JsonValue] = {
        "type": "object",
        "properties": shown,
        "required": [one for one in required if one in shown] if isinstance(required, list) else [],
        "additionalProperties": False,
    }
    return ToolSpec(name, what, parameters)


def _object(value: JsonValue) -> dict[str, JsonValue]:
    return value if isinstance(value, dict) else {}


def _documented(model: type[BaseModel]) -> tuple[str, Mapping[str, str]]:
    """Return a docstring's sentences, and what it says of each attribute."""
    text, _, attributes = inspect.cleandoc(model.__doc__ or "").partition("\n\nAttributes:\n")
    fields: dict[str, str] = {}
    names: list[str] = []
    for line in attributes.splitlines():
        found = _ATTRIBUTE.match(line)
        if found is not None:
            names = found["names"].split(", ")
            fields |= dict.fromkeys(names, found["what"])
        else:
            fields |= {name: f"{fields[name]} {line.strip()}" for name in names}
    return " ".join(text.split()), fields


def _plain(schema: JsonValue, known: Mapping[str, JsonValue]) -> JsonValue:
    """Return a JSON Schema without titles and references, which some servers cannot follow."""
    if isinstance(schema, list):
        return [_plain(one, known) for one in schema]
    if not isinstance(schema, dict):
        return schema
    definitions = schema.get("$defs")
    if isinstance(definitions, dict):
        known = {**known, **definitions}
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return _plain(known[reference.removeprefix("#/$defs/")], known)
    return {
        name: {field: _plain(inner, known) for field, inner in one.items()}
        if name == "properties" and isinstance(one, dict)
        else _plain(one, known)
        for name, one in schema.items()
        if name not in {"$defs", "discriminator", "title"} and not _is_docstring(name, schema)
    }


def _is_docstring(name: str, schema: Mapping[str, JsonValue]) -> bool:
    return name == "description" and "properties" in schema


_MODELS: Final[Mapping[str, type[BaseModel]]] = {
    one.model_fields["kind"].default: one for one in get_args(get_args(Action)[0])
}
_TABS: Final = ("goto", "back", "forward", "new_tab", "focus_tab", "close_tab")
_ENDS: Final = ("ask_user", "stop", "infeasible")
# What can be done with elements that have ids, and with no place on the screen.
ON_ELEMENTS: Final = (
    *("click", "hover", "type", "clear", "select", "press", "scroll", "focus", "write"),
    *("key_down", "key_up", "drag", "upload", "wait", *_TABS, *_ENDS),
)
# Fields that are no arguments: the kind is the function, and a confidence is offered to nobody who
# was not asked for one, so that what models are sent stays as it was.
_NO_ARGUMENTS: Final = frozenset({"kind", "confidence"})
# What remains to be done beside a mouse and a keyboard.
BESIDE_A_COMPUTER: Final = (*_TABS, *_ENDS)


@dataclass(frozen=True, slots=True)
class ActionTools:
    """Offers a function for each of these kinds of action."""

    kinds: tuple[str, ...] = ON_ELEMENTS

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        return tuple(described(kind, _MODELS[kind], but=_NO_ARGUMENTS) for kind in self.kinds)

    def read(
        self, name: str, arguments: str, observation: Observation
    ) -> tuple[Action, ...] | Misread:
        if name not in self.kinds:
            return unknown(name, self.tools)
        fields = arguments_of(name, arguments)
        if isinstance(fields, Misread):
            return fields
        if strange := _NO_ARGUMENTS & fields.keys():
            return Misread(f"{name} has no argument '{min(strange)}'")
        action = build(observation, name, **fields)
        return action if isinstance(action, Misread) else (action,)
