"""`arena study`: register a study, play it, see how far it is, add to it, verify it."""

# ruff: noqa: ARG001  options of `run` are read from the context, see `options.given`
from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena_core.errors import UsageError
from arena_core.names import counted
from orchestrator.cli.analysis.study_lines import (
    SECONDS_WITH_WAITING,
    show_answers,
    show_plan,
    show_verification,
    workers_told,
)
from orchestrator.cli.arena import arena_for, in_live_arena
from orchestrator.cli.asynchronous import run as run_async
from orchestrator.cli.console import Cell, Column, Console
from orchestrator.cli.runs import options as of

if TYPE_CHECKING:
    from orchestrator.analysis.studies.progress import StudyProgress
    from orchestrator.api.arena import Arena

app = typer.Typer(no_args_is_help=True, help="Compare agents and worlds, registered beforehand.")

_FOLDER = Annotated[Path, typer.Argument(help="The study's folder.")]
_JSON = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
_MINUTE_S = 60
_HOUR_S = 3600


@app.command()
def run(
    context: typer.Context,
    study: Annotated[Path, typer.Argument(help="A study's file, or its folder to continue it.")],
    out: Annotated[
        Path | None, typer.Option(help="Its folder; default: arena-studies/NAME.")
    ] = None,
    register: Annotated[
        bool, typer.Option("--register", help="Register it, and play nothing yet.")
    ] = False,
    agent_option: Annotated[
        list[str] | None,
        typer.Option(help="LABEL.key=value: a secret of an agent, which stands in no file."),
    ] = None,
    shard: of.Shard = None,
    ray: of.Ray = None,
    ray_shards: of.RayShards = None,
    ray_env: of.RayEnv = None,
    ray_send: of.RaySend = False,
    allow: of.Allow = None,
    workers: of.Workers = None,
    spares: of.Spares = None,
    memory: of.Memory = None,
    strategy: of.Strategy = None,
    headed: of.Headed = False,
    watch: of.Watch = False,
    as_json: _JSON = False,
) -> None:
    """Register a study and play it, or continue one.

    What the file says is registered before anything is played, with its digest;
    a file that was changed since is refused. Episodes of all agents, suites and
    worlds take turns. Ctrl-C once finishes the steps under way and stops; twice
    stops at once. The same command continues it, also after a kill.

    Example: arena study run study.yaml --workers 2
    """
    from orchestrator.cli.runs.run_setup import played
    from orchestrator.runs.spec import Pace

    typed = of.given(context)
    changes = {name: typed[name] for name in Pace.__annotations__ if name in typed}
    console = Console(as_json)
    secrets = _secrets(agent_option or ())
    terms = of.ray_terms(context)
    if terms is not None:
        _refuse_beside_ray(typed)

    def play(arena: Arena, stop: asyncio.Event) -> Awaitable[StudyProgress]:
        if terms is not None:
            return arena.ray.study(
                study, shards=ray_shards, out=out, options=secrets, **terms, **changes
            )
        return arena.studies.run(
            study,
            out=out,
            options=secrets,
            register_only=register,
            shard=shard,
            headless=not headed,
            stop=stop,
            **changes,
        )

    progress = run_async(played(play, console, watched=watch))
    _show(progress, console)
    if register:
        console.note(
            f"registered; publish the digest before you play: {progress.registered};"
            f" then: arena study run {progress.path}"
        )
    elif progress.done == progress.total:
        todo = "study report" if shard is None else "merge"
        console.note(f"done; arena {todo} {progress.path}")


def _refuse_beside_ray(typed: Mapping[str, object]) -> None:
    """Refuse what has no effect on nodes, or cuts the study in another way."""
    for name in ("register", "shard", "watch"):
        if name in typed:
            raise UsageError(f"--{name} has no effect with --ray")


@app.command()
def plan(
    study: Annotated[Path, typer.Argument(help="A study's file, or its folder.")],
    pilot: Annotated[
        list[Path] | None,
        typer.Option(help="A run or study to reckon from; default: those in arena-runs."),
    ] = None,
    difference: Annotated[
        float | None, typer.Option(help="One that you want to find: 0.1 is ten points.")
    ] = None,
    as_json: _JSON = False,
) -> None:
    """Reckon what a study takes, which differences it can find and which margins show.

    Hours and dollars come from past episodes of the same agents on the same
    tasks; where there are none, they are unknown. Nothing is started.

    Example: arena study plan study.yaml --difference 0.1
    """
    console = Console(as_json)
    show_plan(arena_for(console).studies.plan(study, pilot or (), difference=difference), console)


@app.command()
def report(study: _FOLDER, as_json: _JSON = False) -> None:
    """Answer the study's questions, and write the page, figures and tables.

    They go into its folder: report/index.html and report/figures. A study that
    is not done is reported as far as it is, and nothing is decided of it, unless
    it registered a sequential design: then each report is a look, and is counted.

    Example: arena study report arena-studies/oracles
    """
    console = Console(as_json)
    show_answers(arena_for(console).studies.report(study), console)


@app.command()
def add(
    study: _FOLDER,
    file: Annotated[
        Path | None, typer.Argument(help="YAML with further agents, questions, repeats, budget.")
    ] = None,
    repeats: Annotated[
        int | None, typer.Option(min=1, help="How often each task is played from now on, in all.")
    ] = None,
    played: Annotated[
        list[str] | None,
        typer.Option("--run", help="LABEL=RUN: a run that was played already, as an agent."),
    ] = None,
    max_usd: Annotated[
        float | None, typer.Option(min=0, help="What the study may spend, in all.")
    ] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="The same in tokens.")] = None,
    agent_option: Annotated[
        list[str] | None, typer.Option(help="LABEL.key=value: a secret of a new agent.")
    ] = None,
    as_json: _JSON = False,
) -> None:
    """Add repeats, agents, questions or budget to a registered study.

    What was registered stays as it was; reports tell what came later apart.
    arena study run plays what was added.

    Example: arena study add arena-studies/oracles --repeats 5
    """
    runs: dict[str, Path | str] = {}
    for text in played or ():
        label, equals, folder = text.partition("=")
        if not (equals and label and folder) or label in runs:
            message = f"--run {text!r} is not of the form LABEL=RUN, with a label of its own"
            raise UsageError(message)
        runs[label] = folder
    console = Console(as_json)
    options = _secrets(agent_option or ())
    progress = in_live_arena(
        console,
        lambda arena: arena.studies.add(
            study,
            file,
            repeats=repeats,
            runs=runs,
            max_usd=max_usd,
            max_tokens=max_tokens,
            options=options,
        ),
    )
    _show(progress, console)
    console.note(f"added; arena study run {progress.path}")


@app.command()
def verify(
    study: _FOLDER,
    registered: Annotated[
        str | None, typer.Option(help="The digest that --register printed, as it was published.")
    ] = None,
    head: Annotated[
        str | None,
        typer.Option(help="A head that was published, the last or an earlier one."),
    ] = None,
    as_json: _JSON = False,
) -> None:
    """Check a study's folder against its own records; needs no Docker, browser or key.

    The registration and its additions, seals, locks and ledgers of all runs, the
    digest of each attempt's evidence; every episode is scored again, and the
    report made again. Says what differs, by file and episode, and which agent's
    episodes are missing, and exits with 82 then.

    Example: arena study verify their-study --registered 3abce794d812
    """
    console = Console(as_json)
    found = arena_for(console).studies.verify(study, registered=registered, head=head)
    show_verification(found, console)


@app.command()
def status(study: _FOLDER, as_json: _JSON = False) -> None:
    """Show how far a study is: progress, time left, cost so far.

    Reads the ledgers alone, also while the study is played.

    Example: arena study status arena-studies/oracles
    """
    from orchestrator.analysis.studies.progress import read_progress

    console = Console(as_json)
    _show(read_progress(study), console)


def _show(progress: StudyProgress, console: Console) -> None:
    if console.as_json:
        console.json(progress.document())
        return
    columns = (
        Column("agent"),
        Column("suite"),
        Column("world"),
        Column("done", right=True),
        Column("success", right=True),
        Column("unscored", right=True),
        Column(SECONDS_WITH_WAITING, right=True),
    )
    rows: list[list[Cell]] = [
        [
            cell.agent if cell.registered else f"{cell.agent} (added)",
            cell.suite,
            cell.world,
            f"{cell.done}/{cell.total}",
            cell.succeeded,
            cell.unscored,
            f"{cell.seconds / cell.timed:.1f}" if cell.timed else "–",
        ]
        for cell in progress.cells
    ]
    console.table(columns, rows, None)
    for line in _lines(progress):
        console.line(line)


def _lines(progress: StudyProgress) -> Iterable[str]:
    state = "is played now" if progress.is_running else "is not played now"
    if progress.done == progress.total:
        state = "is done"
    episodes = counted(progress.total, "episode")
    yield f"{progress.name}: {progress.done} of {episodes}; it {state}"
    left = progress.seconds_left
    if progress.done < progress.total:
        told = "unknown" if left is None else duration(left)
        yield f"time left: {told}, with {workers_told(progress.workers)}"
    if progress.tokens or progress.max_usd is not None or progress.max_tokens is not None:
        of_usd = "" if progress.max_usd is None else f" of ${progress.max_usd:g}"
        of_tokens = "" if progress.max_tokens is None else f" of {progress.max_tokens:,}"
        least = "at least " if progress.unpriced else ""
        yield f"cost: {least}${progress.usd:.4f}{of_usd}, {progress.tokens:,} tokens{of_tokens}"
    if progress.amendments:
        yield f"additions after it was registered: {progress.amendments}"
    yield f"registered: {progress.registered}"
    if progress.head is not None:
        yield f"head: {progress.head}"


def duration(seconds: float) -> str:
    """Return seconds in words, as rough as they are known."""
    if seconds < _MINUTE_S:
        return f"{seconds:.0f} s"
    if seconds < _HOUR_S:
        return f"{seconds / _MINUTE_S:.0f} min"
    return f"{seconds / _HOUR_S:.1f} h"


def _secrets(given: Sequence[str]) -> dict[str, dict[str, str]]:
    """Read `LABEL.key=value` texts."""
    found: dict[str, dict[str, str]] = {}
    for text in given:
        name, equals, value = text.partition("=")
        label, dot, key = name.partition(".")
        if not (equals and dot and label and key):
            raise UsageError(f"--agent-option {name!r} is not of the form LABEL.key=value")
        found.setdefault(label, {})[key.replace("-", "_")] = value
    return found
