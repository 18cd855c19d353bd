"""One record per measured figure, as a table and as bench.json."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure beside its reference from the same run, and the goal, in words."""

    name: str
    ours: float
    reference: float
    ratio: float
    goal: str


def show(figures: Sequence[Figure], path: Path) -> None:
    """Print the figures as a table and write them to `path`."""
    path.write_text(json.dumps([asdict(figure) for figure in figures], indent=2) + "\n")
    print(f"{'figure':<58}{'ours':>10}{'reference':>11}{'ratio':>8}  goal")
    for one in figures:
        print(f"{one.name:<58}{one.ours:>10.2f}{one.reference:>11.2f}{one.ratio:>8.2f}  {one.goal}")
