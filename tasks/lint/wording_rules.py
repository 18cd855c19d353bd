"""Wordings that a task calls right (`says`) or wrong (`says_not`), held against its own checks."""

from __future__ import annotations

from collections.abc import Iterator

from arena_core.actions import AnswerStatus, Infeasible, Stop
from arena_core.worlds import World
from evaluators.fields import PerWorld
from evaluators.lint import TaskFault
from evaluators.locators.base import Subject
from evaluators.verdicts import CheckStatus, Verdict, verdicts
from sites.registry import SiteRegistry
from tasks.lint.reference_rules import ended_at_once
from tasks.reference import StopWith
from tasks.schema import Family, Task


def wording_faults(task: Task, registry: SiteRegistry) -> Iterator[TaskFault]:  # noqa: ARG001 - one rule shape
    """Yield the wordings that the checks of the answer judge otherwise than the task says.

    Of a task that cannot be done they are reasons.
    """
    for name, is_right in (("says", True), ("says_not", False)):
        for at, wording in enumerate(task.says if is_right else task.says_not):
            for world in task.worlds:
                text = wording.of(world) if isinstance(wording, PerWorld) else wording
                found = _judged(task, world, text)
                unmet = [one for one in found if one.status is not CheckStatus.MET]
                if any(one.needs_judge for one in found) or (found and is_right is not bool(unmet)):
                    continue
                why = (
                    f"{unmet[0].check}: {unmet[0].reason}"
                    if unmet
                    else "every check of the answer takes it"
                    if found
                    else "no check reads the answer"
                )
                yield TaskFault((name, at), f"{text!r} in the {world} world: {why}")


def _judged(task: Task, world: World, text: str) -> tuple[Verdict, ...]:
    asked = [one for one in task.checks_in(world) if one.locate.subject is Subject.ANSWER]
    return verdicts(asked, ended_at_once(task, world, _ending(task, text)))


def _ending(task: Task, text: str) -> Stop | Infeasible:
    if task.family is not Family.UNACHIEVABLE:
        return Stop(answer=text)
    last = task.reference_actions[-1] if task.reference else None
    if isinstance(last, StopWith) and last.status is AnswerStatus.NEEDS_INPUT:
        return Stop(status=last.status, reason=text)
    return Infeasible(reason=text)
