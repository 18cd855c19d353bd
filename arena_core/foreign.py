"""What comes from outside: bounded, typed and storable before anything else sees it.

Agents, endpoints, plug-ins and pages hand in text and JSON that Python takes and nothing can write
down: halves of surrogate pairs, numbers of a thousand digits, infinity, lists in lists without end.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING, Final, NoReturn

if TYPE_CHECKING:
    from pydantic import JsonValue, ValidationError

# Evidence nests what it keeps a few levels deeper, and its reader takes 200.
MOST_DEPTH: Final = 100
MOST_CHARS: Final = 1_000_000
# No float holds more than 308 digits.
_MOST_NUMBER: Final = 10**300


class ForeignError(ValueError):
    """What was handed in cannot be kept; the text says why, to complete "it …"."""


def whole(text: str) -> str:
    """Return a text that can be written down: halves of surrogate pairs become U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def cut(text: str, most: int = MOST_CHARS) -> str:
    """Return a text that can be written down, and no more of it than `most` characters."""
    return whole(text[:most])


def storable(
    value: object, *, most_depth: int = MOST_DEPTH, most_chars: int = MOST_CHARS
) -> JsonValue:
    """Return a value as plain JSON; sequences become lists."""
    return _Copy(most_depth, most_chars).of(value, 0)


def read_json(
    text: str | bytes, *, most_depth: int = MOST_DEPTH, most_chars: int = MOST_CHARS
) -> JsonValue:
    """Read JSON whose author is not trusted."""
    try:
        found: object = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise _too_deep(most_depth) from None
    except ForeignError:
        raise
    except ValueError as cause:
        raise ForeignError(f"is no JSON: {cause}") from cause
    return storable(found, most_depth=most_depth, most_chars=most_chars)


def shallow_json(text: str, *, most_depth: int) -> object:
    """Read JSON as Python takes it, but no deeper: whoever walks or writes it comes to an end."""
    try:
        found: object = json.loads(text)
    except RecursionError:
        raise _too_deep(most_depth) from None
    except ValueError as cause:
        raise ForeignError(f"is no JSON: {cause}") from cause
    if text.count("[") + text.count("{") > most_depth:
        _require_shallow(found, most_depth)
    return found


def _require_shallow(value: object, most_depth: int) -> None:
    level = [value]
    for _ in range(most_depth + 1):
        level = [
            inner
            for one in level
            if isinstance(one, (dict, list))
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return
    raise _too_deep(most_depth)


class _Copy:
    """One value that is copied: how much of it may still come."""

    def __init__(self, most_depth: int, most_chars: int) -> None:
        self._most_depth = most_depth
        self._most_chars = self._left = most_chars

    def of(self, value: object, depth: int) -> JsonValue:
        if depth > self._most_depth:
            raise _too_deep(self._most_depth)
        self._count(1)
        match value:
            case None | bool():
                return value
            case str():
                self._count(len(value))
                return whole(str(value))
            case int():
                if abs(value) > _MOST_NUMBER:
                    raise ForeignError("holds a number of more than 300 digits")
                return int(value)
            case float():
                if not isfinite(value):
                    _refuse_constant(str(value))
                return float(value)
            case list() | tuple():
                return [self.of(one, depth + 1) for one in value]
            case dict():
                return {self._key(key): self.of(one, depth + 1) for key, one in value.items()}
            case _:
                raise ForeignError(f"holds {type(value).__name__}, which is no JSON")

    def _key(self, key: object) -> str:
        if not isinstance(key, str):
            message = f"holds an object with a key that is {type(key).__name__}, and no text"
            raise ForeignError(message)
        self._count(len(key))
        return whole(str(key))

    def _count(self, chars: int) -> None:
        self._left -= chars
        if self._left < 0:
            raise ForeignError(f"is longer than {self._most_chars} characters")


def _too_deep(most_depth: int) -> ForeignError:
    return ForeignError(f"is nested more than {most_depth} levels deep")


def _refuse_constant(name: str) -> NoReturn:
    raise ForeignError(f"holds {name}, which is no number of JSON's")


def first_fault(error: ValidationError) -> str:
    """Return the first thing that a model refused: `field.part: why`."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(map(str, first["loc"]))
    return f"{where}: {first['msg']}" if where else first["msg"]
