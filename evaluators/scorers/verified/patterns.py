"""Patterns and JSONPath as webarena-verified takes them: any text from `^` to `$` is a pattern."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, Final

from evaluators.scorers.base import NotInEvidenceError, PublishedCrashError

_LONGEST_S: Final = 1.0


def is_pattern(value: object) -> bool:
    """Whether a value is taken for a regular expression."""
    return isinstance(value, str) and len(value) > 1 and value[0] == "^" and value[-1] == "$"


def matches(pattern: str, text: str, *, flags: int = 0, whole: bool = True) -> bool:
    """Whether a task's pattern matches a text."""
    compiled = re.compile(pattern, flags)
    return bool(compiled.fullmatch(text) if whole else compiled.match(text))


def agents_match(pattern: str, text: str, *, flags: int = 0) -> bool:
    """Whether an agent's pattern matches a whole text.

    The published code has no bound here: a pattern can keep it busy for ever.
    """
    try:
        re.compile(pattern, flags)
    except re.error:
        return False
    bounded = needed("regex")
    try:
        return bool(bounded.fullmatch(pattern, text, flags=flags, timeout=_LONGEST_S))
    except TimeoutError:
        message = f"nothing: it does not come back from the answer's pattern {pattern!r}"
        raise PublishedCrashError(message) from None


def needed(module: str) -> Any:
    """Import a library of the extra `verified`."""
    try:
        return import_module(module)
    except ImportError:
        message = f"{module} is not installed: pip install 'arena-orchestrator[verified]'"
        raise NotInEvidenceError(message) from None


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
