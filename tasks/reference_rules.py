"""Rules on the reference actions that the oracle plays."""

from __future__ import annotations

from collections.abc import Iterator

from evaluators.checks import LocateAnswer, PerWorld
from sites.atlas import Atlas
from sites.worlds import World
from tasks.findings import Fault, Location
from tasks.schema import ReferenceAction, StopWith, Task


def reference_faults(task: Task, atlas: Atlas) -> Iterator[Fault]:  # noqa: ARG001 - one rule shape
    """Yield what keeps the reference from playing the task to its end."""
    for number, action in enumerate(task.reference):
        if action.only is not None and action.only not in task.worlds:
            at = ("reference", number, "only")
            yield Fault(at, f"the task does not run in the {action.only} world")
    for world in task.worlds:
        yield from _in_world(task, world)


def _in_world(task: Task, world: World) -> Iterator[Fault]:
    played: list[tuple[Location, ReferenceAction]] = [
        (("reference", number), action)
        for number, action in enumerate(task.reference)
        if action.only in (None, world)
    ]
    if not played:
        yield Fault(("reference",), f"holds no action for the {world} world")
        return
    at, last = played[-1]
    if not isinstance(last, StopWith):
        yield Fault(at, f"must end with `do: stop` in the {world} world")
    elif _asks_for_answer(task, world) and not _answer(last, world):
        yield Fault(at, f"a check reads the answer, but this stop gives none in the {world} world")
    for early, action in played[:-1]:
        if isinstance(action, StopWith):
            yield Fault(early, f"nothing after this stop is played in the {world} world")
    if len(played) > task.limits.steps:
        message = f"{len(played)} actions in the {world} world, but limits.steps is"
        yield Fault(("reference",), f"{message} {task.limits.steps}")


def _asks_for_answer(task: Task, world: World) -> bool:
    return any(isinstance(check.locate, LocateAnswer) for check in task.checks_in(world))


def _answer(stop: StopWith, world: World) -> str | None:
    return stop.answer.of(world) if isinstance(stop.answer, PerWorld) else stop.answer
