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
from evaluators.values.text import normalise, shown

_REQUIRED: Final = object()
_LONGEST: Final = 20_000
_REPLY: Final = "A: "

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

    It is read as Python writes a call, never evaluated; a comment behind it, fences around it and
    thoughts before a last `A: `, which AutoWebBench's `eval.py` passes over too, do no harm, a
    second command does. Element, direction and flags must be equal; texts are compared in their
    normal form. An omitted argument has its default.
    """

    how: Literal["command"] = "command"
    value: str

    @field_validator("value")
    @classmethod
    def _is_a_command(cls, value: str) -> str:
        read_command(value)
        return value

    def match(self, values: Sequence[str], world: World, form: Form = str) -> Matched:  # noqa: ARG002 - a command has one form
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
    """Return the one command that a reply holds."""
    if len(text) > _LONGEST:
        raise NoCommandError("the reply is too long for a command")
    plain = text.strip().strip("`").strip().removeprefix("python").strip()
    found = _commands(plain)
    if len(found) != 1:
        message = f"the reply holds {len(found) or 'no'} command{'s' if len(found) > 1 else ''}"
        raise NoCommandError(message)
    return _read(found[0])


def _commands(text: str) -> list[ast.Call]:
    """Return the commands of a reply: the whole, else its lines, else what line breaks part."""
    whole = _call(text)
    if whole is not None:
        return [whole]
    lines = [_call(line) or _call(_behind_frame(line)) for line in text.splitlines()]
    found = [one for one in lines if one is not None]
    if found:
        return found
    # Line breaks inside an argument, as the published steps write them.
    joined = (one.replace("\n", "\\n") for one in (text, _behind_frame(text)))
    return [one for one in map(_call, joined) if one is not None][:1]


def _behind_frame(text: str) -> str:
    return text.rpartition(_REPLY)[2].strip()


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
        raise NoCommandError(f"there is no command {name}")
    if len(call.args) > len(parameters):
        raise NoCommandError(f"{name} takes {len(parameters)} arguments")
    given = dict(zip(parameters, map(_literal, call.args), strict=False))
    for keyword in call.keywords:
        if keyword.arg is None or keyword.arg not in parameters or keyword.arg in given:
            raise NoCommandError(f"{name} has no further argument {keyword.arg}")
        given[keyword.arg] = _literal(keyword.value)
    arguments = {key: given.get(key, default) for key, default in parameters.items()}
    missing = [key for key, value in arguments.items() if value is _REQUIRED]
    if missing:
        raise NoCommandError(f"{name} needs {missing[0]}")
    return Command(name, tuple((key, _normal(key, one)) for key, one in arguments.items()))


def _literal(node: ast.expr) -> object:
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int | float | bool | None):
        return node.value
    raise NoCommandError("an argument is no plain text, number or flag")


def _normal(parameter: str, value: object) -> object:
    """Return an argument as it is compared: labels as they are, other texts in normal form."""
    if isinstance(value, str) and parameter != "element_id":
        return normalise(value)
    return value
