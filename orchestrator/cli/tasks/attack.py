"""`arena tasks attack`: a model tries to score without the work."""

# ruff: noqa: ARG001  the options are read from the context, see `options.asked`
from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from arena_core.names import counted
from orchestrator.cli.asynchronous import run
from orchestrator.cli.console import Cell, Column, Console
from orchestrator.cli.runs import options as of

if TYPE_CHECKING:
    import asyncio

    from orchestrator.analysis.run_report.run_report import RunReport
    from orchestrator.api.arena import Arena
    from orchestrator.runs.store.rescoring import ScoredEpisode


def attack(
    context: typer.Context,
    suite: Annotated[str, typer.Argument(help="A suite's name, or the path of its file.")],
    tasks: Annotated[
        list[str] | None, typer.Option("--task", help="Only these tasks (ids or patterns).")
    ] = None,
    sight: Annotated[
        bool, typer.Option(help="Show it the checks, without the values that they expect.")
    ] = False,
    offline: of.Offline = False,
    online: of.Online = False,
    staged: of.Staged = False,
    repeats: of.Repeats = 1,
    workers: of.Workers = None,
    model: of.Model = None,
    model_url: of.ModelUrl = None,
    temperature: of.Temperature = None,
    seed: of.Seed = None,
    prices: of.Prices = None,
    max_usd: of.MaxUsd = None,
    max_tokens: of.MaxTokens = None,
    out: of.Out = None,
    yes: of.Yes = False,
    as_json: of.AsJson = False,
) -> None:
    """Let a model try to score without the work; list the tasks that it scored on.

    It plays the agent `attacker`. Read each play that scored: where it met few key nodes in few
    steps, a check is too lax; where it did the work after all, there is no hole.

    Example: arena tasks attack my-suite.yaml --model my-model --sight
    """
    from orchestrator.cli.runs.run_setup import played
    from orchestrator.runs.spec import RunSpec

    asked = of.asked(context) | {"suite": suite, "agent": "attacker"}
    if sight:
        asked["options"] = {**asked.get("options", {}), "suite": suite}
    spec = RunSpec.of(**asked)
    console = Console(as_json)

    async def work(arena: Arena, stop: asyncio.Event) -> RunReport:
        return await arena.run(spec, out=out, yes=yes, stop=stop)

    _show(run(played(work, console)), console)


def _show(report: RunReport, console: Console) -> None:
    from orchestrator.analysis.run_report.run_report import require_sound

    scored = list(_scored(report))
    console.table(
        (
            Column("task"),
            Column("world"),
            Column("steps", right=True),
            Column("reference", right=True),
            Column("key nodes"),
            Column("how it ended"),
        ),
        [_row(one) for one in scored],
        {
            "run": str(report.folder.path),
            "played": sum(len(one) for row in report.rows for one in row.episodes.values()),
            "scored": [
                {
                    "task": one.task.id,
                    "world": one.key.world,
                    "repeat": one.key.repeat,
                    "steps": one.score.steps,
                    "key_nodes_met": one.score.key_nodes_met,
                    "key_nodes": one.score.key_nodes,
                }
                for one in scored
            ],
        },
    )
    episodes = counted(len(scored), "episode")
    console.note(f"{episodes} scored; read how: {report.folder.report_path}")
    require_sound(report)


def _scored(report: RunReport) -> Iterator[ScoredEpisode]:
    from evaluators.verdicts import OutcomeKind

    for row in report.rows:
        for episodes in row.episodes.values():
            for one in episodes:
                if one.score.outcome.kind is OutcomeKind.SUCCESS:
                    yield one


def _row(one: ScoredEpisode) -> tuple[Cell, ...]:
    nodes = f"{one.score.key_nodes_met} of {one.score.key_nodes}"
    reference = len(one.task.reference_actions) or "–"
    ended = one.outline.answer or one.outline.ended or ""
    return (one.task.id, one.key.world, one.score.steps, reference, nodes, ended)
