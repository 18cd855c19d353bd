"""`arena human`: a person does the tasks, beside whom agents can be compared."""

# ruff: noqa: ARG001  the options are read from the context, see `options.asked`
from __future__ import annotations

import asyncio
import os
import webbrowser
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena_core.errors import InterruptedRunError, UsageError
from orchestrator.cli.asynchronous import run, two_interrupts
from orchestrator.cli.runs import options as of

if TYPE_CHECKING:
    from orchestrator.analysis.run_report.run_report import RunReport
    from orchestrator.api.arena import Arena
    from orchestrator.cli.console import Console
    from orchestrator.episode.person.agent import PersonAgent
    from orchestrator.local_pages.human.desk import ControlDesk

app = typer.Typer()
_KEPT = {"screenshots", "person", "resume", "again", "port", "only_print", "as_json"}


@app.command()
def human(
    context: typer.Context,
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="A suite's name or file.")] = "demo",
    tasks: of.Tasks = None,
    person: Annotated[
        str, typer.Option(help="The person's pseudonym, such as P07; never a name.")
    ] = "",
    limit_seconds: Annotated[
        float | None,
        typer.Option(
            min=1,
            max=7200,
            help="How long a task may take, pauses not counted; default: the task's own seconds.",
        ),
    ] = None,
    offline: of.Offline = False,
    online: of.Online = False,
    staged: of.Staged = False,
    repeats: of.Repeats = 1,
    out: of.Out = None,
    resume: Annotated[
        Path | None, typer.Option(help="Continue this run; nothing finished is asked again.")
    ] = None,
    again: Annotated[
        str | None,
        typer.Option(help="With --resume: also ask what is unscored for these reasons."),
    ] = None,
    screenshots: of.Screenshots = True,
    port: Annotated[
        int,
        typer.Option(
            min=0, max=65535, help="The control page's port on 127.0.0.1; default: a free one."
        ),
    ] = 0,
    only_print: Annotated[
        bool, typer.Option("--print", help="Print the control page's address, and open it nowhere.")
    ] = False,
    as_json: of.AsJson = False,
) -> None:
    """Let a person do tasks by hand: a run like an agent's, with success, seconds and actions.

    A control page in your own browser shows the consent text, then one task after the other: Start,
    a clock, an answer, "it cannot be done". The task's pages open in a window of Arena's; only what
    is done there is recorded. Breaks between tasks are free: arena human --resume RUN --person ID
    continues.
    """
    from orchestrator.cli.console import Console

    if not person:
        raise UsageError("--person is missing", hint="a pseudonym such as P07, never a name")
    if resume is not None and (given := sorted(of.given(context).keys() - _KEPT)):
        names = [max(one.opts, key=len) for one in context.command.params if one.name in given]
        raise UsageError(f"--resume continues the run as it began: it takes no {', '.join(names)}")
    if again is not None and resume is None:
        raise UsageError("--again has no effect without --resume", hint="name the run: --resume")
    asked = of.asked(context)
    asked.pop("tasks", None)
    session = _Session(Console(as_json), person, limit_seconds, out, resume, again, asked)
    run(session.play(tuple(tasks or ()), suite, port, shows=not only_print))


@dataclass(frozen=True, slots=True)
class _Session:
    """One sitting of a person at the desk."""

    console: Console
    person: str
    limit_s: float | None
    out: Path | None
    resume: Path | None
    again: str | None
    asked: dict[str, Any]

    async def play(self, tasks: tuple[str, ...], suite: str, port: int, *, shows: bool) -> None:
        from orchestrator.analysis.run_report.run_report import require_sound
        from orchestrator.api.arena import Arena
        from orchestrator.browser.process.chromium import require_display
        from orchestrator.cli.progress import show_event
        from orchestrator.cli.runs.run_setup import ShownRun
        from orchestrator.cli.runs.terminal_report import show_run
        from orchestrator.local_pages.human.desk import ControlDesk
        from orchestrator.runs.events import EpisodeEnded

        require_display(os.environ)
        console = self.console
        shown = ShownRun(console, lambda event: show_event(event, console))
        async with ControlDesk.open(shown.stop, port) as desk:
            agent = self._agent(desk)
            console.note(f"control page: {desk.url}")
            if shows:
                await asyncio.to_thread(webbrowser.open, desk.url)

            def on_event(event: Any) -> None:
                desk.heard(event)
                if isinstance(event, EpisodeEnded):
                    console.note(f"{event.key.task}: done")  # how it ended, nobody tells here
                else:
                    shown.on_event(event)

            with two_interrupts(shown.finish_step, shown.stopped):
                if not await desk.agrees():
                    console.note("the person did not agree: nothing was recorded")
                    return
                async with Arena(on_event=on_event) as arena:
                    try:
                        report = await self._run(arena, agent, tasks, shown.stop, suite)
                    except InterruptedRunError as left:
                        if shown.stop.is_set() and not desk.was_stopped:
                            raise  # by Ctrl-C
                        console.note(left.message)
                        console.note(f"  → {left.hint}")
                        return
        show_run(report, console)
        console.note(f"report: {report.folder.report_path}")
        require_sound(report)

    def _agent(self, desk: ControlDesk) -> PersonAgent:
        from orchestrator.episode.person.agent import PersonAgent
        from orchestrator.local_pages.human.desk import consent
        from orchestrator.runs.agent_choice import agent_of_lock
        from orchestrator.runs.store.run_folder import RunFolder

        made = PersonAgent(person=self.person, consent=consent(), desk=desk, limit_s=self.limit_s)
        if self.resume is None:
            return made
        lock = RunFolder.open(self.resume).lock().agent
        limit_s = lock.options.get("limit_seconds")
        made = replace(made, limit_s=None if limit_s is None else float(limit_s))
        agent_of_lock(lock, made)  # refused before anybody is asked anything
        return made

    async def _run(
        self,
        arena: Arena,
        agent: PersonAgent,
        tasks: tuple[str, ...],
        stop: asyncio.Event,
        suite: str,
    ) -> RunReport:
        if self.resume is None:
            asked = {**self.asked, "suite": suite, "attempts": 1, "workers": 1}
            return await arena.run(agent, tasks, out=self.out, headless=False, stop=stop, **asked)
        again = [one.strip() for one in (self.again or "").split(",") if one.strip()]
        screenshots = self.asked.get("screenshots")
        return await arena.runs.resume(
            self.resume,
            agent=agent,
            headless=False,
            again=again,
            stop=stop,
            screenshots=screenshots,
        )
