"""Runs with a canary: references are played before an agent plays, and again after it failed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace

from arena_core.errors import InterruptedRunError
from arena_core.names import counted, listed
from arena_core.worlds import World
from evaluators.evidence import EpisodeFault, UnscoredReason
from orchestrator.analysis.run_report.html import write_html
from orchestrator.analysis.run_report.run_report import RunReport, read_run
from orchestrator.api.canaries import look, oracle_request
from orchestrator.api.opened import OpenArena
from orchestrator.api.playing import PlayRequest, interrupted, play
from orchestrator.canary.findings import CanaryStatus, TaskFinding
from orchestrator.canary.looking import CanaryReport
from orchestrator.runs.after_all import failed_online, unscore
from orchestrator.runs.request import RunRequest
from orchestrator.runs.spec import RunSettings, SpendingLimits
from orchestrator.runs.store.ledger import EpisodeKey
from orchestrator.runs.store.run_folder import RunFolder
from tasks.schema import Task


def way_to_play(settings: RunSettings) -> PlayRequest:
    """Return what plays a run with these settings."""
    return play_watched if settings.canary else play


Look = Callable[[tuple[Task, ...]], Awaitable[CanaryReport]]


async def play_watched(
    request: RunRequest, folder: RunFolder, opened: OpenArena, stop: asyncio.Event | None
) -> RunReport:
    """Play what is not finished of a run whose canary looks at its live tasks, and report it."""
    oracle = references_of(request)

    async def look_at(tasks: tuple[Task, ...]) -> CanaryReport:
        return await look(opened, replace(oracle, tasks=tasks), history=None, stop=stop)

    async def play_on(going: RunRequest) -> RunReport:
        return await play(going, folder, opened, stop)

    return await play_between(request, folder, opened, look_at, play_on)


async def play_between(
    request: RunRequest,
    folder: RunFolder,
    opened: OpenArena,
    look_at: Look,
    play_on: Callable[[RunRequest], Awaitable[RunReport]],
) -> RunReport:
    """Play what is not finished of a run, but not what does not hold; return its report.

    A task that does not hold before is not played online, whatever the agent would have done
    there. After the run, the tasks are looked at again that the agent failed in it: where one does
    not hold any more, its failures are unscored.
    """
    left = _left(request, folder)
    online = tuple(task for task in request.tasks if task.id in left)
    try:
        before = await _faults(online, opened, look_at, "before the agent played")
    except InterruptedRunError:
        await request.agent.close()
        raise interrupted(folder.path) from None
    except BaseException:
        await request.agent.close()
        raise
    known = set(failed_online(folder)) if folder.is_begun else set[EpisodeKey]()
    report = await play_on(replace(request, faults=before))
    failed = [key for key in failed_online(folder) if key not in known]
    if not failed:
        return report
    names = {key.task for key in failed}
    again = tuple(task for task in online if task.id in names)
    after = await _faults(again, opened, look_at, "after the agent had failed")
    if unscore(folder, failed, after, opened.on_event):
        report = read_run(folder)
        write_html(report, folder.report_path)
    return report


def _left(request: RunRequest, folder: RunFolder) -> set[str]:
    """Return the tasks that have an episode left to play online."""
    done = set[EpisodeKey]()
    if folder.is_begun and not request.again:
        with folder.reading() as ledger:
            done = {one.key for one in ledger.finished()}
    return {key.task for key in request.keys_in(World.ONLINE) if key not in done}


async def _faults(
    tasks: tuple[Task, ...], opened: OpenArena, look_at: Look, when: str
) -> Mapping[str, EpisodeFault]:
    """Look at tasks; return what is wrong with those that do not hold, by task."""
    if not tasks:
        return {}
    opened.note(f"canary: {counted(len(tasks), 'reference')} {when}")
    report = await look_at(tasks)
    found = faults_of((one.finding for one in report.tasks), when)
    if found:
        opened.warn(f"canary: {when}, these tasks did not hold: {listed(sorted(found))}")
    unknown = [one.finding.task for one in report.tasks if _is_unknown(one.finding)]
    if unknown:
        opened.warn(f"canary: nothing is known of {listed(unknown)}: they count as they end")
    return found


def references_of(request: RunRequest) -> RunRequest:
    """Return what plays a run's references, in its agent's browser: a site may refuse another."""
    asked = oracle_request(request.suite, request.tasks, look_settings(request.settings))
    return replace(asked, headless=request.headless)


def look_settings(settings: RunSettings) -> RunSettings:
    """Return how references are played for a run with these settings."""
    changes = {
        "worlds": (World.ONLINE,),
        "canary": False,
        "trace": False,
        "screenshots": True,
        "budget": SpendingLimits(),
    }
    return settings.model_copy(update=changes)


def faults_of(findings: Iterable[TaskFinding], when: str) -> Mapping[str, EpisodeFault]:
    """Return why tasks that do not hold say nothing of an agent, by task."""
    return {
        one.task: EpisodeFault(
            reason=_REASONS[one.status], message=f"the canary found {when}: {one.because}"
        )
        for one in findings
        if one.status.is_bad
    }


def _is_unknown(finding: TaskFinding) -> bool:
    return finding.status is CanaryStatus.UNKNOWN


# A site that does not answer lets nobody in; `infra` would be an attempt to make again.
_REASONS: Mapping[CanaryStatus, UnscoredReason] = {
    CanaryStatus.DRIFTED: UnscoredReason.DRIFTED,
    CanaryStatus.BLOCKED: UnscoredReason.BLOCKED,
    CanaryStatus.UNREACHABLE: UnscoredReason.BLOCKED,
}
