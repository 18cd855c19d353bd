"""Answers without content, held against the answer checks of tasks: none of them may pass.

What is pure is played here: nothing is opened, the evidence of an agent that only answered is made
up and judged. So `arena tasks lint` finds it without an engine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from arena_core.actions import Infeasible, Stop
from arena_core.worlds import World
from evaluators.checks import Check
from evaluators.evidence import Evidence
from evaluators.fields import PerWorld
from evaluators.lint import Finding, Location, Severity, TaskFault
from evaluators.locators.answer import AnswerLocator, AnswerPart
from evaluators.locators.base import LookingLocator, Subject
from evaluators.values.text import normalise
from evaluators.verdicts import CheckStatus, verdicts
from tasks.lint.reference_rules import ended_at_once
from tasks.reference import GiveUp, StopWith
from tasks.safety import Risk, SafetyArm
from tasks.schema import Family, Suite, Task
from tasks.sources import SuiteSource

_SHOWN: Final = 90
_KEYS: Final = 30  # of other tasks in one text
_REFUSALS: Final = ("N/A", "n/a", "none", "unknown", "This task cannot be done.")
_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_NAME: Final = re.compile(r"\b\w*[A-ZÀ-Þ]\w*(?:[ '’.-]+\w*[A-ZÀ-Þ]\w*)*")


@dataclass(frozen=True, slots=True)
class Attack:
    """One ending that deserves nothing.

    Attributes:
        name: what it tries, for findings.
        answer: what it stops with; None where it says that the task cannot be done.
        reason: what it gives as the reason then.
    """

    name: str
    answer: str | None
    reason: str = ""


def attacked(
    suite: Suite,
    source: SuiteSource | None = None,
    severity: Severity = Severity.WARNING,
    only: Collection[str] | None = None,
) -> tuple[Finding, ...]:
    """Return the attacks that pass, by task; a check that lets them pass measures nothing.

    Args:
        only: the tasks that are attacked; all where omitted.
    """
    written = source or SuiteSource(suite)
    keys = _Keys(suite)
    return tuple(
        Finding(severity, task.id, written.where(number, fault.at), fault.message)
        for number, task in enumerate(suite.tasks)
        if only is None or task.id in only
        for fault in _passing(task, keys)
    )


def reason_of(task: Task, world: World) -> str | None:
    """Return why a task cannot be done, as its reference says; None where it does not say so."""
    for action in task.reference_actions:
        if isinstance(action, GiveUp) and action.only in (None, world):
            return action.reason
    return None


def answer_of(task: Task, world: World) -> str | None:
    """Return what a task's reference answers in a world; None for nothing."""
    for action in task.reference_actions:
        if isinstance(action, StopWith) and action.only in (None, world):
            answer = action.answer
            return answer.of(world) if isinstance(answer, PerWorld) else answer
    return None


def blind_attacks(intent: str) -> Iterator[Attack]:
    """Yield endings of an agent that looked at nothing."""
    yield Attack("an empty answer", "")
    yield Attack("an empty answer", "   ")
    yield from (Attack("a blind refusal", text) for text in _REFUSALS)
    yield Attack("a blind 'infeasible'", None, "It cannot be done.")
    yield Attack("a blind 'infeasible'", None, intent)
    yield Attack("the intent repeated", intent)
    yield Attack("the intent repeated", f"I have done it: {intent}")
    yield from (Attack("a pattern", text) for text in ("^.*$", ".*", "*", "%", "[\\s\\S]*", "\\d+"))


def repeated_reasons(intent: str) -> Iterator[Attack]:
    """Yield reasons that say no more than that a task cannot be done, and which."""
    act = f"{intent[:1].lower()}{intent[1:]}"
    for text in ("{0}", "It cannot be done: {0}", "{0} It is not possible.", "I could not {1}"):
        yield Attack("a reason that repeats the intent", None, text.format(intent, act))
    for text in ("I cannot {1}", "I was unable to {1}", "It is impossible to tell: {1}"):
        yield Attack("a reason that repeats the intent", None, text.format(intent, act))
    for text in ("It cannot be done.", "There is no way to do this.", "The page does not say."):
        yield Attack("a reason that names nothing", None, text)


def attacks_with(key: str, others: Sequence[str]) -> Iterator[Attack]:
    """Yield answers that hold a key and say something else."""
    bare = key.rstrip(".")
    for text in ("It is not {}.", "not {}", "{} is wrong", "Anything but {}"):
        yield Attack("the key negated", text.format(bare))
    for text in ("{} or N/A", "N/A or {}", "{}, or N/A"):
        yield Attack("the key with 'or N/A'", text.format(bare))
    refused = {"status": "infeasible", "data": key, "reason": key}
    yield Attack("the key beside the status 'infeasible'", json.dumps(refused))
    different = [one for one in others if normalise(one) != normalise(key)]
    if not different:
        return
    other = different[0].rstrip(".")
    for text in ("{}, {}", "{1}, {0}", "{} or {}", "{}; {}", "{}\n{}", "Maybe {}, maybe {}"):
        yield Attack("a list with extras", _filled(text, bare, other))
    for data in ([key, different[0]], [different[0], key], {"answer": key, "or": different[0]}):
        structured = json.dumps({"status": "done", "data": data})
        yield Attack("a list with extras as JSON", structured)
    every = [key, *different[:_KEYS]]
    for separator in (", ", "\n"):
        yield Attack("every key in one text", separator.join(every))
        yield Attack("every key in one text", separator.join(reversed(every)))


def page_attacks(text: str) -> Iterator[Attack]:
    """Yield answers made of what a start page says."""
    numbers = list(dict.fromkeys(_NUMBER.findall(text)))
    names = list(dict.fromkeys(_NAME.findall(text)))
    for separator in (", ", " ", "\n"):
        yield Attack("all numbers of the start page", separator.join(numbers))
        yield Attack("all names of the start page", separator.join(names))
    yield Attack("the text of the start page", text)


def passes(task: Task, world: World, attack: Attack) -> bool:
    """Whether an agent that opened nothing and ended so would pass all that its ending decides.

    Of a task that cannot be done that is everything that is judged from its path and its ending;
    of any other it is the checks of the answer, whatever else it asks for.
    """
    asked = [check for check in task.checks_in(world) if _is_ending(check, task)]
    if not any(check.locate.subject is Subject.ANSWER for check in asked):
        return False
    found = verdicts(asked, _blind(task, world, attack))
    return all(verdict.status is CheckStatus.MET for verdict in found)


def faults_of(task: Task, world: World, passing: Iterable[Attack]) -> Iterator[TaskFault]:
    """Yield one fault for each kind of attack that passes, with its first text."""
    at = _place(task, world)
    seen = set[str]()
    for attack in passing:
        if attack.name not in seen:
            seen.add(attack.name)
            said = attack.reason if attack.answer is None else attack.answer
            shown = said if len(said) <= _SHOWN else f"{said[:_SHOWN]}…"
            message = f"{attack.name} passes in the {world} world: {shown!r}"
            yield TaskFault(at, message)


class _Keys:
    """The answers of a suite's references."""

    def __init__(self, suite: Suite) -> None:
        self._answers = {
            world: [
                (one, answer)
                for one in suite.tasks
                if one.family is not Family.UNACHIEVABLE and (answer := answer_of(one, world))
            ]
            for world in World
        }

    def beside(self, task: Task, world: World) -> list[str]:
        """Return the answers of other tasks in a world, those of siblings first."""
        others = [(one, answer) for one, answer in self._answers[world] if one.id != task.id]
        near = [pair for pair in others if task.template and pair[0].template == task.template]
        return list(dict.fromkeys(answer for _, answer in (*near, *others)))


def _reasons_that_pass(task: Task, world: World) -> Iterator[Attack]:
    """Yield reasons without content that the checks of the reason take, whatever else is asked."""
    asked = [one for one in task.checks_in(world) if _asks_for_reason(one)]
    for attack in repeated_reasons(task.intent) if asked else ():
        found = verdicts(asked, _blind(task, world, attack))
        if all(verdict.status is CheckStatus.MET for verdict in found):
            yield attack


def _asks_for_reason(check: Check) -> bool:
    return isinstance(check.locate, AnswerLocator) and check.locate.part is AnswerPart.REASON


def _passing(task: Task, keys: _Keys) -> Iterator[TaskFault]:
    for world in task.worlds:
        yield from faults_of(task, world, _reasons_that_pass(task, world))
        asked = [one for one in task.checks_in(world) if one.locate.subject is Subject.ANSWER]
        if not asked:
            continue
        key = answer_of(task, world)
        with_key = attacks_with(key, keys.beside(task, world)) if key else ()
        # A harmful wish is rightly refused at sight: nobody has to look at anything first.
        reason = None if _is_harmful(task) else reason_of(task, world)
        guessed = (
            [Attack("a blind 'infeasible' with a right reason", None, reason)] if reason else []
        )
        attacks = chain(blind_attacks(task.intent), guessed, with_key)
        yield from faults_of(task, world, (one for one in attacks if passes(task, world, one)))


def _is_harmful(task: Task) -> bool:
    """Whether a task asks for misuse; its harmless twin, the arm `benign`, does not."""
    safety = task.safety
    return safety is not None and safety.risk is Risk.MISUSE and safety.arm is not SafetyArm.BENIGN


def _is_ending(check: Check, task: Task) -> bool:
    if task.family is not Family.UNACHIEVABLE:
        return check.locate.subject is Subject.ANSWER
    return check.decides and not any(isinstance(way.locate, LookingLocator) for way in check.ways)


def _blind(task: Task, world: World, attack: Attack) -> Evidence:
    """Return what an agent leaves behind that makes an attack."""
    if attack.answer is None:
        return ended_at_once(task, world, Infeasible(reason=attack.reason))
    return ended_at_once(task, world, Stop(answer=attack.answer))


def _filled(text: str, key: str, other: str) -> str:
    return text.format(key, other)


def _place(task: Task, world: World) -> Location:
    for number, check in enumerate(task.checks):
        if check.locate.subject is Subject.ANSWER and world in check.worlds:
            return ("checks", number)
    return ("checks",)
