"""A run of `arena eval`, as it shows on the command line: progress, Ctrl-C, and its summary."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import TypeVar

from arena_core.errors import InterruptedRunError, UsageError
from orchestrator.analysis.judging.judge import JudgeChoice
from orchestrator.analysis.run_report.run_report import RunReport, require_sound
from orchestrator.api.arena import Arena
from orchestrator.api.opened import ArenaEvent, OnArenaEvent, RunBegan, StudyBegan
from orchestrator.api.playing import interrupted, interrupted_study
from orchestrator.cli.asynchronous import two_interrupts
from orchestrator.cli.console import Console
from orchestrator.cli.live import progress_on
from orchestrator.cli.runs.terminal_report import show_run

Result = TypeVar("Result")
# Plays until the run is done, or the event is set.
Work = Callable[[Arena, asyncio.Event], Awaitable[RunReport]]


def judge_of(
    model: str | None, url: str | None, votes: int, prices: str | None = None
) -> JudgeChoice | None:
    """Return the judge that is asked when the run is over; None where nobody is."""
    if model is not None:
        judge = JudgeChoice(model=model, url=url, votes=votes, prices=prices)
        try:
            judge.options()  # refused before anything is played
        except UsageError as refused:
            hint = refused.hint.replace("--model-url", "--judge-url")
            raise UsageError(refused.message, hint=hint) from refused
        return judge
    if url is not None or votes != 1:
        raise UsageError("--judge-url and --judge-votes have no effect without --judge-model")
    return None


async def played(
    work: Callable[[Arena, asyncio.Event], Awaitable[Result]],
    console: Console,
    *,
    watched: bool = False,
) -> Result:
    """Do what plays a run, with its progress and Ctrl-C, and return what it returns."""
    with progress_on(console) as on_event:
        shown = ShownRun(console, on_event)
        async with Arena(on_event=shown.on_event) as arena:
            with two_interrupts(shown.finish_step, shown.stopped):
                async with shown.page(arena, wanted=watched):
                    return await work(arena, shown.stop)


async def play(
    work: Work, console: Console, judge: JudgeChoice | None = None, *, watched: bool = False
) -> None:
    """Play a run to its end, let a judge have its say, and show it."""
    with progress_on(console) as on_event:
        shown = ShownRun(console, on_event)
        async with Arena(on_event=shown.on_event) as arena:
            with two_interrupts(shown.finish_step, shown.stopped):
                async with shown.page(arena, wanted=watched):
                    report = await work(arena, shown.stop)
            if judge is not None:
                report = await _judged(arena, report, judge, console)
    show_run(report, console)
    console.note(f"report: {report.folder.report_path}")
    require_sound(report)


async def _judged(
    arena: Arena, report: RunReport, judge: JudgeChoice, console: Console
) -> RunReport:
    """Judge what the run leaves to a judge; a judge that fails leaves it unscored, and says so."""
    limit = report.lock.current_limits.max_usd
    if limit is not None:
        left = max(0.0, limit - report.spent.priced_usd)
        judge = replace(judge, max_usd=left)
    done = await arena.runs.judge(report.folder.path, judge)
    if not done.asked + done.known:
        console.warn("no check of this run leaves anything to a judge: --judge-model did nothing")
    if done.session.failure is not None:
        why = done.session.failure.message.splitlines()[0]
        console.warn(f"not all is judged: {why}; later: arena judge run {report.folder.path}")
    judged = arena.runs.read(report.folder.path)
    arena.runs.report(judged)
    return judged


class ShownRun:
    """What a run shows while it is played, and how it is ended."""

    def __init__(self, console: Console, show: OnArenaEvent) -> None:
        self.stop = asyncio.Event()
        self._show = show
        self._console = console
        self._began: RunBegan | StudyBegan | None = None
        self._has_begun = asyncio.Event()

    def on_event(self, event: ArenaEvent) -> None:
        """Show what the run reports."""
        if isinstance(event, RunBegan | StudyBegan):
            self._began = event
            self._has_begun.set()
        self._show(event)

    @asynccontextmanager
    async def page(self, arena: Arena, *, wanted: bool) -> AsyncIterator[None]:
        """Serve a page that shows the run from its beginning to the end of the block."""
        serving = asyncio.create_task(self._serve(arena)) if wanted else None
        try:
            yield
        finally:
            if serving is not None:
                serving.cancel()
                with suppress(asyncio.CancelledError):
                    await serving

    async def _serve(self, arena: Arena) -> None:
        await self._has_begun.wait()
        if self._began is not None:
            async with arena.runs.watch(self._began.folder) as url:
                self._console.note(f"watch: {url}")
                await asyncio.Event().wait()

    def finish_step(self) -> bool:
        """Let the steps under way be finished; there are none before the run began."""
        if self._began is None:
            return False
        self.stop.set()
        steps = "the step" if self._began.workers == 1 else "the steps"
        self._console.warn(f"finishing {steps} under way; press Ctrl-C again to stop at once")
        return True

    def stopped(self) -> InterruptedRunError:
        """Return the error of a run that was stopped at once."""
        if self._began is None:
            return InterruptedRunError("interrupted")
        if isinstance(self._began, StudyBegan):
            return interrupted_study(self._began.folder)
        return interrupted(self._began.folder)
