"""Plays what is written down to its end: one run, or all runs of a study side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from pathlib import Path
from typing import Final

from arena_core.errors import (
    BudgetSpentError,
    InterruptedRunError,
    ModelError,
    StoreError,
    UsageError,
)
from orchestrator.analysis.run_report.html import write_html
from orchestrator.analysis.run_report.run_report import RunReport, read_run
from orchestrator.analysis.studies.planning import interleaved
from orchestrator.analysis.studies.registration import Study, StudyFolder
from orchestrator.analysis.studies.seals import seal_study
from orchestrator.analysis.wording import agent_note
from orchestrator.api.opened import OpenArena, RunBegan, StudyBegan
from orchestrator.api.suites import refuse_faulty, warn_of_faults
from orchestrator.episode.person.agent import KIND as HUMAN
from orchestrator.runs.agent_choice import AgentChoice
from orchestrator.runs.lock_writer import require_same_browser, require_same_images
from orchestrator.runs.new_run import (
    prepare,
    prepare_rollouts,
    refuse_idle_pace,
    refuse_without_effect,
    resumed_request,
    write_down,
)
from orchestrator.runs.open_world import Record
from orchestrator.runs.request import RunRequest
from orchestrator.runs.rollouts import plan_rollouts
from orchestrator.runs.run import HowEnded, Run, RunPart
from orchestrator.runs.spec import RunSpec
from orchestrator.runs.store.run_folder import RunFolder
from orchestrator.runs.tapes import on_tapes, refuse_unfit_tapes, require_same_tapes
from sites.registry import SiteRegistry

PlayRequest = Callable[
    [RunRequest, RunFolder, OpenArena, asyncio.Event | None], Awaitable[RunReport]
]
RUNS: Final = Path("arena-runs")
STUDIES: Final = Path("arena-studies")


async def play_new(
    opened: OpenArena,
    spec: RunSpec,
    agent: AgentChoice | None,
    how: PlayRequest,
    *,
    out: Path | str | None,
    headless: bool,
    yes: bool,
    stop: asyncio.Event | None,
) -> RunReport:
    """Play a new run; arguments and errors are those of `Arena.run`.

    Args:
        opened: where it is played.
        spec: what is asked for.
        agent: the agent where it is a Python object, which `spec` can only name.
        how: plays what is written down: `play`, or with a canary.
        out: folder of the new run.
        headless: no browser window is shown.
        yes: it is played however large it is.
        stop: ends the run.
    """
    registry = opened.registry
    request, source = prepare(spec, agent, headless=headless, is_meant=yes)
    await refuse_faulty(spec.suite, source, request.tasks, registry)
    request = on_tapes(request, registry)
    refuse_unfit_tapes(request, registry)
    refuse_without_effect(request, spec.model_fields_set, registry)
    folder = await write_down(request, registry, await opened.engine(), out, RUNS)
    return await how(request, folder, opened, stop)


async def play_rollouts(
    opened: OpenArena,
    spec: RunSpec,
    agent: AgentChoice | None,
    *,
    run: Path | str | None,
    step: str | int | None,
    asked: Collection[str],
    out: Path | str | None,
    headless: bool,
    yes: bool,
    stop: asyncio.Event | None,
) -> RunReport:
    """Play a new run of rollouts from a step of another's episodes; see `Runs.sample`.

    Args:
        opened: where it is played.
        spec: what is asked for; its tasks are patterns of that run's tasks.
        agent: as in `play_new`, and so whatever is not named here.
        run: the folder of the other run.
        step: after how many actions.
        asked: the names of the settings that were asked for.
        out: as in `play_new`.
        headless: as in `play_new`.
        yes: as in `play_new`.
        stop: as in `play_new`.
    """
    if run is None or step is None:
        message = "rollouts from a step need the run that they go on from, and the step"
        raise UsageError(message, hint="arena sample --from RUN --from-step 3")
    plan = plan_rollouts(RunFolder.open(Path(run)), spec.tasks, step, spec.repeats)
    for episode, why in plan.left_out:
        opened.warn(f"{episode} {why}")
    request = prepare_rollouts(plan, spec, agent, asked=asked, headless=headless, is_meant=yes)
    refuse_idle_pace(request, asked, opened.registry)
    await warn_of_faults(request.suite, request.tasks, opened.registry, opened.on_event)
    engine = await opened.engine()
    await require_same_images(plan.source.lock(), engine)
    folder = await write_down(request, opened.registry, engine, out, RUNS)
    return await play(request, folder, opened, stop)


async def play(
    request: RunRequest,
    folder: RunFolder,
    opened: OpenArena,
    stop: asyncio.Event | None,
    *,
    record: Record | None = None,
) -> RunReport:
    """Play what is not finished of a run, and return its report.

    Args:
        request: what is played.
        folder: of the run.
        opened: where it is played.
        stop: ends the run.
        record: makes what keeps what browsers get, for a tape.

    Raises:
        InterruptedRunError: `stop` was set before the run was done.
        ModelError: the model refuses for good; says how to go on.
    """
    opened.on_event(
        RunBegan(
            folder=folder.path,
            agent=request.agent.name,
            agent_note=agent_note(folder.lock().agent),
            episodes=request.episodes,
            workers=request.settings.workers_at_first,
        )
    )
    run = Run.of(
        request,
        folder,
        owner=folder.lock().run,
        registry=opened.registry,
        engine=await opened.engine(),
        on_event=opened.on_event,
        interrupted=stop or asyncio.Event(),
        record=record,
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
    lock = RunFolder.open(run).lock().agent
    how = f"human --person {lock.options['person']}" if lock.kind == HUMAN else "eval"
    return InterruptedRunError(
        f"{run}: interrupted; what had finished is kept",
        hint=f"arena {how} --resume {run}",
    )


def interrupted_study(study: Path) -> InterruptedRunError:
    """Return the error of a study that ended before it was done."""
    return InterruptedRunError(
        f"{study}: interrupted; what had finished is kept",
        hint=f"arena study run {study}",
    )


def _resumable(refusal: ModelError, folder: RunFolder) -> ModelError:
    """Return a refusal that says what becomes of the run: its episode stays open."""
    hint = f"{refusal.hint}; then: arena eval --resume {folder.path}"
    return ModelError(refusal.message, hint=hint, is_permanent=True)


Options = Mapping[str, Mapping[str, object]]


async def _parts_of(
    folder: StudyFolder,
    study: Study,
    *,
    secret_options: Options,
    changes: Mapping[str, object],
    headless: bool,
    registry: SiteRegistry,
) -> tuple[RunPart, ...]:
    """Return the runs of a study as they go on."""
    parts: list[RunPart] = []
    for registered in study.runs:
        run = folder.run_folder(registered.folder)
        vary, _ = study.file.in_arm(registered.arm)
        if run.lock().vary != vary:
            message = f"{run.path}: its lock is not of the arm that the study was registered with"
            raise StoreError(message, hint=f"arena study verify {folder.path}")
        request = resumed_request(
            run,
            registry,
            options=secret_options.get(registered.agent, {}),
            changes={
                "screenshots": study.file.screenshots,
                "browser": study.file.browser_of(study.agents[registered.agent]),
                **changes,
            },
            headless=headless,
        )
        parts.append(RunPart(request=request, folder=run, agent=registered.label))
    return tuple(parts)


async def play_study(
    folder: StudyFolder,
    *,
    secret_options: Options,
    changes: Mapping[str, object],
    headless: bool,
    opened: OpenArena,
    stop: asyncio.Event | None,
) -> None:
    """Play what is not finished of a study."""
    registry, engine, on_event = opened.registry, await opened.engine(), opened.on_event
    with folder.writing():
        study = folder.study()
        for registered in study.runs:  # where an addition was cut off
            folder.run_folder(registered.folder).add_repeats(study.repeats)
        parts = await _parts_of(
            folder,
            study,
            secret_options=secret_options,
            changes=changes,
            headless=headless,
            registry=registry,
        )
        warned = set[str]()
        for part in parts:
            if part.request.suite.suite not in warned:
                warned.add(part.request.suite.suite)
                await warn_of_faults(part.request.suite, part.request.tasks, registry, on_event)
            await require_same_images(part.folder.lock(), engine)
            require_same_tapes(part.folder.lock())
        live = {part.folder.lock().live_pool: part for part in parts}
        for part in live.values():
            await require_same_browser(part.folder.lock(), part.request)
        on_event(
            StudyBegan(
                folder=folder.path,
                name=study.file.name,
                agents=tuple(study.agents),
                episodes=sum(part.request.episodes for part in parts),
                workers=parts[0].request.settings.workers_at_first,
            )
        )
        run = Run(
            parts=parts,
            owner=study.registration.study,
            registry=registry,
            engine=engine,
            on_event=on_event,
            interrupted=stop or asyncio.Event(),
            log_path=folder.log_path,
            limits=study.limits,
            whose="study",
            in_order=interleaved(study.file.seed),
            stops_over_budget=True,
        )
        seal_study(folder)
        try:
            ended = await run.play()
        except ModelError as refusal:
            hint = f"{refusal.hint}; then: arena study run {folder.path}"
            raise ModelError(refusal.message, hint=hint, is_permanent=True) from refusal
        finally:
            seal_study(folder)
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
