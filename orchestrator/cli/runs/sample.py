"""`arena sample`: play each task several times, for training data."""

# ruff: noqa: ARG001  the options are read from the context, see `options.asked`
from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from arena_core.errors import UsageError
from arena_core.names import counted
from orchestrator.api.arena import Arena
from orchestrator.cli.arena import arena_for
from orchestrator.cli.asynchronous import run
from orchestrator.cli.console import Column, Console, Json
from orchestrator.cli.runs import options as of

if TYPE_CHECKING:
    from orchestrator.analysis.run_report.run_report import RunReport
    from orchestrator.export.training.sampling import SamplePlan

app = typer.Typer()

_COLUMNS: Final = ("task", "band", "right", "scored", "unscored", "rate", "95 %", "sampled")


@app.command()
def sample(
    context: typer.Context,
    tasks: of.Tasks = None,
    suite: of.Suite = "demo",
    agent: Annotated[
        str, typer.Option(help="As in arena eval: chat, autowebglm, or package.module:Factory.")
    ] = "chat",
    agent_option: of.AgentOption = None,
    rollouts: Annotated[
        int, typer.Option("--rollouts", "-n", min=1, help="How often each task is played.")
    ] = 8,
    from_run: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="RUN",
            help="Start in the middle of this run's offline episodes; with --from-step.",
        ),
    ] = None,
    from_step: Annotated[
        str | None,
        typer.Option(
            metavar="K",
            help="After how many of their actions: 3, several as 2,4, or every; -n rollouts each.",
        ),
    ] = None,
    measured: Annotated[
        list[Path] | None,
        typer.Option(help="An earlier run that says how hard tasks are; repeat for more."),
    ] = None,
    bands: Annotated[
        str | None,
        typer.Option(
            help="Only tasks that were so hard there: never, hard, medium, easy, always,"
            " unmeasured; several with commas."
        ),
    ] = None,
    split: Annotated[
        Path | None,
        typer.Option(
            help="A file whose test tasks, and others of their templates, are not played."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show which tasks would be played, and play none.")
    ] = False,
    attempts: of.Attempts = 3,
    workers: of.Workers = None,
    memory: of.Memory = None,
    model: of.Model = None,
    model_url: of.ModelUrl = None,
    model_deadline: of.ModelDeadline = None,
    temperature: of.Temperature = None,
    reasoning_effort: of.ReasoningEffort = None,
    max_completion_tokens: of.MaxCompletionTokens = None,
    seed: Annotated[
        int | None,
        typer.Option(help="Random seed of the run, from which each rollout gets its own."),
    ] = None,
    prices: of.Prices = None,
    max_usd: of.MaxUsd = None,
    max_tokens: of.MaxTokens = None,
    out: of.Out = None,
    shard: of.Shard = None,
    ray: of.Ray = None,
    ray_shards: of.RayShards = None,
    ray_env: of.RayEnv = None,
    ray_send: of.RaySend = False,
    allow: of.Allow = None,
    screenshots: of.Screenshots = False,
    browser: of.Browser = None,
    headed: of.Headed = False,
    yes: of.Yes = False,
    as_json: of.AsJson = False,
) -> None:
    """Play each task several times on replicas, into a run to make training data of.

    arena export sft|dpo|rft|rewards RUN writes the data; arena eval --resume RUN
    continues it where it was interrupted.

    With --from and --from-step, rollouts start at a step of another run's episodes: for
    the value of that step, and for pairs. No rate of tasks counts them.

    Example: arena sample --suite demo --model my-model -n 8 --split split.yaml
    """
    from orchestrator.cli.runs.run_setup import play

    console = Console(as_json)
    named = bands.split(",") if bands is not None else []
    if dry_run and (from_run is not None or from_step is not None):
        message = "--dry-run shows tasks by their bands: it has no effect on rollouts from a step"
        raise UsageError(message, hint="leave --dry-run away")
    if dry_run or (measured and from_run is None):
        planned = arena_for(console).runs.plan_sample(
            tasks or (), suite=suite, measured=measured or (), bands=named, split=split
        )
        if dry_run or not as_json:
            _show(planned, console)
    if dry_run:
        return
    asked = of.asked(context)
    chosen, patterns = asked.pop("agent", agent), asked.pop("tasks", ())
    terms = of.ray_terms(context)
    if terms is not None:
        if from_run is not None or from_step is not None:
            raise UsageError("--from and --from-step have no effect with --ray", hint="use --shard")
        spread = {"bands": named, "split": split, "shards": ray_shards, "out": out, "yes": yes}
        beside = {"rollouts": rollouts, "measured": measured or (), **spread, **terms, **asked}
        run(play(lambda arena, _: arena.ray.sample(chosen, patterns, **beside), console))
        return

    def sampled(arena: Arena, stop: asyncio.Event) -> Awaitable[RunReport]:
        return arena.runs.sample(
            chosen,
            patterns,
            rollouts=rollouts,
            measured=measured or (),
            bands=named,
            split=split,
            from_run=from_run,
            from_step=from_step,
            out=out,
            headless=not headed,
            yes=yes,
            stop=stop,
            **asked,
        )

    run(play(sampled, console))


def _show(planned: SamplePlan, console: Console) -> None:
    rows = [
        (
            one.task,
            one.band.value,
            str(one.right),
            str(one.scored),
            str(one.unscored),
            "–" if one.rate is None else f"{one.rate:.0%}",
            "–" if one.low is None or one.high is None else f"{one.low:.0%} to {one.high:.0%}",
            one.refused or ("yes" if one.is_chosen else "no"),
        )
        for one in planned.tasks
    ]
    console.table([Column(title) for title in _COLUMNS], rows, _document(planned))
    verb = "is" if len(planned.chosen) == 1 else "are"
    console.note(f"{len(planned.chosen)} of {counted(len(planned.tasks), 'task')} {verb} sampled")


def _document(planned: SamplePlan) -> Json:
    return {
        "runs": [str(one.folder.path) for one in planned.runs],
        "tasks": [
            {
                "task": one.task,
                "band": one.band.value,
                "right": one.right,
                "scored": one.scored,
                "unscored": one.unscored,
                "rate": one.rate,
                "low": one.low,
                "high": one.high,
                "refused": one.refused,
                "is_chosen": one.is_chosen,
            }
            for one in planned.tasks
        ],
    }
