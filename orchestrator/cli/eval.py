"""`arena eval`: run an agent on tasks, offline, online or both."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from arena_core.errors import UsageError
from orchestrator.api.arena import Arena
from orchestrator.cli.asynchronous import run
from orchestrator.cli.console import Console

app = typer.Typer()


@app.command()
def evaluate(
    context: typer.Context,
    tasks: Annotated[
        list[str] | None,
        typer.Argument(help="Task ids or patterns such as 'shop-*'; default: all."),
    ] = None,
    suite: Annotated[str, typer.Option(help="A suite's name or file.")] = "demo",
    agent: Annotated[
        str,
        typer.Option(
            help="oracle (plays the reference: no contestant), idle, random (baselines), chat or"
            " another that `arena plugins` lists, or package.module:Factory."
        ),
    ] = "oracle",
    agent_cmd: Annotated[
        str | None,
        typer.Option(
            "--agent-cmd",
            help="A program that plays each episode over CDP, such as 'python my_agent.py', in"
            " place of --agent; ARENA_CDP_URL, ARENA_GOAL and ARENA_EPISODE tell it the rest.",
        ),
    ] = None,
    agent_seconds: Annotated[
        float | None,
        typer.Option(min=1, help="How long --agent-cmd may take for an episode; default: 1800."),
    ] = None,
    agent_option: Annotated[
        list[str] | None,
        typer.Option(
            help="key=value: an option that the agent declares; may be given several times."
        ),
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Play on replicas (default).")] = False,
    online: Annotated[
        bool, typer.Option("--online", help="Play on the live origins of the sites.")
    ] = False,
    staged: Annotated[
        bool,
        typer.Option("--staged", help="Live origins are staged on this machine, labelled so."),
    ] = False,
    repeats: Annotated[int, typer.Option(min=1, help="How often each task is played.")] = 1,
    attempts: Annotated[
        int, typer.Option(min=1, help="Tries of a trial that breaks off for no fault of the agent.")
    ] = 3,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Episodes of each world side by side; default: 1."),
    ] = None,
    spares: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Warm replicas beyond the workers', of each site that holds state; default: what"
            " is thought best and fits.",
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(help="Budget for all replicas, such as 4GiB; default: most of the machine."),
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option(
            help="Resets between episodes: auto (default), swap (with a spare, always), or only"
            " clean, rewind or recreate. Whatever is not golden is replaced."
        ),
    ] = None,
    resolve: Annotated[
        list[str] | None,
        typer.Option(help="HOST:PORT:ADDR:PORT: send a live host elsewhere, as curl does."),
    ] = None,
    model: Annotated[str | None, typer.Option(help="Model of the agent, such as chat's.")] = None,
    model_url: Annotated[
        str | None, typer.Option(help="OpenAI-compatible endpoint; key in OPENAI_API_KEY.")
    ] = None,
    model_deadline: Annotated[
        float | None,
        typer.Option(min=1, help="Seconds for one reply of the model with retries; default: 120."),
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option(min=0, max=2, help="Of the agent's model; default: 0."),
    ] = None,
    reasoning_effort: Annotated[
        str | None,
        typer.Option(help="How long a reasoning model may think, such as low or high."),
    ] = None,
    max_completion_tokens: Annotated[
        int | None,
        typer.Option(min=1, help="Where the model's replies are cut, thinking included."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(help="Of random, passed on to the model of a model agent; default: 0."),
    ] = None,
    prices: Annotated[
        Path | None,
        typer.Option(help="Table of what models cost, before Arena's own; see the FAQ."),
    ] = None,
    replay: Annotated[
        Path | None,
        typer.Option(help="Answer the agent as this run's model did; asks none, needs no key."),
    ] = None,
    max_usd: Annotated[
        float | None,
        typer.Option(help="Ask no more once the run spent this on models; the rest is unscored."),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(min=1, help="The same in tokens, of prompts and replies together."),
    ] = None,
    judge_model: Annotated[
        str | None,
        typer.Option(help="Model that judges free text when the run is over; see arena judge."),
    ] = None,
    judge_url: Annotated[
        str | None, typer.Option(help="Its endpoint; key in OPENAI_API_KEY.")
    ] = None,
    judge_votes: Annotated[
        int, typer.Option(min=1, max=9, help="Its replies to each question, an odd number.")
    ] = 1,
    out: Annotated[Path | None, typer.Option(help="Folder of the new run.")] = None,
    resume: Annotated[
        Path | None, typer.Option(help="Go on with this run; nothing finished is repeated.")
    ] = None,
    screenshots: Annotated[bool, typer.Option(help="Keep one screenshot per step.")] = True,
    record_requests: Annotated[
        bool,
        typer.Option(
            "--record-requests",
            help="Record the browser's requests in every episode, as arena export har needs; some"
            " tasks have theirs recorded anyway.",
        ),
    ] = False,
    trace: Annotated[
        bool,
        typer.Option(
            "--trace",
            help="Keep Playwright's trace of each episode, for playwright show-trace; it shows what"
            " was typed and is not redacted.",
        ),
    ] = False,
    headed: Annotated[bool, typer.Option("--headed", help="Show the browser.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Run an agent on tasks, offline, online or both; score; write a report.

    Each worker has a browser of its own and, for each episode, replicas of its
    own of the sites that hold state. Ctrl-C once finishes the steps under way
    and stops; twice stops at once. Then arena eval --resume RUN goes on where it
    was, with as many workers as it began with or as you say.
    """
    from orchestrator.cli.agent_options import agent_command, agent_options
    from orchestrator.cli.run_setup import Work, judge_of, play

    command = agent_command(context, agent_cmd, agent_seconds)
    work: Work
    if resume is not None:
        _refuse_beside_resume(context)
        work = partial(
            Arena.resume,
            run=resume,
            agent=command,
            options=agent_options(agent_option or ()),
            workers=workers,
            spares=spares,
            memory=memory,
            strategy=strategy,
            max_usd=max_usd,
            max_tokens=max_tokens,
            screenshots=screenshots,
            headless=not headed,
        )
    else:
        wanted = (("offline", offline or not online), ("online", online))
        work = partial(
            Arena.evaluate,
            agent=command or agent,
            patterns=tasks or (),
            suite=suite,
            worlds=[world for world, is_wanted in wanted if is_wanted],
            repeats=repeats,
            attempts=attempts,
            workers=workers,
            spares=spares,
            memory=memory,
            strategy=strategy,
            max_usd=max_usd,
            max_tokens=max_tokens,
            staged=staged,
            resolve=resolve or (),
            options=agent_options(
                agent_option or (),
                seed=seed,
                model=model,
                model_url=model_url,
                model_deadline=model_deadline,
                temperature=temperature,
                reasoning_effort=reasoning_effort,
                max_completion_tokens=max_completion_tokens,
                prices=None if prices is None else str(prices),
                replay=None if replay is None else str(replay),
            ),
            out=out,
            screenshots=screenshots,
            record_requests=record_requests,
            trace=trace,
            headless=not headed,
        )
    judge = judge_of(judge_model, judge_url, judge_votes, None if prices is None else str(prices))
    run(play(work, Console(as_json), judge))


_HOW_NOT_WHAT = {"workers", "spares", "memory", "strategy", "max_usd", "max_tokens"}
# Of the agent's options only secrets, which no lock holds, are given again.
_WITH_RESUME = {
    "resume",
    "agent_cmd",
    "agent_seconds",
    "agent_option",
    "judge_model",
    "judge_url",
    "judge_votes",
    "screenshots",
    "headed",
    "as_json",
    "verbose",
    "log_level",
    *_HOW_NOT_WHAT,
}


def _refuse_beside_resume(context: typer.Context) -> None:
    """Refuse options that say what to play: a run goes on as its lock says.

    Raises:
        UsageError: naming them.
    """
    given = [
        max(parameter.opts, key=len)
        for parameter in context.command.params
        if parameter.name not in _WITH_RESUME
        and (source := context.get_parameter_source(parameter.name or ""))
        and source.name == "COMMANDLINE"
    ]
    if given:
        message = f"--resume goes on as the run began: it takes no {', '.join(given)}"
        raise UsageError(message)
