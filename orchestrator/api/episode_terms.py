"""What a caller sets for one episode beside its task: a seed, limits, the size of the window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, Self

from arena_core.errors import UsageError

if TYPE_CHECKING:
    from tasks.schema import Suite, Task

MOST_STEPS: Final = 500
MOST_SECONDS: Final = 7200.0
SEEDS: Final = 2**31
LEAST_PIXELS: Final = 100
MOST_PIXELS: Final = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeTerms:
    """What an episode has in place of what its task says; None leaves that as it is.

    The task as it is played, with these terms in it, is what its evidence is kept with.

    Attributes:
        seed: a MiniWoB++ page draws its problem from it. Every other task is the same whatever the
            seed: it is written down and nothing else.
        viewport: width and height in CSS pixels.
    """

    seed: int | None = None
    max_steps: int | None = None
    max_seconds: float | None = None
    viewport: tuple[int, int] | None = None

    @classmethod
    def read(
        cls,
        *,
        seed: int | None,
        max_steps: int | None,
        max_seconds: float | None,
        viewport: Sequence[int] | None,
    ) -> Self:
        """Check what a caller asks for.

        Raises:
            UsageError: a number is out of its bounds.
        """
        _require("seed", seed, 0, SEEDS - 1)
        _require("max_steps", max_steps, 1, MOST_STEPS)
        if max_seconds is not None and not (isfinite(max_seconds) and max_seconds > 0):
            message = f"max_seconds: {max_seconds:g} is no time that an episode could take"
            raise UsageError(message, hint=f"up to {MOST_SECONDS:g} seconds")
        _require("max_seconds", max_seconds, 0, MOST_SECONDS)
        size = None if viewport is None else tuple(viewport)
        for pixels in size or ():
            _require("viewport", pixels, LEAST_PIXELS, MOST_PIXELS)
        if size is not None and len(size) != 2:  # noqa: PLR2004  width and height
            message = f"viewport: {size} is no width and height"
            raise UsageError(message, hint="such as (1280, 720)")
        return cls(
            seed=seed,
            max_steps=max_steps,
            max_seconds=max_seconds,
            viewport=None if size is None else (size[0], size[1]),
        )

    def applied_to(self, task: Task) -> Task:
        """Return a task as it is played on these terms."""
        changed: dict[str, Any] = {}
        limits: dict[str, float] = {}
        if self.max_steps is not None:
            limits["steps"] = self.max_steps
        if self.max_seconds is not None:
            limits["seconds"] = self.max_seconds
        if limits:
            changed["limits"] = task.limits.model_copy(update=limits)
        if self.seed is not None and task.wob is not None:
            changed["wob"] = task.wob.model_copy(update={"seed": self.seed})
        return task.model_copy(update=changed) if changed else task

    @property
    def options(self) -> dict[str, str | int | float | bool | None]:
        """What was asked for, by name, as a run's lock keeps it."""
        size = None if self.viewport is None else f"{self.viewport[0]}x{self.viewport[1]}"
        asked = {
            "seed": self.seed,
            "max_steps": self.max_steps,
            "max_seconds": self.max_seconds,
            "viewport": size,
        }
        return {name: value for name, value in asked.items() if value is not None}


def with_task(suite: Suite, played: Task) -> Suite:
    """Return a suite that has a task as it is played."""
    tasks = tuple(played if one.id == played.id else one for one in suite.tasks)
    return suite.model_copy(update={"tasks": tasks})


def _require(name: str, value: float | None, least: float, most: float) -> None:
    if value is not None and not least <= value <= most:
        message = f"{name}: {value:g} is not between {least:g} and {most:g}"
        raise UsageError(message)
