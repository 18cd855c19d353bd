"""A task's reference as the canary reads it: the action that failed, the kinds, the answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from arena_core.worlds import World
from evaluators.checks import Check
from evaluators.evidence import StepEvidence
from evaluators.fields import When, in_world
from orchestrator.episode.page_view import PageView
from orchestrator.episode.walls import is_login
from tasks.reference import (
    GotoPage,
    OnElement,
    ReferenceAction,
    SelectIn,
    SolveMiniWob,
    StopWith,
    TypeInto,
    UploadTo,
)
from tasks.schema import Task, located_checks

START_PAGE: Final = "start page"
LOGIN: Final = "login"
ANSWER: Final = "answer on the page"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The action at which a reference could not go on.

    Attributes:
        number: as in the task's file, from 1.
        at: how many actions were done before it.
        error: why it could not be done; None where its element was not there.
    """

    number: int
    at: int
    action: ReferenceAction
    error: str | None


def played_in(task: Task, world: World) -> tuple[tuple[int, ReferenceAction], ...]:
    """Return the actions of a reference in a world, numbered as in the task's file."""
    return tuple(
        (number, action)
        for number, action in enumerate(task.reference_actions, start=1)
        if action.only in {None, world}
    )


def failed_action(task: Task, world: World, steps: Sequence[StepEvidence]) -> Failed | None:
    """Return the action that failed; None where steps and actions do not go one by one."""
    script = played_in(task, world)
    if any(isinstance(action, SolveMiniWob) for _, action in script):
        return None
    done = [step for step in steps if step.action is not None]
    error = done[-1].error if done else None
    at = len(done) - (error is not None)
    if not 0 <= at < len(script):
        return None
    number, action = script[at]
    return Failed(number=number, at=at, action=action, error=error)


def target_of(action: ReferenceAction, world: World) -> tuple[str, str] | None:
    """Return role and name of the element that an action is on; None for any other action."""
    if isinstance(action, OnElement | UploadTo | TypeInto | SelectIn):
        return in_world(action.role, world), in_world(action.name, world)
    return None


def described(action: ReferenceAction, world: World) -> str:
    """Say what an action does: `click link 'Samovar' within 'Results'`."""
    target = target_of(action, world)
    if target is not None:
        within = getattr(action, "within", None)
        inside = f" within {in_world(within, world)!r}" if within is not None else ""
        return f"{action.do} {target[0]} {target[1]!r}{inside}"
    if isinstance(action, GotoPage):
        return f"goto {in_world(action.page, world)}"
    return action.do


def asks_to_log_in(task: Task, world: World) -> bool:
    """Whether a task itself leads to a login, or to a page about one."""
    actions = [action for _, action in played_in(task, world)]
    names = [target[1] for action in actions if (target := target_of(action, world))]
    pages = [in_world(action.page, world) for action in actions if isinstance(action, GotoPage)]
    return any(map(is_login, (*names, *pages, *task.start_pages)))


def kind_of(check: Check) -> str:
    """Return what a check is made of: `key node url exact`."""
    what = "key node" if check.when is When.STEP else "end check"
    return f"{what} {getattr(check.locate, 'by', '?')} {getattr(check.match, 'how', '?')}"


def kind_of_check(task: Task, name: str) -> str:
    return next((kind_of(one) for _, one in located_checks(task) if one.name == name), "check")


def kinds_of(task: Task, world: World) -> tuple[str, ...]:
    """Return the kinds of all that may drift in a task: its actions and its checks."""
    actions = (f"reference {action.do}" for _, action in played_in(task, world))
    checks = (kind_of(one) for _, one in located_checks(task) if world in one.worlds)
    logins = (LOGIN for site in task.roles for _ in task.roles_of(site))
    pages = (START_PAGE for _ in task.start_pages)
    answers = (ANSWER for _ in _answers(task, world)[:1])
    return (
        *pages,
        *logins,
        *(one for one in actions if one not in _NEVER_DRIFT),
        *checks,
        *answers,
    )


def _answers(task: Task, world: World) -> list[str]:
    """Return what the reference answers in words."""
    return [
        in_world(action.answer, world)
        for _, action in played_in(task, world)
        if isinstance(action, StopWith) and action.answer
    ]


_NEVER_DRIFT = frozenset({"reference stop", "reference infeasible", "reference give_up"})


# An oracle says its answer by heart: its answer checks are met whatever the site says now. What
# keeps an answer honest is that it stands on a page that the play saw.
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_GROUPED: Final = re.compile(r"(?<=\d)[,\u00a0\u202f ](?=\d{3}(?!\d))")


def answer_is_seen(task: Task, world: World, pages: Sequence[PageView]) -> bool | None:
    """Whether the reference's answer stands on a page; None where it gives none in words.

    Of an answer with figures, all figures must stand there as whole numbers; of any other, its
    words, in this order.
    """
    answers = _answers(task, world)
    if not answers:
        return None
    text = " ".join(f"{page.title} {page.text}" for page in pages)
    wanted = _numbers(answers[-1])
    if wanted:
        return wanted <= _numbers(text)
    return _plain(answers[-1]) in _plain(text)


def _numbers(text: str) -> set[str]:
    return set(_NUMBER.findall(_GROUPED.sub("", text)))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .!?")
