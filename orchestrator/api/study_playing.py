"""Plays a registered study to its end: all its runs side by side, in the study's order."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from arena_core.errors import BudgetSpentError, ModelError
from orchestrator.api.events import OnArenaEvent, StudyBegan
from orchestrator.api.new_run import resumed_request
from orchestrator.api.playing import interrupted_study
from orchestrator.api.preflight import warn_of_faults
from orchestrator.api.run_resources import RunResources
from orchestrator.engine.engine import Engine
from orchestrator.runner.lock_writer import require_same_images
from orchestrator.runner.run import HowEnded, Run, RunPart
from orchestrator.studies.order import interleaved
from orchestrator.studies.study_folder import Study, StudyFolder
from sites.atlas import Atlas

Options = Mapping[str, Mapping[str, object]]


async def parts_of(
    folder: StudyFolder,
    study: Study,
    *,
    secret_options: Options,
    resources: RunResources,
    headless: bool,
    atlas: Atlas,
) -> tuple[RunPart, ...]:
    """Return the runs of a study as they go on.

    Raises:
        StoreError: one cannot be read.
        UsageError: a secret is missing, or a resource has no effect.
    """
    parts: list[RunPart] = []
    for registered in study.runs:
        run = folder.run_folder(registered.folder)
        request = resumed_request(
            run,
            None,
            secret_options.get(registered.agent, {}),
            resources,
            atlas,
            screenshots=study.file.screenshots,
            headless=headless,
        )
        parts.append(RunPart(request=request, folder=run, agent=registered.agent))
    return tuple(parts)


async def play_study(
    folder: StudyFolder,
    *,
    secret_options: Options,
    resources: RunResources,
    headless: bool,
    atlas: Atlas,
    engine: Engine,
    on_event: OnArenaEvent,
    stop: asyncio.Event | None,
) -> None:
    """Play what is not finished of a study.

    Raises:
        InterruptedRunError: `stop` was set before the study was done.
        BudgetSpentError: what it may spend is spent before it was done.
        ModelError: a model refuses for good; says how to go on.
        StoreError: another process plays it, or it is not what was registered.
    """
    with folder.writing():
        study = folder.study()
        for registered in study.runs:  # where an addition was cut off
            folder.run_folder(registered.folder).add_repeats(study.repeats)
        parts = await parts_of(
            folder,
            study,
            secret_options=secret_options,
            resources=resources,
            headless=headless,
            atlas=atlas,
        )
        warned = set[str]()
        for part in parts:
            if part.request.suite.suite not in warned:
                warned.add(part.request.suite.suite)
                await warn_of_faults(part.request.suite, part.request.tasks, atlas, on_event)
            await require_same_images(part.folder.lock(), engine)
        on_event(
            StudyBegan(
                folder=folder.path,
                name=study.file.name,
                agents=tuple(study.agents),
                episodes=sum(len(part.request.trials()) for part in parts),
                workers=parts[0].request.workers,
            )
        )
        run = Run(
            parts=parts,
            owner=study.registration.study,
            atlas=atlas,
            engine=engine,
            on_event=on_event,
            interrupted=stop or asyncio.Event(),
            log_path=folder.log_path,
            limits=study.limits,
            whose="study",
            in_order=interleaved(study.file.seed),
            stops_over_budget=True,
        )
        try:
            ended = await run.play()
        except ModelError as refusal:
            hint = f"{refusal.hint}; then: arena study run {folder.path}"
            raise ModelError(refusal.message, hint=hint, is_permanent=True) from refusal
        finally:
            for part in parts:
                await part.request.agent.close()
    match ended:
        case HowEnded.DONE:
            return
        case HowEnded.INTERRUPTED:
            raise interrupted_study(folder.path)
        case HowEnded.OVER_BUDGET:
            message = f"{folder.path}: the study's budget is spent; what is left was not begun"
            hint = f"arena study add {folder.path} --max-usd … (or --max-tokens), then study run"
            raise BudgetSpentError(message, hint=hint)
