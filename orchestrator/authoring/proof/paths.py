"""Other right ways to do a task, played after a harmless detour: they must succeed as well.

Each is played in one world, offline where the task runs there, as a task of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pydantic import TypeAdapter

from arena_core.worlds import World
from evaluators.lint import Finding, Location, Severity, TaskFault
from evaluators.verdicts import OutcomeKind
from tasks.reference import ReferenceAction
from tasks.schema import Family, Suite, Task
from tasks.sources import SuiteSource

if TYPE_CHECKING:  # it imports a browser, which lint has no use for
    from orchestrator.authoring.proof.rules import Played

ONE_WAY: Final = "no second right path: a proof plays the reference alone"
NO_GROUND: Final = (
    "no `requires` on what cannot be done: if its site changes, a wrong answer passes"
)
NO_DETOUR: Final = "no written detour: a proof looks at the site in another tab instead"
_ACTIONS: TypeAdapter[tuple[ReferenceAction, ...]] = TypeAdapter(tuple[ReferenceAction, ...])


@dataclass(frozen=True, slots=True)
class PathTask:
    """One further play of a task.

    Attributes:
        task: as it is played: with the actions of the path, in one world, under an id of its own.
        of: the task's own id.
        at: where the path is written.
    """

    task: Task
    of: str
    at: Location
    what: str


def path_tasks(tasks: Iterable[Task]) -> tuple[PathTask, ...]:
    """Return the further plays of tasks: every other path, the first of them after the detour.

    Where a task has no other path, its reference is played after the detour. A MiniWoB++ page has
    neither: it ends its episode itself wherever it is left.
    """
    return tuple(
        path
        for number, task in enumerate(tasks)
        if task.miniwob is None and task.reference is not None
        for path in _of(number, task)
    )


def unproved(source: SuiteSource, tasks: Iterable[Task]) -> tuple[Finding, ...]:
    """Return a note for each task of which a proof shows less than it could.

    It plays but one right way, or no written detour, or the task cannot be done for a reason that
    no replica is asked for.

    Tasks without a reference have a warning of their own; a MiniWoB++ page has but one way, and a
    task may say why it has but one.
    """
    places = {task.id: number for number, task in enumerate(source.suite.tasks)}
    return tuple(
        Finding(Severity.NOTE, task.id, source.where(places[task.id], ("reference",)), message)
        for task in tasks
        if task.miniwob is None and task.reference is not None
        for message, has_it in (
            (ONE_WAY, task.other_paths or task.only_way),
            (NO_DETOUR, task.detour),
            (NO_GROUND, task.family is not Family.UNACHIEVABLE or _is_grounded(task)),
        )
        if not has_it
    )


def _is_grounded(task: Task) -> bool:
    """Whether a task that cannot be done says what of its sites makes it so."""
    return bool(task.requires) or any(check.computed is not None for check in task.checks)


def path_suite(suite: Suite, paths: Iterable[PathTask]) -> Suite:
    return suite.model_copy(update={"tasks": tuple(path.task for path in paths)})


def look_around(task: Task) -> tuple[ReferenceAction, ...]:
    """Return a detour that every task allows: a look at the site in another tab."""
    site = task.start_pages[0].partition(":")[0]
    return _ACTIONS.validate_python(
        [
            {"do": "new_tab"},
            {"do": "goto", "page": f"{site}:/"},
            {"do": "close_tab"},
            {"do": "focus_tab", "index": 0},
        ]
    )


def path_fails(path: PathTask, played: Played) -> Iterator[TaskFault]:
    """Yield that a right way does not succeed."""
    outcome = played.score.outcome
    if outcome.kind is OutcomeKind.SUCCESS:
        return
    message = f"{path.what} must succeed too, ended as '{outcome}': {played.score.because}"
    gave_up = played.evidence.ended_because
    yield TaskFault(path.at, f"{message}; {gave_up}" if gave_up else message)


def _of(number: int, task: Task) -> Iterator[PathTask]:
    detour = task.detour or look_around(task)
    where = "detour" if task.detour else "look around"
    written: list[tuple[Location, str, tuple[ReferenceAction, ...]]] = [
        (("other_paths", at), f"the other path '{path.name}'", task.actions_of(path))
        for at, path in enumerate(task.other_paths)
    ]
    written = written or [(("reference",), "the reference", task.reference_actions)]
    for at, (place, what, actions) in enumerate(written):
        before = detour if at == 0 else ()
        yield PathTask(
            task=alone(task, f"path-{number}-{at}", (*before, *actions), len(before)),
            of=task.id,
            at=place,
            what=f"{what}, after the {where}," if before else what,
        )


def alone(task: Task, name: str, actions: tuple[ReferenceAction, ...], further: int) -> Task:
    """Return a task as one with this reference, played once, with as many further steps."""
    world = World.OFFLINE if World.OFFLINE in task.worlds else World.ONLINE
    limits = task.limits.model_copy(update={"steps": task.limits.steps + further})
    return task.model_copy(
        update={
            "id": name,
            "worlds": (world,),
            "reference": actions,
            "other_paths": (),
            "detour": (),
            "expected_divergence": None,
            "template": None,
            "limits": limits,
        }
    )
