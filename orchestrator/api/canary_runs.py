"""Runs with a canary: a task is looked at before an agent plays it, and again after it failed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from arena_core.errors import InterruptedRunError
from arena_core.worlds import World
from orchestrator.analysis.run_report.html import write_html
from orchestrator.analysis.run_report.run_report import RunReport, read_run
from orchestrator.api.canaries import look, oracle_request
from orchestrator.api.opened import ArenaEvent, OnArenaEvent, OpenArena, WarningNote
from orchestrator.api.playing import PlayRequest, interrupted, play
from orchestrator.authoring.canary.kept_looks import FRESH
from orchestrator.authoring.canary.looking import CanaryReport
from orchestrator.authoring.canary.watching import Look, RunWatch
from orchestrator.runs.after_all import failed_online, unscore
from orchestrator.runs.request import RunRequest
from orchestrator.runs.spec import RunSettings, SpendingLimits
from orchestrator.runs.store.run_folder import RunFolder
from tasks.schema import Task


def _now() -> datetime:
    return datetime.now(UTC)


def way_to_play(settings: RunSettings) -> PlayRequest:
    """Return what plays a run with these settings."""
    return play_watched if settings.canary else play


async def play_watched(
    request: RunRequest, folder: RunFolder, opened: OpenArena, stop: asyncio.Event | None
) -> RunReport:
    """Play what is not finished of a run whose canary looks at its live tasks, and report it."""
    oracle, quiet = references_of(request), opened.with_events(_only_warnings(opened))
    browser = folder.lock().browser_chosen

    async def look_at(tasks: tuple[Task, ...]) -> CanaryReport:
        asked = replace(oracle, tasks=tasks)
        return await look(quiet, asked, history=None, stop=stop, browser=browser)

    async def play_on(going: RunRequest) -> RunReport:
        return await play(going, folder, opened, stop)

    return await play_between(request, folder, opened, look_at, play_on)


async def play_between(
    request: RunRequest,
    folder: RunFolder,
    opened: OpenArena,
    look_at: Look,
    play_on: Callable[[RunRequest], Awaitable[RunReport]],
    *,
    clock: Callable[[], datetime] = _now,
) -> RunReport:
    """Play what is not finished of a run, but not what does not hold; return its report.

    A task that does not hold before an episode is not played, whatever the agent would have done
    there. After it failed, its task is looked at again: where it does not hold any more, the
    failure is unscored. What no look came after before a run ended is looked at at its end, or when
    it goes on.
    """
    minutes = request.settings.canary_age
    watch = RunWatch(
        folder=folder.path,
        tasks={task.id: task for task in request.tasks if World.ONLINE in task.worlds},
        look=look_at,
        clock=clock,
        warn=opened.warn,
        note=opened.note,
        age=FRESH if minutes is None else timedelta(minutes=minutes),
    )
    try:
        watch.begin(failed_online(folder) if folder.is_begun else ())
        unscore(folder, watch.take_undone(), opened.on_event)
    except BaseException:
        await request.agent.close()
        raise
    report = await play_on(replace(request, watch=watch))
    try:
        await watch.finish(failed_online(folder))
    except InterruptedRunError:
        raise interrupted(folder.path) from None
    finally:
        is_changed = bool(unscore(folder, watch.take_undone(), opened.on_event))
    if is_changed:
        report = read_run(folder)
        write_html(report, folder.report_path)
    return report


def _only_warnings(opened: OpenArena) -> OnArenaEvent:
    """Return what passes on warnings of a look: its progress is not that of the run around it."""

    def on_event(event: ArenaEvent) -> None:
        if isinstance(event, WarningNote):
            opened.on_event(event)

    return on_event


def references_of(request: RunRequest) -> RunRequest:
    """Return what plays a run's references, in its agent's browser: a site may refuse another."""
    asked = oracle_request(request.suite, request.tasks, look_settings(request.settings))
    return replace(asked, headless=request.headless)


def look_settings(settings: RunSettings) -> RunSettings:
    """Return how references are played for a run with these settings."""
    changes = {
        "worlds": (World.ONLINE,),
        "canary": False,
        "canary_age": None,
        "trace": False,
        "screenshots": True,
        "budget": SpendingLimits(),
    }
    return settings.model_copy(update=changes)
