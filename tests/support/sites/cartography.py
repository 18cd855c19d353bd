"""What the map's generator writes, read by tests.

It runs in a process of its own: the encyclopedia's generator has a package of the same name.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

SEED = Path(__file__).parents[3] / "docker" / "map" / "seed"
CITIES = ("Port Merrow", "Saltby", "Alderbridge")


@dataclass(frozen=True, slots=True)
class Mapped:
    """One line of objects.tsv."""

    kind: str
    number: int
    tags: dict[str, str]
    members: list[Any]


def generate(folder: Path, hash_seed: str = "0") -> None:
    """Write the whole region into a folder."""
    subprocess.run(
        [sys.executable, "-B", "-m", "region", str(folder)],
        env={"PYTHONPATH": str(SEED), "PYTHONHASHSEED": hash_seed},
        check=True,
        timeout=300,
    )


@cache
def region() -> tuple[Mapped, ...]:
    """Return every object of the map."""
    with TemporaryDirectory() as made:
        generate(Path(made))
        lines = (Path(made) / "objects.tsv").read_text(encoding="utf-8").splitlines()
    return tuple(_mapped(line.replace("\\\\", "\\").split("\t")) for line in lines)


@cache
def world() -> dict[str, Any]:
    """Return what the shared world knows."""
    return tomllib.loads((SEED / "region" / "world.toml").read_text(encoding="utf-8"))


def _mapped(cells: list[str]) -> Mapped:
    kind, number, tags, members, *_ = cells
    return Mapped(
        kind, int(number), json.loads(tags), [] if members == r"\N" else json.loads(members)
    )
