"""What was there before the towns: the sea, the river Merrow, and how far the region reaches."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from random import Random

from region.geometry import Line, Noise, Point, nearest_on, smooth

WIDTH, HEIGHT = 20_000.0, 14_500.0
RIVER_WIDTH = 46.0
_BANK = 58.0
_REACH = 400.0
_BAYS = ((5_000.0, 900.0, 560.0), (11_700.0, 800.0, 420.0))  # at, how wide, how deep
_RIVER = (
    (20_300, 8_900), (18_600, 9_250), (17_000, 8_300), (15_600, 7_700), (14_500, 7_180), (13_300, 7_050),
    (12_000, 6_300), (10_400, 6_500), (8_800, 5_750), (7_300, 5_950), (6_000, 5_250), (5_000, 5_080),
    (4_000, 5_330), (2_900, 5_150), (1_200, 5_100),
)  # fmt: skip


@dataclass(frozen=True)
class Land:
    """The ground that everything stands on."""

    seed: str
    _noise: Noise = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_noise", Noise(Random(f"{self.seed} coast"), 2_600))

    def coast(self, y: float) -> float:
        """Return how far east the sea reaches at a height."""
        shore = 2_150 + 260 * self._noise.at(Point(0, y)) + 60 * self._noise.at(Point(0, y * 5))
        return shore + sum(
            depth * math.exp(-(((y - at) / width) ** 2)) for at, width, depth in _BAYS
        )

    @cached_property
    def shore(self) -> list[Point]:
        """The coast line, from south to north."""
        return [Point(self.coast(y), y) for y in range(-200, int(HEIGHT) + 300, 60)]

    @cached_property
    def river(self) -> list[Point]:
        """The river's middle, from the hills to the sea."""
        return smooth([Point(*map(float, at)) for at in _RIVER], 3)

    def is_sea(self, point: Point, margin: float = 0.0) -> bool:
        """Whether a point is in the sea, or nearer to it than a margin."""
        return point.x < self.coast(point.y) + margin

    def off_the_river(self, point: Point) -> Point:
        """Return a point, moved to the bank where it is too near to the river."""
        if self.river_at(point) >= _BANK:
            return point
        distance, on = nearest_on(self.river, point)
        away = (point - on).times(1 / (distance or 1.0))
        return on + (away if distance else Point(0, 1)).times(_BANK)

    def river_at(self, point: Point) -> float:
        """Return how far it is to the river's middle; infinity where that is far."""
        near = self._reaches.get(int(point.x // _REACH))
        return nearest_on(near, point)[0] if near else math.inf

    @cached_property
    def _reaches(self) -> dict[int, list[Point]]:
        """The river by stretches of the way west, each with what is just beyond its ends."""
        stretches: dict[int, list[Point]] = {}
        for on in self.river:
            for number in {int((on.x + aside) // _REACH) for aside in (-_REACH / 2, 0, _REACH / 2)}:
                stretches.setdefault(number, []).append(on)
        return stretches


def beyond(line: Line) -> list[Point]:
    """Close the coast line around the sea."""
    south, north = line[0], line[-1]
    far = [
        Point(north.x, 40_000),
        Point(-60_000, 40_000),
        Point(-60_000, -40_000),
        Point(south.x, -40_000),
    ]
    return [*line, *far, south]
