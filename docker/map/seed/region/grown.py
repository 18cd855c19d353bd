"""A town as it stands on the map."""

from __future__ import annotations

from dataclasses import dataclass, field

from region.blocks import Block
from region.town import Town


@dataclass(slots=True)
class Grown:
    """A town on the map: the nodes of its crossings and bends."""

    town: Town
    blocks: list[Block]
    spots: dict[tuple[int, int], int] = field(default_factory=dict)
    bends: dict[tuple[tuple[int, int], tuple[int, int]], int] = field(default_factory=dict)
