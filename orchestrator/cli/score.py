"""`arena score`: score a finished run again from its evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.console import Column, Console, Json

if TYPE_CHECKING:
    from orchestrator.store.reading_scores import RunReading
    from orchestrator.store.rescoring import ScoredTrial

app = typer.Typer()


@app.command()
def score(
    run: Annotated[Path, typer.Argument(help="The run's folder.")],
    suite: Annotated[
        str | None,
        typer.Option(help="Use these checks instead of those the run kept: a suite or its file."),
    ] = None,
    reading: Annotated[
        list[str] | None,
        typer.Option(
            help="Also as a benchmark's published code would, such as webarena; repeat for more.",
        ),
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option(min=1, help="How many processes work; by itself, a long run takes all cores."),
    ] = None,
    verdicts: Annotated[bool, typer.Option("--verdicts", help="Show every check.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Score a finished run again, without browser, containers or keys.

    Says where an outcome differs from what the run wrote down, and where a reading
    differs from the strict score.

    Example: arena score arena-runs/A --reading webarena --verdicts
    """
    from orchestrator.cli.progress import arena_for
    from orchestrator.cli.reading_lines import reading_lines
    from orchestrator.report.wording import agent_note

    console = Console(as_json)
    arena = arena_for(console)
    rows = arena.score(run, suite, processes=processes)
    readings = arena.score_readings(rows, dict.fromkeys(reading or ()))
    titles = ["world", "task", "outcome", "key nodes", *(one.name for one in readings), "was"]
    console.table(
        [Column(title) for title in titles], _cells(rows, readings), _document(rows, readings)
    )
    if not as_json:
        for line in (*(_verdicts(rows) if verdicts else ()), *reading_lines(readings)):
            console.line(line)
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


def _cells(rows: Sequence[ScoredTrial], readings: Sequence[RunReading]) -> Iterable[list[str]]:
    worths = [{one.scored.folder: one.worth for one in found.trials} for found in readings]
    for row in rows:
        yield [
            row.trial.world,
            row.trial.task,
            str(row.score.outcome),
            f"{row.score.key_nodes_met}/{row.score.key_nodes}",
            *(found.get(row.folder, "–") for found in worths),
            "" if row.is_same else row.was,
        ]


def _verdicts(rows: Iterable[ScoredTrial]) -> Iterable[str]:
    for row in rows:
        for verdict in row.score.verdicts:
            yield (
                f"{row.trial.world} {row.trial.task} {verdict.check}:"
                f" {verdict.status} ({verdict.reason})"
            )


def _document(rows: Sequence[ScoredTrial], readings: Sequence[RunReading]) -> Json:
    from orchestrator.store.reading_scores import documents_by_folder

    if not readings:
        return [row.document() for row in rows]
    found = documents_by_folder(readings)
    return {
        "episodes": [{**row.document(), "readings": found.get(row.folder, {})} for row in rows],
        "readings": {one.name: one.document() for one in readings},
    }
