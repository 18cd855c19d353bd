"""Records what a proof needs: looks at a reference twice while it is played."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from arena_core.worlds import World
from evaluators.checks import Check, Look
from evaluators.fields import When
from evaluators.locators.page import PageLocator
from orchestrator.episode.proof_hook import EpisodeSnapshot
from tasks.computing import lookup
from tasks.schema import GiveUp, StopWith, Task

START_PAGE: Final = Look(
    name="text-of-the-start-page", when=When.END, locate=PageLocator(selector="body")
)


@dataclass(frozen=True, slots=True)
class ProofRecorder:
    """Looks before the first action of a reference, and before the last that is no stop.

    Attributes:
        snapshots: what was seen, by task, world and step; of several attempts the last.
    """

    snapshots: dict[tuple[str, World, int], EpisodeSnapshot] = field(default_factory=dict)

    def wants(self, task: Task, world: World, step: int) -> Sequence[Look] | None:
        """Ask for the start page before anything is done, on replicas for computed values too."""
        if step == 1:
            return (*lookups(task), START_PAGE) if world is World.OFFLINE else (START_PAGE,)
        return () if step == last_action(task, world) else None

    def saw(self, task: Task, world: World, snapshot: EpisodeSnapshot) -> None:
        """Keep what was seen."""
        self.snapshots[task.id, world, snapshot.step] = snapshot

    def untouched(self, task: Task, world: World) -> EpisodeSnapshot | None:
        """Return what was seen before the first action."""
        return self.snapshots.get((task.id, world, 1))

    def before_last(self, task: Task, world: World) -> EpisodeSnapshot | None:
        """Return what was seen before the last action; None for a reference that only stops."""
        step = last_action(task, world)
        return self.snapshots.get((task.id, world, step)) if step else None


def lookups(task: Task) -> tuple[Check, ...]:
    """Return what finds the computed values of a task's checks in the offline world."""
    found = (lookup(check) for check in task.checks_in(World.OFFLINE))
    return tuple(check for check in found if check is not None)


def last_action(task: Task, world: World) -> int:
    """Return the number, from 1, of the last reference action that is no stop; 0 for none."""
    played = (action for action in task.reference_actions if action.only in (None, world))
    return sum(not isinstance(action, StopWith | GiveUp) for action in played)
