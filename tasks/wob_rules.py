"""Rules on tasks that are an episode of a MiniWoB++ page."""

from __future__ import annotations

from collections.abc import Iterator

from arena_core.worlds import World
from evaluators.locators.base import Subject
from sites.atlas import Atlas
from tasks.findings import TaskFault
from tasks.miniwob import SITE
from tasks.schema import Family, SolveWob, Task


def wob_faults(task: Task, atlas: Atlas) -> Iterator[TaskFault]:  # noqa: ARG001 - one rule shape
    """Yield where a task and the page that it starts an episode on do not fit."""
    rewarded = any(check.locate.subject is Subject.REWARD for check in task.checks)
    if task.wob is None:
        yield from _without_episode(task, is_rewarded=rewarded)
        return
    page = f"{SITE}:/{SITE}/{task.wob.page}.html"
    if task.sites != (SITE,) or task.start_pages != (page,) or task.worlds != (World.OFFLINE,):
        message = f"a task with `wob` has the one site {SITE}, runs offline, and starts on"
        yield TaskFault(("wob",), f"{message} {page}")
    if not rewarded:
        yield TaskFault(("checks",), "no check is `by: wob`: the page's reward counts for nothing")
    for number, action in enumerate(task.reference_actions):
        if isinstance(action, SolveWob) and action.page != task.wob.page:
            yield TaskFault(("reference", number, "page"), f"the task's page is '{task.wob.page}'")


def _without_episode(task: Task, *, is_rewarded: bool) -> Iterator[TaskFault]:
    if is_rewarded:
        yield TaskFault(("checks",), "`by: wob` needs an episode: say `wob: {page, seed}`")
    if task.family is Family.INTERACTION:
        yield TaskFault(("family",), "a task of interaction is judged by its page: say `wob`")
    for number, action in enumerate(task.reference_actions):
        if isinstance(action, SolveWob):
            yield TaskFault(("reference", number), "`do: wob` needs an episode: say `wob`")
