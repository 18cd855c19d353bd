"""From what the command line asks to a run, its progress lines, and its summary."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from arena_core.errors import InterruptedRunError, ModelError, UsageError
from arena_core.worlds import World
from orchestrator.agents.registry import AgentOptions, make_agent
from orchestrator.cli.agent_choice import kind_of, lock_agent, options_of
from orchestrator.cli.asynchronous import two_interrupts
from orchestrator.cli.console import Console
from orchestrator.cli.known_sites import known_sites
from orchestrator.cli.option_effects import (
    refuse_idle_pace,
    refuse_offline_resolves,
    refuse_without_effect,
)
from orchestrator.cli.preflight import refuse_faulty, warn_of_faults
from orchestrator.cli.progress import as_line
from orchestrator.cli.run_resources import RunResources
from orchestrator.cli.terminal_report import show_run
from orchestrator.engine.engine import Engine
from orchestrator.gateway.addresses import Resolve
from orchestrator.report.ending import require_sound
from orchestrator.report.html import write_html
from orchestrator.report.run_report import read_run
from orchestrator.report.wording import agent_note
from orchestrator.runner.budgets import share_budget
from orchestrator.runner.lock_writer import make_lock, require_same_images
from orchestrator.runner.request import RunRequest, tasks_of
from orchestrator.runner.run import Run
from orchestrator.store.run_folder import RunFolder
from tasks.loader import load_source
from tasks.select import Selection, select_tasks

if TYPE_CHECKING:
    from sites.atlas import Atlas


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What is only looked at, and may differ when a run goes on."""

    screenshots: bool
    headless: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """What the command line asks for."""

    patterns: tuple[str, ...]
    suite: str
    agent: str
    offline: bool
    online: bool
    staged: bool
    repeats: int
    attempts: int
    resolves: tuple[str, ...]
    options: AgentOptions
    out: Path | None
    pace: RunResources
    look: Look

    @property
    def worlds(self) -> tuple[World, ...]:
        """The worlds asked for, offline first."""
        wanted = ((World.OFFLINE, self.offline), (World.ONLINE, self.online))
        return tuple(world for world, is_wanted in wanted if is_wanted)


async def evaluate_new(asked: NewRun, runs: Path, console: Console) -> None:
    """Start a run and play it to its end."""
    refuse_offline_resolves(asked.resolves, staged=asked.staged, online=asked.online)
    agent = make_agent(asked.agent, asked.options)
    source, atlas = load_source(asked.suite), known_sites()
    suite = source.suite
    request = RunRequest(
        suite=suite,
        tasks=select_tasks(suite, Selection(ids=asked.patterns)),
        worlds=asked.worlds,
        agent=agent,
        agent_lock=lock_agent(asked.agent, asked.options),
        repeats=asked.repeats,
        attempts=asked.attempts,
        staged=asked.staged,
        resolves=tuple(Resolve.parse(text) for text in asked.resolves),
        screenshots=asked.look.screenshots,
        headless=asked.look.headless,
    )
    request = asked.pace.of(request)
    if not request.trials():
        names = ", ".join(task.id for task in request.tasks)
        worlds = " or ".join(asked.worlds)
        message = f"nothing to play: no task chosen runs {worlds} (chosen: {names})"
        raise UsageError(message)
    await refuse_faulty(asked.suite, source, request.tasks, atlas)
    refuse_without_effect(request, asked.pace, atlas)
    async with _engine() as engine:
        await share_budget(request, atlas, engine)  # refuses before there is a folder
        lock = await make_lock(request, atlas, engine)
        folder = RunFolder.create(asked.out or runs / lock.run, lock, suite)
        await _play(request, folder, atlas, engine, console)


async def evaluate_resumed(path: Path, pace: RunResources, look: Look, console: Console) -> None:
    """Go on with a run as its lock says; its pace and what is only looked at may differ."""
    folder = RunFolder.open(path)
    lock, suite, atlas = folder.lock(), folder.suite(), known_sites()
    request = RunRequest(
        suite=suite,
        tasks=tasks_of(lock, suite),
        worlds=lock.worlds,
        agent=make_agent(kind_of(lock.agent), options_of(lock.agent)),
        agent_lock=lock.agent,
        repeats=lock.repeats,
        attempts=lock.attempts,
        staged=bool(lock.staged),
        resolves=tuple(Resolve.parse(text) for text in lock.resolves),
        screenshots=look.screenshots,
        headless=look.headless,
    )
    request = pace.over(lock).of(request)
    refuse_idle_pace(request, pace, atlas)
    await warn_of_faults(suite, request.tasks, atlas, console)
    async with _engine() as engine:
        await require_same_images(lock, engine)
        await _play(request, folder, atlas, engine, console)


async def _play(
    request: RunRequest, folder: RunFolder, atlas: Atlas, engine: Engine, console: Console
) -> None:
    run = Run(
        request=request,
        folder=folder,
        owner=folder.lock().run,
        atlas=atlas,
        engine=engine,
        on_event=lambda event: console.note(as_line(event)),
        interrupted=asyncio.Event(),
    )
    interrupted = InterruptedRunError(
        f"{folder.path}: interrupted; what had finished is kept",
        hint=f"arena eval --resume {folder.path}",
    )

    def finish_step() -> None:
        run.interrupted.set()
        steps = "the step" if request.workers == 1 else "the steps"
        console.warn(f"finishing {steps} under way; press Ctrl-C again to stop at once")

    note = agent_note(folder.lock().agent)
    agent = f"{request.agent.name} ({note})" if note else request.agent.name
    console.note(f"run {folder.path}: {len(request.trials())} episodes of {agent}")
    with two_interrupts(finish_step, interrupted):
        try:
            is_done = await run.play()
        except ModelError as refusal:
            write_html(read_run(folder), folder.report_path)
            raise _resumable(refusal, folder) from refusal
        finally:
            await request.agent.close()
    report = read_run(folder)
    write_html(report, folder.report_path)
    if not is_done:
        raise interrupted
    show_run(report, console)
    console.note(f"report: {folder.report_path}")
    require_sound(report)


def _resumable(refusal: ModelError, folder: RunFolder) -> ModelError:
    """Return a refusal that says what becomes of the run: its trial stays open."""
    hint = f"{refusal.hint}; then: arena eval --resume {folder.path}"
    return ModelError(refusal.message, hint=hint, is_permanent=True)


@asynccontextmanager
async def _engine() -> AsyncIterator[Engine]:
    engine = await Engine.connect()
    try:
        yield engine
    finally:
        await engine.close()
