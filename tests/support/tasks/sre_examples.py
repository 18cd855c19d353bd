"""A text that a regular expression matches, of those that published tasks hold."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# The parser of Python's own `re`, which has no other name and no types.
sre: Any = import_module("re._constants")
sre_parser: Any = import_module("re._parser")


def example(pattern: str) -> str:
    """Return a text that the whole pattern matches; look-ahead stands where it is asked for."""
    return "".join(_of(*one) for one in sre_parser.parse(pattern))


def _of(kind: Any, what: Any) -> str:
    if kind in {sre.AT, sre.ASSERT_NOT}:
        return ""
    if kind in {sre.MAX_REPEAT, sre.MIN_REPEAT}:
        least, _, repeated = what
        times = max(int(least), 1) if repeated[0][0] is sre.ANY else int(least)
        return "".join(_of(*one) for one in repeated) * times
    if kind in {sre.LITERAL, sre.ANY}:
        return str(chr(what)) if kind is sre.LITERAL else "x"
    if kind is sre.IN:
        return _in(what)
    inner = what[1][0] if kind is sre.BRANCH else what[-1]
    return "".join(_of(*one) for one in inner)


def _in(choices: Any) -> str:
    kind, what = choices[0]
    match kind:
        case sre.LITERAL:
            return chr(what)
        case sre.RANGE:
            return chr(what[0])
        case sre.CATEGORY:
            return {sre.CATEGORY_DIGIT: "7", sre.CATEGORY_SPACE: " "}.get(what, "w")
        case _:
            return "y"
