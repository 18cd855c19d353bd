"""The small types that the fields of checks share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Generic, TypeVar

from pydantic import BeforeValidator, FiniteFloat

from arena_core.worlds import World
from sites.fields import Strict, written

T = TypeVar("T")

Slug = Annotated[
    str,
    written(
        r"[a-z0-9][a-z0-9-]{0,60}",
        "a name of at most 61 lower-case letters, digits and '-' that begins with no '-'",
    ),
]


class PerWorld(Strict, Generic[T]):
    """One value per world, where the worlds truly differ."""

    offline: T
    online: T

    def of(self, world: World) -> T:
        """Return the value that holds in a world."""
        match world:
            case World.OFFLINE:
                return self.offline
            case World.ONLINE:
                return self.online


class When(StrEnum):
    """`step`: a key node, met once at any step, in any order. `end`: holds at the end."""

    STEP = "step"
    END = "end"


def _no_boolean(value: object) -> object:
    """Refuse what YAML made of a bare `yes` or `no`: as a number it would be 1 or 0."""
    if isinstance(value, bool):
        message = "is true or false to YAML: put the text in quotes"
        raise ValueError(message)  # noqa: TRY004 - pydantic reports ValueError with its field
    return value


Expected = Annotated[str | int | FiniteFloat, BeforeValidator(_no_boolean)]
ExpectedNumber = Annotated[FiniteFloat, BeforeValidator(_no_boolean)]
ExpectedValues = Expected | tuple[Expected, ...]
