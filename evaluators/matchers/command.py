"""`how: command`: the answer is one command of AutoWebGLM's, and the expected one."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from pydantic import field_validator

from arena_core.worlds import World
from evaluators.matchers.base import Form, Matched, Matcher, found_or_wanted
from evaluators.text import normalise, shown

_REQUIRED: Final = object()
_LONGEST: Final = 20_000

# The functions that AutoWebBench's prompts offer, with their parameters and defaults.
_FUNCTIONS: Final[Mapping[str, Mapping[str, object]]] = MappingProxyType(
    {
        "click": {"element_id": _REQUIRED},
        "hover": {"element_id": _REQUIRED},
        "select": {"element_id": _REQUIRED, "option": _REQUIRED},
        "type_string": {"element_id": _REQUIRED, "content": _REQUIRED, "press_enter": False},
        "scroll_page": {"direction": _REQUIRED},
        "go": {"direction": _REQUIRED},
        "jump_to": {"url": _REQUIRED, "new_tab": False},
        "switch_tab": {"tab_index": _REQUIRED},
        "user_input": {"message": _REQUIRED},
        "finish": {"answer": None},
    }
)


class NoCommandError(ValueError):
    """A text is no command; the message says why."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its function, and its arguments by name."""

    function: str
    arguments: tuple[tuple[str, object], ...]


class CommandMatcher(Matcher):
    """Met where the text holds one command, and it is the expected one.

    It is read as Python writes a call, never evaluated; a comment behind it and fences around it do
    no harm, a second command does. Element, direction and flags must be equal; texts are compared
    in their normal form. An argument that was left away is its default.
    """

    how: Literal["command"] = "command"
    value: str

    @field_validator("value")
    @classmethod
    def _is_a_command(cls, value: str) -> str:
        read_command(value)
        return value

    def match(self, values: Sequence[str], world: World, form: Form = str) -> Matched:  # noqa: ARG002 - a command has one form
        """Read each value as a reply."""
        wanted = read_command(self.value)
        fault = ""
        for value in values:
            try:
                met = read_command(value) == wanted
            except NoCommandError as unread:
                fault = f": {unread}"
                continue
            if met:
                return found_or_wanted((value,), shown(self.value), met=True)
        result = found_or_wanted(values, shown(self.value), met=False)
        return Matched(met=False, reason=f"{result.reason}{fault}", expected=result.expected)


def read_command(text: str) -> Command:
    """Return the one command that a reply holds.

    Raises:
        NoCommandError: it holds none, or several.
    """
    if len(text) > _LONGEST:
        message = "the reply is too long for a command"
        raise NoCommandError(message)
    plain = text.strip().strip("`").strip().removeprefix("python").strip()
    lines = [_call(line) for line in plain.splitlines()]
    found = [one for one in (_call(plain), *lines) if one is not None][:2]
    if len(found) == 2 and len(lines) == 1:  # noqa: PLR2004 - the one line is the whole
        found = found[:1]
    if not found:  # an argument with line breaks in it, as the published steps write them
        found = [one for one in [_call(plain.replace("\n", "\\n"))] if one is not None]
    if len(found) != 1:
        message = f"the reply holds {len(found) or 'no'} command{'s' if len(found) > 1 else ''}"
        raise NoCommandError(message)
    return _read(found[0])


def _call(text: str) -> ast.Call | None:
    try:
        body = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return body if isinstance(body, ast.Call) and isinstance(body.func, ast.Name) else None


def _read(call: ast.Call) -> Command:
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    parameters = _FUNCTIONS.get(name)
    if parameters is None:
        message = f"there is no command {name}"
        raise NoCommandError(message)
    if len(call.args) > len(parameters):
        message = f"{name} takes {len(parameters)} arguments"
        raise NoCommandError(message)
    given = dict(zip(parameters, map(_literal, call.args), strict=False))
    for keyword in call.keywords:
        if keyword.arg is None or keyword.arg not in parameters or keyword.arg in given:
            message = f"{name} has no further argument {keyword.arg}"
            raise NoCommandError(message)
        given[keyword.arg] = _literal(keyword.value)
    arguments = {key: given.get(key, default) for key, default in parameters.items()}
    missing = [key for key, value in arguments.items() if value is _REQUIRED]
    if missing:
        message = f"{name} needs {missing[0]}"
        raise NoCommandError(message)
    return Command(name, tuple((key, _normal(key, one)) for key, one in arguments.items()))


def _literal(node: ast.expr) -> object:
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int | float | bool | None):
        return node.value
    message = "an argument is no plain text, number or flag"
    raise NoCommandError(message)


def _normal(parameter: str, value: object) -> object:
    """Return an argument as it is compared: labels as they are, other texts in normal form."""
    if isinstance(value, str) and parameter != "element_id":
        return normalise(value)
    return value
