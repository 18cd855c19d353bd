"""What a task sets up must matter, and come out the same each time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from arena_core.errors import EngineError, GivenError, SiteError
from arena_core.worlds import World
from evaluators.lint import TaskFault, warning
from evaluators.verdicts import OutcomeKind
from orchestrator.authoring.proof.rules import Played, computed_agree
from orchestrator.runs.environments import Environments
from orchestrator.runs.events import OnEvent, ProgressNote
from orchestrator.runs.open_world import WorldSize, open_world
from orchestrator.runs.request import browser_for
from orchestrator.runs.spec import RunSettings
from orchestrator.sandbox.engine.engine import Engine
from sites.registry import SiteRegistry
from tasks.schema import Suite, Task

# What breaks off for the machine's reasons says nothing of the suite: it gets more tries than in a
# study, where each of them is listed.
ATTEMPTS: Final = 5

# By task, and by site: in what a start that was made again differs.
Repeated = Mapping[str, Mapping[str, tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class GoldenTask:
    """A task as it would be without what it sets up.

    Attributes:
        of: the id of the task itself.
    """

    task: Task
    of: str


def golden_tasks(tasks: Iterable[Task]) -> tuple[GoldenTask, ...]:
    """Return the tasks that set something up, without that; those with a reference.

    The arms of a case on safety are left out: what they set up is an attack, and their harms show
    that it matters.
    """
    return tuple(
        GoldenTask(_on_golden(task, f"golden-{number}"), task.id)
        for number, task in enumerate(tasks)
        if task.given and task.reference is not None and task.safety is None
    )


def golden_suite(suite: Suite, tasks: Iterable[GoldenTask]) -> Suite:
    """Return a suite of these tasks alone."""
    return suite.model_copy(update={"tasks": tuple(one.task for one in tasks)})


def given_matters(played: Played) -> Iterator[TaskFault]:
    """Yield a warning where the reference succeeds although nothing was set up.

    A key that would be computed otherwise there depends on what is set up.
    """
    computes_the_same = next(computed_agree(played), None) is None
    if played.score.outcome.kind is OutcomeKind.SUCCESS and computes_the_same:
        message = "the reference succeeds on golden replicas too: no check depends on `given`"
        yield warning(("given",), message)


def given_repeats(differences: Mapping[str, tuple[str, ...]]) -> Iterator[TaskFault]:
    """Yield a warning for each site that came out otherwise when it was set up again."""
    for site, lines in differences.items():
        if lines:
            message = f"set up twice, it differs: {'; '.join(lines)}"
            yield warning(("given", site), f"{message}; other machines begin in another state")


async def set_up_again(
    engine: Engine, registry: SiteRegistry, tasks: Iterable[Task], owner: str, on_event: OnEvent
) -> Repeated:
    """Set the worlds of tasks up once more; return in what they differ from their starts."""
    wanted = [task for task in tasks if task.given]
    if not wanted:
        return {}
    sites = tuple(dict.fromkeys(site for task in wanted for site in task.sites))
    async with (
        open_world(
            engine,
            registry,
            registry.upstreams(sites, World.OFFLINE, staged=False),
            owner,
            size=WorldSize(spares=0),
            on_event=on_event,
            browser=browser_for(RunSettings(), headless=True),
        ) as world,
        Environments.of(world, on_event) as environments,
    ):
        return {task.id: await _differences(environments, task, on_event) for task in wanted}


async def _differences(
    environments: Environments, task: Task, on_event: OnEvent
) -> Mapping[str, tuple[str, ...]]:
    """Set a task's world up once more; what the machine or a container breaks off, a few times."""
    for left in reversed(range(ATTEMPTS)):
        try:
            return await environments.start_differences(task)
        except GivenError:
            break  # its own play says why
        except (EngineError, SiteError) as error:
            if not left:
                raise
            on_event(ProgressNote(f"{task.id}, set up again: {error.message}; once more"))
    return {}


def _on_golden(task: Task, name: str) -> Task:
    changes: dict[str, object] = {
        "id": name,
        "given": {},
        "other_paths": (),
        "detour": (),
        "template": None,
    }
    return task.model_copy(update=changes)
