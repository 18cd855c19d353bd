"""Values inside bodies: keys, patterns of keys, and JSONPath."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from evaluators.readings.verified.patterns import is_pattern, needed

_PLAIN: Final = re.compile(r"\$(?:\.[A-Za-z_][A-Za-z0-9_-]*|\[[0-9]+\])+")
_STEP: Final = re.compile(r"\.([A-Za-z_][A-Za-z0-9_-]*)|\[([0-9]+)\]")


def is_path(key: str) -> bool:
    """Whether a key of an expected body is more than a name."""
    return key.startswith("$") or is_pattern(key)


def value_at(data: Mapping[str, Any], key: str) -> Any:
    """Return what a body has there: several values as a tuple, None where there is none."""
    if key.startswith("$.^") and key.endswith("$"):
        return _by_name(data, key[2:])
    if is_pattern(key):
        return _by_name(data, key)
    if _PLAIN.fullmatch(key):
        steps = tuple(_STEP.findall(key))
        there = _walked(data, steps) or _walked(_unpacked(data), steps)
        return there[0] if there else None
    try:
        path = _parsed(key)
    except Exception as cause:
        if type(cause).__module__.startswith("jsonpath_ng"):
            return None
        raise
    found = path.find(data) or path.find(_unpacked(data))
    if len(found) == 1 and "?(" not in key:
        return found[0].value
    return tuple(one.value for one in found) or None


def _walked(value: Any, steps: Sequence[tuple[str, str]]) -> tuple[Any, ...]:
    """Return what stands at the end of names and places, as jsonpath-ng 1.7.0 finds it.

    Later versions find nothing where a place is looked for in an object: there 1.7.0 raises.

    Raises:
        KeyError, TypeError: the published code raises.
    """
    for name, place in steps:
        if place:
            if not value or len(value) <= int(place):
                return ()
            value = value[int(place)]
            continue
        if not isinstance(value, dict) or name not in value:
            return ()
        value = value[name]
    return (value,)


@lru_cache(maxsize=256)
def _parsed(path: str) -> Any:
    return needed("jsonpath_ng.ext").parse(path)


def _by_name(data: Any, pattern: str) -> Any:
    if not isinstance(data, dict):
        return None
    try:
        named = re.compile(pattern)
    except re.error:
        return None
    found = tuple(value for name, value in data.items() if named.match(name))
    return found[0] if len(found) == 1 else found or None


def _unpacked(data: Any) -> Any:
    """Return a body whose texts that are JSON are read; what they hold is not looked into."""
    if isinstance(data, list):
        return [_unpacked(one) for one in data]
    if not isinstance(data, dict):
        return data
    return {
        name: _as_json(one) if isinstance(one, str) else _unpacked(one)
        for name, one in data.items()
    }


def _as_json(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
