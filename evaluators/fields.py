"""The small types that the fields of checks share."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Generic, TypeVar

from pydantic import BeforeValidator, FiniteFloat

from arena_core.worlds import World
from sites.fields import Strict, written

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

Slug = Annotated[
    str,
    written(
        r"[a-z0-9][a-z0-9-]{0,60}",
        "a name of at most 61 lower-case letters, digits and '-' that begins with no '-'",
    ),
]


class PerWorld(Strict, Generic[T_co]):
    """One value per world, where the worlds truly differ."""

    offline: T_co
    online: T_co

    def of(self, world: World) -> T_co:
        """Return the value that holds in a world."""
        match world:
            case World.OFFLINE:
                return self.offline
            case World.ONLINE:
                return self.online


def in_world(value: T | PerWorld[T], world: World) -> T:
    """Return what holds in a world of a value that need not differ between them."""
    return value.of(world) if isinstance(value, PerWorld) else value


def by_world(value: T | PerWorld[T]) -> Iterator[tuple[World | None, T]]:
    """Yield each value with its world; None where both worlds have the same."""
    if isinstance(value, PerWorld):
        yield from ((world, value.of(world)) for world in World)
    else:
        yield None, value


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
