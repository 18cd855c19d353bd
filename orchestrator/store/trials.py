"""The units of a run: one task, in one world, once."""

from __future__ import annotations

import re
from dataclasses import dataclass

from arena_core.worlds import World

_FOLDER = re.compile(rf"({'|'.join(World)})-(.+)-r(\d+)-a(\d+)")


@dataclass(frozen=True, slots=True, order=True)
class Trial:
    """One task in one world, for one repeat (from 0)."""

    task: str
    world: World
    repeat: int = 0

    @property
    def name(self) -> str:
        """Its name, which the names of its attempts begin with."""
        return f"{self.world}-{self.task}-r{self.repeat}"

    def folder(self, attempt: int) -> str:
        """Return the name of an attempt's evidence folder."""
        return f"{self.name}-a{attempt}"


def attempt_of(folder: str) -> tuple[Trial, int] | None:
    """Return the trial and attempt whose evidence folder has this name; None for another name."""
    found = _FOLDER.fullmatch(folder)
    if found is None:
        return None
    world, task, repeat, attempt = found.groups()
    return Trial(task, World(world), int(repeat)), int(attempt)
