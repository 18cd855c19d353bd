"""`arena eval`: run an agent on tasks, offline, online or both."""

# ruff: noqa: ARG001  the options are read from the context, see `options.asked`
from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena_core.errors import UsageError
from orchestrator.cli.runs import options as of

if TYPE_CHECKING:
    from orchestrator.analysis.run_report.run_report import RunReport
    from orchestrator.api.ray_runs import RayRuns
    from orchestrator.runs.spec import RunSpec

app = typer.Typer()


@app.command()
def evaluate(
    context: typer.Context,
    tasks: of.Tasks = None,
    config: Annotated[
        Path | None,
        typer.Option(
            help="YAML that says what to run, as `arena schema run` describes; options on the"
            " command line come first."
        ),
    ] = None,
    suite: of.Suite = "demo",
    agent: of.Agent = "oracle",
    agent_cmd: of.AgentCommand = None,
    agent_seconds: of.AgentSeconds = None,
    agent_option: of.AgentOption = None,
    offline: of.Offline = False,
    online: of.Online = False,
    staged: of.Staged = False,
    repeats: of.Repeats = 1,
    attempts: of.Attempts = 3,
    workers: of.Workers = None,
    spares: of.Spares = None,
    memory: of.Memory = None,
    strategy: of.Strategy = None,
    resolve: of.Resolve = None,
    vary: of.Vary = None,
    tape: of.Tape = None,
    canary: of.Canary = False,
    canary_age: of.CanaryAge = None,
    shard: of.Shard = None,
    ray: of.Ray = None,
    ray_shards: of.RayShards = None,
    ray_env: of.RayEnv = None,
    ray_send: of.RaySend = False,
    allow: of.Allow = None,
    model: of.Model = None,
    model_url: of.ModelUrl = None,
    model_deadline: of.ModelDeadline = None,
    temperature: of.Temperature = None,
    reasoning_effort: of.ReasoningEffort = None,
    max_completion_tokens: of.MaxCompletionTokens = None,
    seed: of.Seed = None,
    prices: of.Prices = None,
    replay: of.Replay = None,
    max_usd: of.MaxUsd = None,
    max_tokens: of.MaxTokens = None,
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
    out: of.Out = None,
    resume: Annotated[
        Path | None, typer.Option(help="Continue this run; nothing finished is repeated.")
    ] = None,
    again: Annotated[
        str | None,
        typer.Option(
            help="With --resume: also play again what is unscored for these reasons, such as"
            " internal,infra.",
        ),
    ] = None,
    screenshots: of.Screenshots = True,
    record_requests: of.RecordRequests = False,
    trace: of.Trace = False,
    browser: of.Browser = None,
    browser_declared: of.BrowserDeclared = None,
    headed: of.Headed = False,
    watch: of.Watch = False,
    yes: of.Yes = False,
    as_json: of.AsJson = False,
) -> None:
    """Run an agent on tasks, offline, online or both; score; write a report.

    Each worker has a browser of its own and, for each episode, replicas of its
    own of the sites that hold state. Ctrl-C once finishes the steps under way
    and stops; twice stops at once. arena eval --resume RUN then continues it, with
    as many workers as it began with or as you say.
    """
    from orchestrator.api.arena import Arena
    from orchestrator.cli.asynchronous import run
    from orchestrator.cli.console import Console
    from orchestrator.cli.runs.run_setup import judge_of, play
    from orchestrator.runs.agent_choice import named_agent
    from orchestrator.runs.spec import Changes, RunSpec

    if resume is not None:
        _refuse_beside_resume(context, {*Changes.__annotations__, *_BESIDE_RESUME})
    asked = of.asked(context)
    judge = judge_of(judge_model, judge_url, judge_votes, None if prices is None else str(prices))
    console = Console(as_json)
    terms = of.ray_terms(context)
    if terms is not None:
        spec = None
        if resume is None:
            spec = RunSpec.of(**asked) if config is None else RunSpec.read(config, asked)
        begin = _on_ray(context, spec, asked.get("options"), terms)
        run(play(lambda arena, _: begin(arena.ray), console, judge))
        return
    if resume is not None:
        changes = {name: asked[name] for name in Changes.__annotations__ if name in asked}
        options = asked.pop("options", {})

        def resumed(arena: Arena, stop: asyncio.Event) -> Awaitable[RunReport]:
            if (named := asked.get("shard")) is not None:
                _refuse_other_shard(resume, arena.runs.read_lock(resume).shard, named)
            return arena.runs.resume(
                resume,
                agent=None
                if agent_cmd is None
                else named_agent(_command(agent_cmd, agent_seconds)),
                options=options,
                headless=not headed,
                again=[one.strip() for one in (again or "").split(",") if one.strip()],
                yes=yes,
                stop=stop,
                **changes,
            )

        run(play(resumed, console, judge, watched=watch))
        return
    if again is not None:
        message = "--again has no effect without --resume"
        raise UsageError(message, hint="name the run: --resume RUN")
    spec = RunSpec.of(**asked) if config is None else RunSpec.read(config, asked)
    begun = partial(Arena.run, agent=spec, out=out, headless=not headed, yes=yes)
    run(play(lambda arena, stop: begun(arena, stop=stop), console, judge, watched=watch))


def _command(text: str, seconds: float | None) -> RunSpec:
    from orchestrator.runs.spec import RunSpec

    return RunSpec.of(command=text, seconds=seconds)


# Of the agent's options only secrets, which no lock holds, are given again.
_BESIDE_RESUME = {
    *("resume", "again", "yes", "agent_cmd", "agent_seconds", "agent_option", "headed", "watch"),
    *("judge_model", "judge_url", "judge_votes", "as_json", "verbose", "log_level"),
    *of.OF_RAY,
    "shard",  # the same one, so that a job that is started again may name it
}


def _on_ray(
    context: typer.Context,
    spec: RunSpec | None,
    secrets: Mapping[str, object] | None,
    terms: Mapping[str, Any],
) -> Callable[[RayRuns], Awaitable[RunReport]]:
    """Return what begins a run on a Ray cluster, or continues one where there is no spec."""
    typed = context.params
    how = {**terms, "yes": typed["yes"]}
    if spec is not None:
        return lambda on: on.run(spec, shards=typed["ray_shards"], out=typed["out"], **how)
    _refuse_changes(context)
    return lambda on: on.resume(typed["resume"], options=secrets, **how)


def _refuse_changes(context: typer.Context) -> None:
    """Refuse what would change a run on a cluster: it was cut and shared out."""
    from orchestrator.runs.spec import Changes

    for name in (
        "again",
        "agent_cmd",
        "agent_seconds",
        "ray_shards",
        "shard",
        *Changes.__annotations__,
    ):
        if name in of.given(context):
            message = f"--resume with --ray continues the run as it began: it takes no --{name}"
            raise UsageError(message.replace("_", "-"))


def _refuse_other_shard(run: Path, its: str | None, named: str) -> None:
    if named != its:
        what = "the whole of a run" if its is None else f"shard {its}"
        message = f"{run}: is {what}, and continues as that, not as shard {named}"
        raise UsageError(message, hint="omit --shard, or name another folder")


def _refuse_beside_resume(context: typer.Context, taken: set[str]) -> None:
    """Refuse options that say what to play: a run continues as its lock says."""
    refused = of.given(context).keys() - taken
    names = [max(one.opts, key=len) for one in context.command.params if one.name in refused]
    if names:
        raise UsageError(f"--resume continues the run as it began: it takes no {', '.join(names)}")
