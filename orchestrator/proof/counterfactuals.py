"""Evidence of what might have been: made from what was played and seen, without playing it."""

from __future__ import annotations

from collections.abc import Iterable

from arena_core.actions import Infeasible, Stop
from evaluators.checks import Check
from evaluators.evidence import Ended, Evidence, StepEvidence
from evaluators.locators.base import LookingLocator, Subject
from evaluators.responses import response_of
from evaluators.scores import Score, score
from orchestrator.episode.proof_hook import EpisodeSnapshot
from tasks.schema import Task


def stopped_at(evidence: Evidence, snapshot: EpisodeSnapshot, answer: str | None) -> Evidence:
    """Return what an agent would have left behind that did the same, and stopped at a look.

    Args:
        evidence: of the whole episode.
        snapshot: what the end checks found then.
        answer: what it would have stopped with.
    """
    done = evidence.steps[: snapshot.step]
    last = done[-1]
    stop = StepEvidence(
        index=snapshot.step,
        action=Stop(answer=answer),
        url=last.url,
        logical=last.logical,
        title=last.title,
    )
    return evidence.model_copy(
        update={
            "steps": (*done, stop),
            "located": snapshot.located,
            "answer": answer,
            "response": None if answer is None else response_of(Stop(answer=answer)),
            "ended": Ended.STOPPED,
            "ended_because": None,
            "network": None
            if evidence.network is None
            else tuple(one for one in evidence.network if one.step < snapshot.step),
        }
    )


def with_answer(evidence: Evidence, answer: str | None) -> Evidence:
    """Return what an agent would have left behind that did the same, and answered otherwise."""
    return ended_with(evidence, Stop(answer=answer))


def ended_with(evidence: Evidence, action: Stop | Infeasible) -> Evidence:
    """Return what an agent would have left behind that did the same, and ended otherwise."""
    gives_up = isinstance(action, Infeasible)
    last = evidence.steps[-1].model_copy(update={"action": action})
    return evidence.model_copy(
        update={
            "steps": (*evidence.steps[:-1], last),
            "answer": None if isinstance(action, Infeasible) else action.answer,
            "response": response_of(action),
            "ended": Ended.INFEASIBLE if gives_up else Ended.STOPPED,
            "ended_because": None,
        }
    )


def scored(task: Task, evidence: Evidence) -> Score:
    """Score evidence by a task's checks."""
    return score(task.checks, evidence, task.requires)


def comparable(task: Task, sibling: Task) -> tuple[Check, ...]:
    """Return a task's checks that a sibling's evidence can decide.

    What was looked up outside of the steps is there only where the sibling looked for the same.
    """
    same = {way.name: way.locate for check in sibling.checks for way in check.ways}
    return tuple(
        check
        for check in task.checks
        if all(
            not isinstance(way.locate, LookingLocator) or same.get(way.name) == way.locate
            for way in check.ways
        )
    )


def has_answer_check(checks: Iterable[Check]) -> bool:
    """Whether one of them reads the answer."""
    return any(check.locate.subject is Subject.ANSWER for check in checks)
