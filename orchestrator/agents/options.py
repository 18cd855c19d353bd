"""The options that a factory declares in its signature, and values for them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin

from pydantic import SecretStr, TypeAdapter, ValidationError

from arena_core.errors import UsageError
from sites.faults import mistakes

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
# Options of Arena's agents by what they were called: still taken, and found in earlier locks.
_FORMER: Final[Mapping[tuple[str, str], str]] = {
    ("oracle", "errs"): "error_rate",
    ("computer", "dialect"): "action_space",
}
REDACTED: Final = "(redacted)"
_LOGIN_IN_URL: Final = re.compile(r"(?P<scheme>\b[a-z][a-z0-9+.-]*://)[^\s/?#@]*@")
_SECRET_WORDS: Final = frozenset({"key", "apikey", "token", "secret", "password", "credentials"})
_WORDS: Final[Mapping[Any, str]] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    SecretStr: "secret",
    tuple: "list",
    list: "list",
}
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

    @classmethod
    def of(cls, parameter: inspect.Parameter) -> Option:
        is_bare = parameter.annotation is inspect.Parameter.empty
        kind = str if is_bare else parameter.annotation
        return cls(name=parameter.name, kind=kind, default=parameter.default)

    @property
    def is_required(self) -> bool:
        return self.default is inspect.Parameter.empty

    @property
    def is_secret(self) -> bool:
        """Whether its value may stand in no file: by its type, or by its name."""
        words = frozenset(self.name.lower().split("_"))
        return "SecretStr" in _type_name(self.kind) or bool(words & _SECRET_WORDS)

    @property
    def flag(self) -> str:
        return flag_of(self.name)

    def read(self, value: object) -> object:
        """Return a value as the declared type; text is parsed, as it comes from a command line."""
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
            first, *_ = mistakes(cause, value)
            raise ValueError(first.message.partition(" (found ")[0]) from cause

    def __str__(self) -> str:
        """Return name, type and default, as messages list what an agent takes."""
        kind = _kind_in_words(self.kind)
        if self.is_required or self.default in (None, "", ()):
            return f"{self.name} ({kind})"
        shown = "…" if self.is_secret else _value_in_words(self.default)
        return f"{self.name} ({kind}; default: {shown})"


def flag_of(name: str) -> str:
    """Return how the command line names an option: a flag of its own, or `--agent-option`."""
    return f"--{name.replace('_', '-')}" if name in FLAGS else f"--agent-option {name}"


def name_now(agent: str, option: str) -> str:
    """Return what an option is called now, which a file or a lock may have by a former name."""
    return _FORMER.get((agent, option), option)


def declared(factory: Callable[..., object], *, given_first: bool) -> tuple[Option, ...]:
    try:
        signature = inspect.signature(factory, eval_str=True)
    except (NameError, ValueError, AttributeError) as cause:
        raise TypeError(f"its signature cannot be read: {cause}") from cause
    parameters = [one for one in signature.parameters.values() if one.kind in _NAMED]
    if given_first:
        if not parameters or not _takes_one(parameters[0]):
            raise TypeError(
                "its first parameter must be the Assignment or Observation, without a default"
            )
        parameters = parameters[1:]
    return tuple(map(Option.of, parameters))


def parse_options(pairs: Sequence[str], flag: str = "--agent-option") -> dict[str, str]:
    """Return what `key=value` texts give; `flag` is what gave them."""
    given: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        name = key.strip().replace("-", "_")
        if not equals or not re.fullmatch(r"[A-Za-z]\w*", name):
            raise UsageError(f"{flag} {pair!r} is not of the form key=value")
        if name in given:
            raise UsageError(f"{flag} {name} is given twice")
        given[name] = value
    return given


def _takes_one(parameter: inspect.Parameter) -> bool:
    return (
        parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        and parameter.default is inspect.Parameter.empty
    )


def _kind_in_words(kind: Any) -> str:
    """Say what values an annotation takes, without Python's words where there are others."""
    if get_origin(kind) is Literal:
        return " or ".join(map(str, get_args(kind)))
    if get_origin(kind) in {Union, UnionType}:
        return " or ".join(_kind_in_words(one) for one in get_args(kind) if one is not NoneType)
    return _WORDS.get(kind) or _WORDS.get(get_origin(kind)) or _type_name(kind)


def _value_in_words(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


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
    return {one.name: one for one in options}
