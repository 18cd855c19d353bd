"""`arena score`: score a finished run again from its evidence."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.console import Column, Console

app = typer.Typer()


@app.command()
def score(
    run: Annotated[Path, typer.Argument(help="The run's folder.")],
    suite: Annotated[
        str | None,
        typer.Option(help="Use these checks instead of those the run kept: a suite or its file."),
    ] = None,
    verdicts: Annotated[bool, typer.Option("--verdicts", help="Show every check.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Score a finished run again, without browser, containers or keys.

    Says where an outcome differs from what the run wrote down.
    """
    from orchestrator.cli.progress import arena_for
    from orchestrator.report.wording import agent_note

    console = Console(as_json)
    arena = arena_for(console)
    rows = arena.score(run, suite)
    columns = [
        Column("world"),
        Column("task"),
        Column("outcome"),
        Column("key nodes"),
        Column("was"),
    ]
    console.table(
        columns,
        [
            (
                row.trial.world,
                row.trial.task,
                str(row.score.outcome),
                f"{row.score.key_nodes_met}/{row.score.key_nodes}",
                "" if row.is_same else row.was,
            )
            for row in rows
        ],
        [row.document() for row in rows],
    )
    if verdicts and not as_json:
        for row in rows:
            for verdict in row.score.verdicts:
                console.line(
                    f"{row.trial.world} {row.trial.task} {verdict.check}:"
                    f" {verdict.status} ({verdict.reason})"
                )
    agent = arena.read_lock(run).agent
    if note := agent_note(agent):
        console.note(f"the scores are of {agent.name}: {note}")
    unreadable = [row for row in rows if row.is_unreadable]
    for row in unreadable:
        console.warn(f"unreadable, so unscored: {row.trial.world} {row.score.because}")
    if unreadable:
        console.warn(f"what cannot be read is played again by arena eval --resume {run}")
    changed = sum(not row.is_same for row in rows)
    console.note(f"{len(rows)} episodes scored, {changed} differ from what the run wrote down")
