"""Rules on the reference actions that the oracle plays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from arena_core.actions import Infeasible, Stop, key_fault
from arena_core.worlds import World
from evaluators.evidence import Ended, Evidence, StepEvidence
from evaluators.fields import PerWorld
from evaluators.lint import Location, TaskFault, warning
from evaluators.locators.base import Subject
from evaluators.responses import answer_of, response_of
from evaluators.verdicts import CheckStatus, verdicts
from sites.registry import SiteRegistry
from tasks.lint.selectors import role_doubt
from tasks.reference import (
    GiveUp,
    OnElement,
    PressKeys,
    ReferenceAction,
    SelectIn,
    StopWith,
    TypeInto,
    UploadTo,
)
from tasks.schema import Task


def ended_at_once(task: Task, world: World, action: Stop | Infeasible) -> Evidence:
    """Return the evidence of an agent whose first action was its last."""
    gives_up = isinstance(action, Infeasible)
    return Evidence(
        suite="",
        task=task.id,
        world=world,
        agent="",
        repeat=0,
        attempt=1,
        started_at="",
        seconds=0.0,
        answer=None if isinstance(action, Infeasible) else answer_of(action),
        response=response_of(action),
        ended=Ended.INFEASIBLE if gives_up else Ended.STOPPED,
        steps=tuple(
            StepEvidence(
                index=index,
                action=done,
                url="",
                logical=next(iter(task.start_pages), None),
                title="",
            )
            for index, done in enumerate((None, action))
        ),
    )


def reference_faults(task: Task, registry: SiteRegistry) -> Iterator[TaskFault]:  # noqa: ARG001 - one rule shape
    """Yield what keeps the reference from playing the task to its end."""
    if task.reference is None:
        yield from _without_reference(task)
    for at, script in scripts(task):
        for number, action in enumerate(script):
            yield from _action_faults(task, (*at, number), action)
    for at, script in whole_scripts(task):
        for world in task.worlds:
            yield from _in_world(task, world, at, script)
    if task.attack_reference:
        for world in task.worlds:
            attack = task.attack_reference
            yield from _in_world(task, world, ("attack_reference",), attack, is_right=False)
    for number, action in enumerate(task.detour):
        if isinstance(action, StopWith | GiveUp):
            yield TaskFault(("detour", number), "a detour comes back to the start, and never stops")


def scripts(task: Task) -> Iterator[tuple[Location, Sequence[ReferenceAction]]]:
    """Yield all actions that a task lists, with their place: whole paths, detour and attack."""
    yield from whole_scripts(task)
    if task.detour:
        yield ("detour",), task.detour
    if task.attack_reference:
        yield ("attack_reference",), task.attack_reference


def whole_scripts(task: Task) -> Iterator[tuple[Location, Sequence[ReferenceAction]]]:
    """Yield the reference of a task and its other paths."""
    if task.reference is not None:
        yield ("reference",), task.reference
    for number, path in enumerate(task.other_paths):
        yield ("other_paths", number, "reference"), task.actions_of(path)


def _action_faults(task: Task, at: Location, action: ReferenceAction) -> Iterator[TaskFault]:
    """Yield what keeps one action from being played."""
    if action.only is not None and action.only not in task.worlds:
        yield TaskFault((*at, "only"), f"the task does not run in the {action.only} world")
    if isinstance(action, UploadTo):
        yield from _provided(task, (*at, "files"), action)
    if isinstance(action, PressKeys):
        fault = key_fault(action.keys)
        if fault:
            yield TaskFault((*at, "keys"), fault)
    if isinstance(action, OnElement | UploadTo | TypeInto | SelectIn):
        yield from _roles((*at, "role"), action.role)


def _without_reference(task: Task) -> Iterator[TaskFault]:
    message = (
        "has no reference: nothing proves that it can be solved, and the oracle cannot play it"
    )
    yield warning(("reference",), message)
    if task.expected_divergence is not None:
        yield TaskFault(
            ("expected_divergence",),
            "says how the reference ends online, but there is no reference",
        )


def _provided(task: Task, at: Location, action: UploadTo) -> Iterator[TaskFault]:
    there = {one.name for one in task.files}
    for name in action.files:
        if name not in there:
            listed = ", ".join(sorted(there)) or "none"
            yield TaskFault(at, f"uploads '{name}', but the task's files are: {listed}")


def _roles(at: Location, role: str | PerWorld[str]) -> Iterator[TaskFault]:
    for name in (role,) if isinstance(role, str) else (role.offline, role.online):
        doubt = role_doubt(name)
        if doubt:
            yield warning(at, doubt)


def _in_world(
    task: Task,
    world: World,
    of: Location,
    script: Sequence[ReferenceAction],
    *,
    is_right: bool = True,
) -> Iterator[TaskFault]:
    played: list[tuple[Location, ReferenceAction]] = [
        ((*of, number), action)
        for number, action in enumerate(script)
        if action.only in (None, world)
    ]
    if not played:
        yield TaskFault(of, f"holds no action for the {world} world")
        return
    at, last = played[-1]
    if isinstance(last, StopWith | GiveUp):
        yield from _answered(task, world, at, last) if is_right else ()
    else:
        yield TaskFault(at, f"must end with `do: stop` in the {world} world")
    for early, action in played[:-1]:
        if isinstance(action, StopWith | GiveUp):
            yield TaskFault(early, f"nothing after this stop is played in the {world} world")
    if len(played) > task.limits.steps:
        message = f"{len(played)} actions in the {world} world, but limits.steps is"
        yield TaskFault(of, f"{message} {task.limits.steps}")


def _answered(
    task: Task, world: World, at: Location, last: StopWith | GiveUp
) -> Iterator[TaskFault]:
    """Yield checks of the answer that the reference's own ending does not meet."""
    ending = _ending(last, world)
    asked = [one for one in task.checks_in(world) if one.locate.subject is Subject.ANSWER]
    expected = task.expected_divergence
    for verdict in verdicts(asked, ended_at_once(task, world, ending)):
        if verdict.status is CheckStatus.MET:
            continue
        if isinstance(ending, Stop) and not (ending.answer or ending.data or ending.status):
            message = (
                f"check '{verdict.check}' reads the answer: none is given in the {world} world"
            )
            yield TaskFault(at, message)
            continue
        diverges = expected is not None and expected.at == verdict.check and world is World.ONLINE
        if not diverges:
            message = f"check '{verdict.check}' refuses this answer in the {world} world"
            yield TaskFault(at, f"{message}: {verdict.reason}")


def _ending(last: StopWith | GiveUp, world: World) -> Stop | Infeasible:
    if isinstance(last, GiveUp):
        return Infeasible(reason=last.reason)
    return last.ending(world)
