"""`arena report`: show a run side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.arena import arena_for
from orchestrator.cli.console import Console

app = typer.Typer()


@app.command()
def report(
    run: Annotated[Path, typer.Argument(help="The run's folder.")],
    out: Annotated[
        Path | None,
        typer.Option("--html", "--out", help="Where the file goes; default: in the run's folder."),
    ] = None,
    form: Annotated[
        str, typer.Option("--as", help="html, or the name of an installed report.")
    ] = "html",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Show a run in the terminal, and write it as one self-contained HTML file.

    Exits with 80 if some evidence cannot be read; the report says which.
    """
    from orchestrator.analysis.run_report.run_report import require_readable
    from orchestrator.cli.runs.terminal_report import show_run

    console = Console(as_json)
    arena = arena_for(console)
    found = arena.runs.read(run)
    target = arena.runs.report(found, out, form=form)
    show_run(found, console)
    console.note(f"report: {target}")
    require_readable(run, found.episodes)
