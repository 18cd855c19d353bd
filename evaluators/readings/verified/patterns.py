"""Regular expressions as webarena-verified takes them: any text from `^` to `$`, on either side."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any, Final

from evaluators.readings.upstream import NotInEvidenceError, PublishedCrashError

_LONGEST_S: Final = 1.0


def is_pattern(value: object) -> bool:
    """Whether a value is taken for a regular expression."""
    return isinstance(value, str) and len(value) > 1 and value[0] == "^" and value[-1] == "$"


def matches(pattern: str, text: str, *, flags: int = 0, whole: bool = True) -> bool:
    """Whether a task's pattern matches a text.

    Raises:
        re.error: it is none.
    """
    compiled = re.compile(pattern, flags)
    return bool(compiled.fullmatch(text) if whole else compiled.match(text))


def agents_match(pattern: str, text: str, *, flags: int = 0) -> bool:
    """Whether an agent's pattern matches a whole text.

    The published code has no bound here: a pattern can keep it busy for ever.

    Raises:
        PublishedCrashError: it does not come back.
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
    """Import a library of the extra `verified`.

    Raises:
        NotInEvidenceError: it is not installed.
    """
    try:
        return import_module(module)
    except ImportError:
        message = f"{module} is not installed: pip install 'arena-orchestrator[verified]'"
        raise NotInEvidenceError(message) from None
