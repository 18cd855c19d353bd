"""`arena leaderboard`: a static page of studies that verify."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from orchestrator.cli.arena import arena_for
from orchestrator.cli.console import Cell, Column, Console

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.analysis.studies.findings import StudyAnalysis

app = typer.Typer()

_COLUMNS: Final = (
    Column("agent"),
    Column("world"),
    Column("success", right=True),
    Column("interval", right=True),
    Column("scored", right=True),
)


@app.command()
def leaderboard(
    studies: Annotated[
        list[Path], typer.Argument(metavar="STUDY...", help="Folders of studies that verify.")
    ],
    out: Annotated[Path, typer.Option(help="Where the page goes: a folder of its own.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Write a static page of studies, with the evidence of each row beside it.

    Each study is verified first, as arena study verify does; where one does not
    verify, nothing is written, the message names it, and the exit code is 82.
    Agents share a table where suite, tasks and images were the same. The folder
    needs no server: copy it to any web space, or open index.html.

    Example: arena leaderboard arena-studies/* --out board
    """
    console = Console(as_json)
    found = arena_for(console).studies.leaderboard(studies, out)
    if as_json:
        console.json({"page": str(found.page), **found.document()})
    for board in () if as_json else found.boards:
        console.line(board.title)
        console.table(_COLUMNS, list(_rows(board)), None)
    console.note(f"leaderboard: {found.page}")


def _rows(board: StudyAnalysis) -> Iterable[list[Cell]]:
    from orchestrator.analysis.wording import interval, percent

    for one in board.cells:
        yield [
            one.cell.agent,
            one.world_label,
            percent(one.success),
            interval(one.clustered),
            f"{one.scored}/{one.episodes}",
        ]
