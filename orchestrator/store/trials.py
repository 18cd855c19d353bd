"""The units of a run: one task, in one world, once."""

from __future__ import annotations

from dataclasses import dataclass

from sites.worlds import World


@dataclass(frozen=True, slots=True, order=True)
class Trial:
    """One task in one world, for one repeat (from 0)."""

    task: str
    world: World
    repeat: int = 0

    def folder(self, attempt: int) -> str:
        """Return the name of an attempt's evidence folder."""
        return f"{self.world}-{self.task}-r{self.repeat}-a{attempt}"
