"""The options that a factory declares in its signature, and values for them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import SecretStr, TypeAdapter, ValidationError

from arena_core.errors import UsageError

# Options of the command line that stand for `--agent-option NAME=…`, where an agent declares them.
FLAGS: Final = (
    "seed",
    "model",
    "model_url",
    "model_deadline",
    "temperature",
    "reasoning_effort",
    "max_completion_tokens",
    "prices",
    "replay",
)
REDACTED: Final = "(redacted)"
_LOGIN_IN_URL: Final = re.compile(r"(?P<scheme>\b[a-z][a-z0-9+.-]*://)[^\s/?#@]*@")
_SECRET_WORDS: Final = frozenset({"key", "apikey", "token", "secret", "password", "credentials"})
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option of an agent.

    Attributes:
        kind: the annotation; `str` where there is none.
        default: what counts where nothing is given; `inspect.Parameter.empty` where it must be.
    """

    name: str
    kind: Any
    default: object

    @property
    def is_required(self) -> bool:
        """Whether it must be given."""
        return self.default is inspect.Parameter.empty

    @property
    def is_secret(self) -> bool:
        """Whether its value may stand in no file: by its type, or by its name."""
        words = frozenset(self.name.lower().split("_"))
        return "SecretStr" in _type_name(self.kind) or bool(words & _SECRET_WORDS)

    @property
    def flag(self) -> str:
        """How the command line names it."""
        return flag_of(self.name)

    def read(self, value: object) -> object:
        """Return a value as the declared type; text is parsed, as it comes from a command line.

        Raises:
            ValueError: it is no such value, in one line.
        """
        adapter: TypeAdapter[object] = TypeAdapter(self.kind)
        try:
            if not isinstance(value, str):
                return adapter.validate_python(value)
            return adapter.validate_strings(value)
        except ValidationError as cause:
            if isinstance(value, str):
                try:
                    return adapter.validate_json(value)
                except ValidationError:
                    pass
            raise ValueError(cause.errors()[0]["msg"]) from cause

    def __str__(self) -> str:
        """Return name, type and default, as messages list what an agent takes."""
        shown = f"{self.name}: {_type_name(self.kind)}"
        if self.is_required:
            return shown
        return f"{shown} = {'…' if self.is_secret and self.default else repr(self.default)}"


def flag_of(name: str) -> str:
    """Return how the command line names an option: a flag of its own, or `--agent-option`."""
    return f"--{name.replace('_', '-')}" if name in FLAGS else f"--agent-option {name}"


def declared(factory: Callable[..., object], *, given_first: bool) -> tuple[Option, ...]:
    """Return the options in a factory's signature.

    Args:
        factory: a function or a class.
        given_first: the first parameter is no option: Arena fills it.

    Raises:
        TypeError: it has no signature that can be read, or no first parameter that can be filled.
    """
    try:
        signature = inspect.signature(factory, eval_str=True)
    except (NameError, ValueError, AttributeError) as cause:
        message = f"its signature cannot be read: {cause}"
        raise TypeError(message) from cause
    parameters = [one for one in signature.parameters.values() if one.kind in _NAMED]
    if given_first:
        if not parameters or not _takes_one(parameters[0]):
            message = "its first parameter must be the task's Assignment, without a default"
            raise TypeError(message)
        parameters = parameters[1:]
    return tuple(
        Option(
            name=one.name,
            kind=str if one.annotation is inspect.Parameter.empty else one.annotation,
            default=one.default,
        )
        for one in parameters
    )


def parse_options(pairs: Sequence[str], flag: str = "--agent-option") -> dict[str, str]:
    """Return what `key=value` texts give.

    Args:
        pairs: the texts.
        flag: what they were given by.

    Raises:
        UsageError: one is no such text, or names a key a second time.
    """
    given: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        name = key.strip().replace("-", "_")
        if not equals or not re.fullmatch(r"[A-Za-z]\w*", name):
            message = f"{flag} {pair!r} is not of the form key=value"
            raise UsageError(message)
        if name in given:
            message = f"{flag} {name} is given twice"
            raise UsageError(message)
        given[name] = value
    return given


def _takes_one(parameter: inspect.Parameter) -> bool:
    return (
        parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        and parameter.default is inspect.Parameter.empty
    )


def _type_name(kind: Any) -> str:
    return kind.__name__ if isinstance(kind, type) else str(kind).replace("typing.", "")


def plain(option: Option, value: object) -> str | int | float | bool | None:
    """Return a value as it may stand in a file: without secrets, and flat."""
    if option.is_secret and value is not None:
        return REDACTED
    if isinstance(value, SecretStr):
        return REDACTED
    if value is None or isinstance(value, bool | int | float):
        return value
    text = value if isinstance(value, str) else _as_json(option, value)
    return _LOGIN_IN_URL.sub(rf"\g<scheme>{REDACTED}@", text)


def _as_json(option: Option, value: object) -> str:
    adapter: TypeAdapter[object] = TypeAdapter(option.kind)
    return adapter.dump_json(value).decode()


def by_name(options: Sequence[Option]) -> Mapping[str, Option]:
    """Return options by their names."""
    return {one.name: one for one in options}
