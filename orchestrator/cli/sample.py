"""`arena sample`: play each task several times, for training data."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from orchestrator.api.arena import Arena
from orchestrator.cli.asynchronous import run
from orchestrator.cli.console import Column, Console, Json

if TYPE_CHECKING:
    from orchestrator.api.sampling import SamplePlan

app = typer.Typer()

_COLUMNS: Final = ("task", "band", "right", "scored", "unscored", "rate", "95 %", "sampled")


@app.command()
def sample(
    tasks: Annotated[
        list[str] | None,
        typer.Argument(help="Task ids or patterns such as 'shop-*'; default: all."),
    ] = None,
    suite: Annotated[str, typer.Option(help="A suite's name or file.")] = "demo",
    agent: Annotated[
        str, typer.Option(help="As of arena eval: chat, autowebglm, or package.module:Factory.")
    ] = "chat",
    agent_option: Annotated[
        list[str] | None,
        typer.Option(help="key=value: an option that the agent declares; repeat for more."),
    ] = None,
    rollouts: Annotated[
        int, typer.Option("--rollouts", "-n", min=1, help="How often each task is played.")
    ] = 8,
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
        bool, typer.Option("--dry-run", help="Say which tasks would be played, and play none.")
    ] = False,
    attempts: Annotated[
        int,
        typer.Option(min=1, help="Tries of a rollout that breaks off for no fault of the agent."),
    ] = 3,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Episodes side by side; default: 1.")
    ] = None,
    memory: Annotated[
        str | None, typer.Option(help="Budget for all replicas, such as 4GiB.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="Model of the agent.")] = None,
    model_url: Annotated[
        str | None, typer.Option(help="OpenAI-compatible endpoint; key in OPENAI_API_KEY.")
    ] = None,
    model_deadline: Annotated[
        float | None, typer.Option(min=1, help="Seconds for one reply with retries; default: 120.")
    ] = None,
    temperature: Annotated[
        float | None, typer.Option(min=0, max=2, help="Of the agent's model; default: 1.")
    ] = None,
    reasoning_effort: Annotated[
        str | None, typer.Option(help="How long a reasoning model may think, such as low or high.")
    ] = None,
    max_completion_tokens: Annotated[
        int | None, typer.Option(min=1, help="Where the model's replies are cut.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Of the run; each rollout asks with one made of it.")
    ] = None,
    prices: Annotated[
        Path | None, typer.Option(help="Table of what models cost, before Arena's own.")
    ] = None,
    max_usd: Annotated[
        float | None, typer.Option(help="Ask no more once the run spent this on models.")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(min=1, help="The same in tokens, of prompts and replies together.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the new run.")] = None,
    screenshots: Annotated[bool, typer.Option(help="Keep one screenshot per step.")] = False,
    headed: Annotated[bool, typer.Option("--headed", help="Show the browser.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Play each task several times on replicas, into a run to make training data of.

    arena export sft|dpo|rft|rewards RUN writes the data; arena eval --resume RUN
    goes on where it was broken off.

    Example: arena sample --suite demo --model my-model -n 8 --split split.yaml
    """
    from orchestrator.cli.agent_options import agent_options
    from orchestrator.cli.progress import arena_for
    from orchestrator.cli.run_setup import play

    console = Console(as_json)
    named = bands.split(",") if bands is not None else []
    if dry_run or measured:
        planned = arena_for(console).plan_sample(
            tasks or (), suite=suite, measured=measured or (), bands=named, split=split
        )
        if dry_run or not as_json:
            _show(planned, console)
    if dry_run:
        return
    options = agent_options(
        agent_option or (),
        seed=seed,
        model=model,
        model_url=model_url,
        model_deadline=model_deadline,
        temperature=temperature,
        reasoning_effort=reasoning_effort,
        max_completion_tokens=max_completion_tokens,
        prices=None if prices is None else str(prices),
    )
    work = partial(
        Arena.sample,
        agent=agent,
        patterns=tasks or (),
        rollouts=rollouts,
        suite=suite,
        measured=measured or (),
        bands=named,
        split=split,
        attempts=attempts,
        workers=workers,
        memory=memory,
        options=options,
        max_usd=max_usd,
        max_tokens=max_tokens,
        out=out,
        screenshots=screenshots,
        headless=not headed,
    )
    run(play(work, console))


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
    console.note(f"{len(planned.chosen)} of {len(planned.tasks)} tasks are sampled")


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
