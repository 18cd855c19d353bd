"""What an agent leaves behind that ends at once: nothing opened but the start page."""

from __future__ import annotations

from arena_core.actions import Infeasible, Stop
from arena_core.worlds import World
from evaluators.evidence import Ended, Evidence, StepEvidence
from evaluators.responses import answer_of, response_of
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
