"""Templates: one task written once, with placeholders, for several values of its parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from arena_core.names import listed, offered
from evaluators.fields import Slug
from sites.fields import written

# `{name}` stands for a parameter, `{{name}}` for itself; other braces, such as CSS's, stay.
_PLACEHOLDER = re.compile(r"\{\{([a-z][a-z0-9_]*)\}\}|\{([a-z][a-z0-9_]*)\}")

Parameter = Annotated[
    str, written(r"[a-z][a-z0-9_]*", "lower-case letters, digits and '_', a letter first")
]


class PlaceholderError(ValueError):
    """A placeholder names no parameter, or its value does not fit there."""


class Template(BaseModel):
    """A task with placeholders, and the values of its instances.

    Attributes:
        params: by instance, a value for each placeholder; all instances name the same ones.
        task: as tasks are written, without id; see `instance` for the placeholders.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Slug
    params: tuple[dict[Parameter, object], ...] = Field(min_length=1)
    task: dict[str, object]

    def instance(self, number: int) -> dict[str, object]:
        """Return a task as it would be written out for one instance, counted from 0.

        Text that is nothing but `{name}` becomes the parameter's value with its type; inside other
        text the value is written out.
        """
        values = self.params[number]
        if "id" in self.task or "template" in self.task:
            message = "an instance takes its id from the template: say neither `id` nor `template`"
            raise PlaceholderError(message)
        if set(values) != set(self.params[0]):
            message = (
                f"instance {number + 1} names the parameters {listed(sorted(values))},"
                f" the first one {listed(sorted(self.params[0]))}"
            )
            raise PlaceholderError(message)
        used: set[str] = set()
        filled = {name: _filled(value, values, used) for name, value in self.task.items()}
        if used != set(values):
            message = f"no placeholder uses the parameters {listed(sorted(set(values) - used))}"
            raise PlaceholderError(message)
        return {**filled, "id": f"{self.id}-{number + 1}", "template": self.id}


def _filled(written: object, values: Mapping[str, object], used: set[str]) -> object:
    match written:
        case str():
            return _text(written, values, used)
        case Mapping():
            return {
                _key(name, values, used): _filled(value, values, used)
                for name, value in written.items()
            }
        case Sequence():
            return [_filled(value, values, used) for value in written]
        case _:
            return written


def _key(name: object, values: Mapping[str, object], used: set[str]) -> object:
    return str(_text(name, values, used)) if isinstance(name, str) else name


def _text(text: str, values: Mapping[str, object], used: set[str]) -> object:
    alone = _PLACEHOLDER.fullmatch(text)
    if alone is not None and alone[2] is not None:
        return _value(alone[2], values, used)

    def inside(found: re.Match[str]) -> str:
        if found[1] is not None:
            return "{" + found[1] + "}"
        value = _value(found[2], values, used)
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            message = f"'{found[0]}' stands inside text, where only text and numbers can"
            raise PlaceholderError(message)
        return str(value)

    return _PLACEHOLDER.sub(inside, text)


def _value(name: str, values: Mapping[str, object], used: set[str]) -> object:
    if name not in values:
        message = (
            f"'{{{name}}}' names no parameter; {offered(name, values)};"
            f" to mean the text itself, write '{{{{{name}}}}}'"
        )
        raise PlaceholderError(message)
    used.add(name)
    return values[name]
