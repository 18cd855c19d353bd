"""The small part of JSONPath that api locators need: `a.b[0].c`, `items[*].name`."""

from __future__ import annotations

import re

_STEP = re.compile(r"\.?([A-Za-z_][\w-]*)|\[(\d+|\*)\]")


class JsonPathError(ValueError):
    """The path does not parse, or leads nowhere."""


def read_json_path(document: object, path: str) -> list[object]:
    """Return the values at a path, several where `[*]` stands in it.

    Raises:
        JsonPathError: naming the step that failed.
    """
    found = [document]
    for step in _steps(path):
        found = [value for one in found for value in _descend(one, step)]
    return found


def json_path_fault(path: str) -> str | None:
    """Say where a path does not parse; None where it does."""
    try:
        steps = _steps(path)
    except JsonPathError as error:
        return str(error)
    return None if steps else "the path is empty: leave it away to mean the whole answer"


def _steps(path: str) -> list[str | int]:
    steps: list[str | int] = []
    end = 0
    while end < len(path):
        match = _STEP.match(path, end)
        if match is None:
            message = f"the path '{path}' does not parse at '{path[end:]}'"
            raise JsonPathError(message)
        name, index = match.groups()
        steps.append(name if name is not None else index if index == "*" else int(index))
        end = match.end()
    return steps


def _descend(value: object, step: str | int) -> list[object]:
    if step == "*" and isinstance(value, list):
        return list(value)
    if isinstance(step, int) and isinstance(value, list) and step < len(value):
        return [value[step]]
    if isinstance(step, str) and isinstance(value, dict) and step in value:
        return [value[step]]
    kind = type(value).__name__
    message = f"the answer has no '{step}' there (it is a {kind})"
    raise JsonPathError(message)
