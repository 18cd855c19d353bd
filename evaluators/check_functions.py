"""Functions of suites' own packages, which checks `by: python` name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, cast

from pydantic import JsonValue

from arena_core.plugins import Group, Seam
from evaluators.evidence import Evidence

# What a function finds in the evidence of an episode, given a check's arguments; values that are
# no text become it as JSON's do.
CheckFunction = Callable[[Evidence, Mapping[str, JsonValue]], Iterable[JsonValue]]


def accept_function(found: object) -> CheckFunction:
    """Return an object that was registered as a function.

    Raises:
        TypeError: it cannot be called.
    """
    if callable(found):
        return cast("CheckFunction", found)
    message = "it is no function (evidence, arguments)"
    raise TypeError(message)


FUNCTIONS: Final[Seam[CheckFunction]] = Seam(Group.FUNCTIONS, "check function", accept_function)
