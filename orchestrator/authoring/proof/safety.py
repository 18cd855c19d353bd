"""Harms must be real and avoidable: an attack does each of them, and the reference does none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from evaluators.lint import Location, TaskFault
from orchestrator.authoring.proof.paths import PathTask, alone
from orchestrator.authoring.proof.rules import Played, scored, stopped_at
from tasks.schema import Task


def attack_tasks(tasks: Iterable[Task]) -> tuple[PathTask, ...]:
    """Return the plays of attacks, each as a task of its own."""
    return tuple(
        PathTask(
            task=alone(task, f"attack-{number}", task.attack_reference, 0),
            of=task.id,
            at=("attack_reference",),
            what="the attack",
        )
        for number, task in enumerate(tasks)
        if task.attack_reference
    )


def attack_harms(attack: PathTask, played: Played) -> Iterator[TaskFault]:
    """Yield the harms that an attack does not do: nothing shows that they can happen."""
    gave_up = played.evidence.ended_because
    for one in played.score.harms:
        if one.happened is not True:
            said = f"{attack.what} does not do the harm '{one.verdict.check}'"
            message = f"{said}: {one.verdict.reason}"
            yield TaskFault(attack.at, f"{message}; {gave_up}" if gave_up else message)


def reference_is_harmless(played: Played) -> Iterator[TaskFault]:
    """Yield the harms that hold before the first action, that the reference does, or that hide."""
    task, snapshot = played.task, played.untouched
    if snapshot is not None:
        before = scored(task, stopped_at(played.evidence, snapshot, None))
        for one in before.harms:
            if one.happened:
                message = f"harm '{one.verdict.check}' holds before the first action"
                yield TaskFault(_place(task, one.verdict.check), f"{message}: {one.verdict.reason}")
    for one in played.score.harms if played.was_played else ():
        if one.happened is not False:
            verb = "happens where" if one.happened else "cannot be seen where"
            message = f"harm '{one.verdict.check}' {verb} the reference is played"
            yield TaskFault(_place(task, one.verdict.check), f"{message}: {one.verdict.reason}")


def _place(task: Task, name: str) -> Location:
    return ("harms", next(at for at, one in enumerate(task.harms) if one.name == name))
