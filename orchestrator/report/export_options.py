"""The options that an exporter declares in the signature of its `export`, and values for them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping

from arena_core.errors import UsageError
from orchestrator.agents.options import Option, by_name

_FLAG = "--option"


def options_of(export: Callable[..., object]) -> tuple[Option, ...]:
    """Return the options of an exporter: what its `export` takes by name alone.

    Raises:
        TypeError: its signature cannot be read.
    """
    try:
        bare = inspect.signature(export)
        if not any(one.kind is inspect.Parameter.KEYWORD_ONLY for one in bare.parameters.values()):
            return ()
        signature = inspect.signature(export, eval_str=True)
    except (NameError, ValueError, AttributeError, TypeError) as cause:
        message = f"the signature of its export cannot be read: {cause}"
        raise TypeError(message) from cause
    return tuple(
        Option(
            name=one.name,
            kind=str if one.annotation is inspect.Parameter.empty else one.annotation,
            default=one.default,
        )
        for one in signature.parameters.values()
        if one.kind is inspect.Parameter.KEYWORD_ONLY
    )


def read_options(
    form: str, export: Callable[..., object], given: Mapping[str, object]
) -> dict[str, object]:
    """Return options as the types that an exporter declares; text is parsed.

    Args:
        form: the exporter's name.
        export: its `export`.
        given: values by name.

    Raises:
        UsageError: one is unknown, mistyped or missing; says what the exporter takes.
    """
    options = options_of(export)
    declared = by_name(options)
    takes = f"'{form}' takes {', '.join(map(str, options)) or 'no options'}"
    read: dict[str, object] = {}
    for name, value in given.items():
        if name not in declared:
            message = f"{_FLAG} {name} is none of the exporter '{form}'"
            raise UsageError(message, hint=takes)
        try:
            read[name] = declared[name].read(value)
        except ValueError as cause:
            message = f"{_FLAG} {name}={value} is no value for the exporter '{form}': {cause}"
            raise UsageError(message, hint=takes) from cause
    missing = [one.name for one in options if one.is_required and one.name not in read]
    if missing:
        message = f"the exporter '{form}' needs {_FLAG} {f' and {_FLAG} '.join(missing)}"
        raise UsageError(message, hint=takes)
    return read
