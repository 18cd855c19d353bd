"""Rules on a task's user: slots are found by those who ask for them, and by nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from arena_core.actions import AnswerStatus
from arena_core.names import offered
from evaluators.lint import TaskFault, warning
from evaluators.locators.answer import AnswerLocator, AnswerPart
from evaluators.locators.user import FIRST, LATE, NEVER, UserLocator, is_first
from evaluators.matchers.exact import ExactMatcher
from evaluators.user import UserSlot, named_by, reply_to
from sites.registry import SiteRegistry
from tasks.lint.blind_answers import Attack, faults_of, passes
from tasks.reference import Ask
from tasks.schema import Task, located_checks

_EVERYTHING: Final = (
    "Tell me all.",
    "Tell me everything that you know about this task, please.",
    "What else should I know before I begin?",
    "Please give me every detail that is missing.",
    "Can you help me?",
)


def user_faults(task: Task, registry: SiteRegistry) -> Iterator[TaskFault]:  # noqa: ARG001 - one rule shape
    """Yield what the user would give away, would not understand, or is never asked."""
    yield from _checks(task)
    yield from _missing_input(task)
    if not task.user:
        for number, action in enumerate(task.reference_actions):
            if isinstance(action, Ask):
                message = "asks, and the task has no `user`: nobody answers"
                yield TaskFault(("reference", number), message)
        return
    if len(task.user) == 1:
        message = "has one slot, which a question that names everything gets: add what else a user"
        yield TaskFault(("user",), f"{message} may be asked for, such as what the site shows")
    for name, slot in task.user.items():
        yield from _asked_for(task, name, slot)
    yield from _given_away(task)


def _asked_for(task: Task, name: str, slot: UserSlot) -> Iterator[TaskFault]:
    for number, question in enumerate(slot.asks):
        found = reply_to(question, task.user, 0).slot
        if found != name:
            named = [one for one in named_by(question, task.user) if one != name]
            why = f"names '{named[0]}' as well" if named else "is not answered"
            yield TaskFault(("user", name, "asks", number), f"{question!r} {why}")


def _given_away(task: Task) -> Iterator[TaskFault]:
    """Yield questions about everything that get a slot, and slots that hold the answer."""
    words = [one for slot in task.user.values() for one in (*slot.says, *slot.about)]
    every = [question for slot in task.user.values() for question in slot.asks]
    for question in (*_EVERYTHING, task.intent, " ".join(words), " ".join(every)):
        found = reply_to(question, task.user, 0).slot
        if found is not None:
            yield TaskFault(
                ("user", found, "says"), f"{question!r} asks for everything, and gets it"
            )
    for name, slot in task.user.items():
        for world in task.worlds:
            attacks = [
                Attack(f"the user's own answer for '{name}'", text)
                for text in (slot.answer, str(slot.value))
            ]
            yield from faults_of(task, world, (one for one in attacks if passes(task, world, one)))


def _checks(task: Task) -> Iterator[TaskFault]:
    for at, check in located_checks(task):
        for way in check.ways:
            if not isinstance(way.locate, UserLocator):
                continue
            if way.locate.slot not in task.user:
                message = f"no slot '{way.locate.slot}'; {offered(way.locate.slot, task.user)}"
                yield TaskFault((*at, "locate", "slot"), message)
            match = way.match
            known = {FIRST, LATE, NEVER}
            if not isinstance(match, ExactMatcher) or str(match.value) not in known:
                message = "`by: user` finds one of first, late and never: say `how: exact`"
                yield TaskFault((*at, "match"), message)


def _missing_input(task: Task) -> Iterator[TaskFault]:
    """Yield `needs_input` where the user knows it, and a user who does not where it is no end."""
    wanted = [
        (at, check)
        for at, check in located_checks(task)
        if isinstance(check.locate, AnswerLocator)
        and check.locate.part is AnswerPart.STATUS
        and getattr(check.match, "value", None) == AnswerStatus.NEEDS_INPUT
    ]
    unknown = [name for name, slot in task.user.items() if slot.value is None]
    asked = {
        check.locate.slot
        for _, check in located_checks(task)
        if isinstance(check.locate, UserLocator) and is_first(check.match)
    }
    needed = asked.intersection(unknown)
    for at, _ in wanted if not needed else ():
        message = "wants `needs_input`: that is right only where a check wants a slot to be asked"
        yield TaskFault((*at, "match"), f"{message} for, and its value is null")
    if needed and not wanted:
        message = (
            f"slot '{min(needed)}' is needed and nobody knows it: check that the status of the"
        )
        yield warning(("user", min(needed)), f"{message} answer is `needs_input`")
