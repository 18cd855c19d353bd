"""`arena score`: score a finished run again from its evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena_core.names import counted
from orchestrator.cli.arena import arena_for
from orchestrator.cli.console import Column, Console, Json
from orchestrator.cli.runs import options as of

if TYPE_CHECKING:
    from orchestrator.runs.store.rescoring import ScoredEpisode
    from orchestrator.runs.store.scorer_reports import ScorerReport

app = typer.Typer()


@app.command()
def score(
    run: Annotated[Path, typer.Argument(help="The run's folder.")],
    suite: Annotated[
        str | None,
        typer.Option(help="Use this suite's checks instead of those kept with the run."),
    ] = None,
    scorer: Annotated[
        list[str] | None,
        typer.Option(
            help="Also as a benchmark's published code would, such as webarena; repeat for more.",
        ),
    ] = None,
    reading: of.Reading = None,
    processes: Annotated[
        int | None,
        typer.Option(min=1, help="How many processes work; by itself, a long run takes all cores."),
    ] = None,
    verdicts: Annotated[bool, typer.Option("--verdicts", help="Show every check.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Score a finished run again, without browser, containers or keys.

    Shows where an outcome differs from the recorded one, and where a scorer differs from the
    strict score. Exits with 80 if evidence cannot be read.

    Example: arena score arena-runs/A --scorer webarena --verdicts
    """
    from orchestrator.analysis.run_report.run_report import require_readable
    from orchestrator.analysis.wording import agent_note
    from orchestrator.cli.runs.terminal_report import scorer_lines

    console = Console(as_json)
    arena = arena_for(console)
    rows = arena.runs.score(run, suite, processes=processes)
    scorers = arena.runs.score_with(rows, dict.fromkeys((*(scorer or ()), *(reading or ()))))
    titles = ["world", "task", "outcome", "key nodes", *(one.name for one in scorers), "was"]
    console.table(
        [Column(title) for title in titles], _cells(rows, scorers), _document(rows, scorers)
    )
    if not as_json:
        for line in (*(_verdicts(rows) if verdicts else ()), *scorer_lines(scorers)):
            console.line(line)
    agent = arena.runs.read_lock(run).agent
    if note := agent_note(agent):
        console.note(f"the scores are of {agent.name}: {note}")
    unreadable = [row for row in rows if row.is_unreadable]
    for row in unreadable:
        console.warn(f"unreadable, so unscored: {row.key.world} {row.score.because}")
    read = [row for row in rows if not row.is_unreadable]
    changed = counted(sum(not row.is_same for row in read), "differs", "differ")
    scored = counted(len(read), "episode")
    console.note(f"{scored} scored, {changed} from what the run wrote down")
    require_readable(run, rows)


def _cells(rows: Sequence[ScoredEpisode], scorers: Sequence[ScorerReport]) -> Iterable[list[str]]:
    worths = [{one.scored.folder: one.worth for one in found.episodes} for found in scorers]
    for row in rows:
        yield [
            row.key.world,
            row.key.task,
            str(row.score.outcome),
            f"{row.score.key_nodes_met}/{row.score.key_nodes}",
            *(found.get(row.folder, "–") for found in worths),
            "" if row.is_same else row.was,
        ]


def _verdicts(rows: Iterable[ScoredEpisode]) -> Iterable[str]:
    for row in rows:
        for verdict in row.score.verdicts:
            yield (
                f"{row.key.world} {row.key.task} {verdict.check}:"
                f" {verdict.status} ({verdict.reason})"
            )


def _document(rows: Sequence[ScoredEpisode], scorers: Sequence[ScorerReport]) -> Json:
    from orchestrator.runs.store.scorer_reports import documents_by_folder

    if not scorers:
        return [row.document() for row in rows]
    found = documents_by_folder(scorers)
    return {
        "episodes": [{**row.document(), "scorers": found.get(row.folder, {})} for row in rows],
        "scorers": {one.name: one.document() for one in scorers},
    }
