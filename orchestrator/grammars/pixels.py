"""From places in the picture that a model saw to CSS pixels of the viewport."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from orchestrator.grammars.grammar import Misread
from orchestrator.observation import MarkedPicture, Observation, Picture


@dataclass(frozen=True, slots=True)
class Size:
    """Width and height in pixels."""

    width: int
    height: int

    @classmethod
    def of(cls, observation: Observation) -> Self | None:
        """Return the size of the viewport as a picture shows it; None where there is no picture."""
        for part in observation.parts.values():
            picture = part.picture if isinstance(part, MarkedPicture) else part
            if isinstance(picture, Picture):
                return cls(picture.width, picture.height)
        return None

    def within(self, most: Size | None) -> Size:
        """Return the largest size of the same shape that is no larger than `most`, nor than this.

        A picture is never enlarged: that shows nothing more, and costs tokens.
        """
        if most is None:
            return self
        scale = min(1.0, most.width / self.width, most.height / self.height)
        return Size(max(1, round(self.width * scale)), max(1, round(self.height * scale)))

    def __str__(self) -> str:
        return f"{self.width}x{self.height}"


@dataclass(frozen=True, slots=True)
class Shown:
    """A viewport, and the scale on which a model names places in it.

    Attributes:
        scale: what x and y count up to: the size of the picture that was sent, or a grid.
        has_edge: the scale's last value is a place too, the last pixel.
    """

    viewport: Size
    scale: Size
    has_edge: bool = False

    def point(self, x: float, y: float) -> tuple[float, float] | Misread:
        """Return a place in CSS pixels of the viewport."""
        if not (self._is_on(x, self.scale.width) and self._is_on(y, self.scale.height)):
            return Misread(f"({x:g}, {y:g}) is outside of the picture, which is {self.scale}")
        across, down = self.distance(x, y)
        return min(across, self.viewport.width - 1), min(down, self.viewport.height - 1)

    def distance(self, x: float, y: float) -> tuple[float, float]:
        """Return a way in CSS pixels."""
        return (
            x * self.viewport.width / self.scale.width,
            y * self.viewport.height / self.scale.height,
        )

    def _is_on(self, value: float, limit: int) -> bool:
        return 0 <= value < limit or (self.has_edge and value == limit)


NO_PICTURE = Misread("there is no picture to name a place in")
