"""AutoWebGLM's commands, as the gold and a model's reply write them."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Final

Argument = str | int | float | bool | None
_CALL: Final = re.compile(r"\s*([A-Za-z_]\w*)\(")
_ELEMENT: Final = frozenset({"click", "hover", "select", "type_string"})


class NoCommandError(Exception):
    """The text does not begin with a command."""


class NoValuesError(Exception):
    """The command's arguments are no Python values; the message is what `eval` would raise."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command by its name, with its arguments in order."""

    name: str
    arguments: tuple[Argument, ...]

    @property
    def element(self) -> str | None:
        """The label of the element that it acts on; None for a command without one."""
        named = self.name in _ELEMENT and self.arguments
        return str(self.arguments[0]) if named else None

    @property
    def others(self) -> tuple[Argument, ...]:
        """The arguments beside the element's label."""
        return self.arguments if self.element is None else self.arguments[1:]


def read_command(text: str) -> Command:
    """Read the command that a text begins with; what follows it is a comment.

    Raises:
        NoCommandError: it begins with none.
        NoValuesError: an argument is no literal.
    """
    found = _CALL.match(text)
    if found is None:
        message = f"no command at its beginning: {text.strip()[:40]!r}"
        raise NoCommandError(message)
    call = _call(text.strip().replace("\n", "\\n"))  # the recorded answers hold bare line ends
    if call is None:
        message = "SyntaxError: invalid syntax"
        raise NoValuesError(message)
    return Command(found.group(1), tuple(_value(one) for one in _given(call)))


def _call(text: str) -> ast.Call | None:
    """Parse up to the first closing bracket that makes it a call."""
    for end in (index for index, letter in enumerate(text) if letter == ")"):
        try:
            parsed = ast.parse(text[: end + 1], mode="eval").body
        except (SyntaxError, ValueError):
            continue
        return parsed if isinstance(parsed, ast.Call) else None
    return None


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(one.value for one in call.keywords)]


def _value(node: ast.expr) -> Argument:
    if isinstance(node, ast.Name):
        message = f"NameError: name {node.id!r} is not defined"
        raise NoValuesError(message)
    try:
        value = ast.literal_eval(node)
    except ValueError:
        message = f"{ast.unparse(node)} is no value"
        raise NoValuesError(message) from None
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
