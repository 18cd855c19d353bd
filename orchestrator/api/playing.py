"""Plays a run that is written down to its end, and writes its report."""

from __future__ import annotations

import asyncio
from pathlib import Path

from arena_core.errors import InterruptedRunError, ModelError
from orchestrator.api.events import OnArenaEvent, RunBegan
from orchestrator.engine.engine import Engine
from orchestrator.report.html import write_html
from orchestrator.report.run_report import RunReport, read_run
from orchestrator.report.wording import agent_note
from orchestrator.runner.request import RunRequest
from orchestrator.runner.run import HowEnded, Run
from orchestrator.store.run_folder import RunFolder
from sites.atlas import Atlas


async def play(
    request: RunRequest,
    folder: RunFolder,
    atlas: Atlas,
    engine: Engine,
    *,
    on_event: OnArenaEvent,
    stop: asyncio.Event | None,
) -> RunReport:
    """Play what is not finished of a run, and return its report.

    Raises:
        InterruptedRunError: `stop` was set before the run was done.
        ModelError: the model refuses for good; says how to go on.
    """
    on_event(
        RunBegan(
            folder=folder.path,
            agent=request.agent.name,
            agent_note=agent_note(folder.lock().agent),
            episodes=len(request.trials()),
            workers=request.workers,
        )
    )
    run = Run.of(
        request,
        folder,
        owner=folder.lock().run,
        atlas=atlas,
        engine=engine,
        on_event=on_event,
        interrupted=stop or asyncio.Event(),
    )
    try:
        ended = await run.play()
    except ModelError as refusal:
        write_html(read_run(folder), folder.report_path)
        raise _resumable(refusal, folder) from refusal
    finally:
        await request.agent.close()
    report = read_run(folder)
    write_html(report, folder.report_path)
    if ended is not HowEnded.DONE:
        raise interrupted(folder.path)
    return report


def interrupted(run: Path) -> InterruptedRunError:
    """Return the error of a run that ended before it was done."""
    return InterruptedRunError(
        f"{run}: interrupted; what had finished is kept",
        hint=f"arena eval --resume {run}",
    )


def interrupted_study(study: Path) -> InterruptedRunError:
    """Return the error of a study that ended before it was done."""
    return InterruptedRunError(
        f"{study}: interrupted; what had finished is kept",
        hint=f"arena study run {study}",
    )


def _resumable(refusal: ModelError, folder: RunFolder) -> ModelError:
    """Return a refusal that says what becomes of the run: its trial stays open."""
    hint = f"{refusal.hint}; then: arena eval --resume {folder.path}"
    return ModelError(refusal.message, hint=hint, is_permanent=True)
