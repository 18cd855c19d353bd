"""`arena ci`: play an agent and hold it to a bar, for continuous integration."""

# ruff: noqa: ARG001  the options are read from the context, see `options.asked`
from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena_core.errors import UsageError
from arena_core.names import counted
from orchestrator.cli.asynchronous import run
from orchestrator.cli.runs import options as of

if TYPE_CHECKING:
    import asyncio

    from orchestrator.analysis.studies.baseline import Baseline
    from orchestrator.analysis.studies.regression import HeldRun
    from orchestrator.api.arena import Arena
    from orchestrator.cli.console import Console

app = typer.Typer()
_ALONE = {"finished", "against", "min_success", "alpha", "allow", "summary", "junit"}
_BESIDE = {"write_baseline", "as_json", "verbose", "log_level"}


@app.command()
def ci(
    context: typer.Context,
    tasks: of.Tasks = None,
    config: Annotated[
        Path | None,
        typer.Option(help="YAML that says what to run, as in arena eval."),
    ] = None,
    suite: of.Suite = "smoke",
    agent: of.Agent = "",
    agent_cmd: of.AgentCommand = None,
    agent_seconds: of.AgentSeconds = None,
    agent_option: of.AgentOption = None,
    against: Annotated[
        Path | None,
        typer.Option(help="A file of --write-baseline, or a run's folder: compare with it."),
    ] = None,
    min_success: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Least success in each world: 0.8 is 80 %."),
    ] = None,
    alpha: Annotated[float, typer.Option(help="Level at which a drop is significant.")] = 0.05,
    allow: Annotated[
        str | None,
        typer.Option(
            help="In what the baseline may differ: suite, tasks, worlds, arm, staged, tapes;"
            " several with commas."
        ),
    ] = None,
    summary: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a summary in Markdown there.")
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write JUnit's XML there.")
    ] = None,
    write_baseline: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Play and write the baseline; hold to none."),
    ] = None,
    finished: Annotated[
        Path | None, typer.Option("--run", help="Take this finished run, and play none.")
    ] = None,
    offline: of.Offline = False,
    online: of.Online = False,
    staged: of.Staged = False,
    repeats: of.Repeats = 1,
    attempts: of.Attempts = 3,
    workers: of.Workers = None,
    memory: of.Memory = None,
    resolve: of.Resolve = None,
    vary: of.Vary = None,
    tape: of.Tape = None,
    model: of.Model = None,
    model_url: of.ModelUrl = None,
    model_deadline: of.ModelDeadline = None,
    temperature: of.Temperature = None,
    reasoning_effort: of.ReasoningEffort = None,
    max_completion_tokens: of.MaxCompletionTokens = None,
    seed: of.Seed = None,
    prices: of.Prices = None,
    max_usd: of.MaxUsd = None,
    max_tokens: of.MaxTokens = None,
    out: of.Out = None,
    screenshots: of.Screenshots = True,
    browser: of.Browser = None,
    yes: of.Yes = False,
    as_json: of.AsJson = False,
) -> None:
    """Play an agent, compare it with a baseline, and fail only for a significant drop.

    Exit code 0: held. 1: a significant drop, or less than --min-success. 90: what is unscored could
    hide a drop. Others as everywhere: a bar that says nothing is never a pass.

    Example: arena ci --agent my.agent:Agent --against baseline.json --repeats 3
    """
    from orchestrator.analysis.run_report.run_report import require_sound
    from orchestrator.analysis.studies.baseline import Baseline
    from orchestrator.analysis.studies.regression import Bar
    from orchestrator.cli.console import Console
    from orchestrator.cli.runs.run_setup import played
    from orchestrator.runs.spec import RunSpec

    given = of.given(context)
    if finished is not None and (beside := given.keys() - _ALONE - _BESIDE):
        names = [max(one.opts, key=len) for one in context.command.params if one.name in beside]
        raise UsageError(f"--run takes a run as it is: it takes no {', '.join(names)}")
    if write_baseline is not None and (beside := given.keys() & (_ALONE - {"finished"})):
        flags = ", ".join(f"--{one.replace('_', '-')}" for one in sorted(beside))
        message = f"--write-baseline holds an agent to nothing: it takes no {flags}"
        raise UsageError(message, hint="a baseline that follows each run would drift down with it")
    if not given.keys() & {"agent", "agent_cmd", "config", "finished"}:
        message = "nobody is named who is held to the bar"
        raise UsageError(message, hint="--agent NAME, --agent-cmd PROGRAM or --config FILE")
    asked = of.asked(context)
    console = Console(as_json)
    if finished is not None:
        spec = RunSpec()
    elif config is not None:
        spec = RunSpec.read(config, asked)
    else:
        spec = RunSpec.of(**{"suite": suite} | asked)

    bar = Bar(
        against=against,
        min_success=min_success,
        alpha=alpha,
        allow=[one.strip() for one in (allow or "").split(",") if one.strip()],
    )

    async def held(arena: Arena, stop: asyncio.Event) -> HeldRun:
        return await arena.ci(
            "oracle" if finished is not None else spec,
            bar=bar,
            finished=finished,
            summary=summary,
            junit=junit,
            out=out,
            yes=yes,
            stop=stop,
        )

    async def written(arena: Arena, stop: asyncio.Event) -> Baseline:
        folder = finished
        if folder is None:
            report = await arena.run(spec, out=out, yes=yes, stop=stop)
            require_sound(report)
            folder = report.folder.path
        return Baseline.read(folder)

    if write_baseline is not None:
        baseline = run(played(written, console))
        baseline.write(write_baseline)
        _show_baseline(baseline, write_baseline, console)
        return
    found = run(played(held, console))
    _show(found, console)
    found.require_held()


def _show(held: HeldRun, console: Console) -> None:
    if console.as_json:
        from orchestrator.analysis.studies.regression_files import document_of

        console.json(document_of(held))
        return
    console.line(f"{held.report.lock.agent.name}: {held.verdict}: {held.because}")
    if held.report.agent_note:
        console.line(f"{held.report.lock.agent.name}: {held.report.agent_note}")
    for one in held.lost:
        console.line(f"worse than the baseline: {one.world} {one.task}: {one.why}")
    for note in held.notes:
        console.line(note)
    console.note(f"report: {held.report.folder.report_path}")


def _show_baseline(baseline: Baseline, file: Path, console: Console) -> None:
    if console.as_json:
        console.json({"baseline": str(file), "run": baseline.run, "digest": baseline.digest})
        return
    tasks = counted(len({one.task for one in baseline.tasks}), "task")
    console.line(f"{file}: {baseline.agent.name} on {tasks} of {baseline.suite}")
