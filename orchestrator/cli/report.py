"""`arena report`: show a run side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.console import Console

app = typer.Typer()


@app.command()
def report(
    run: Annotated[Path, typer.Argument(help="The run's folder.")],
    html: Annotated[
        Path | None, typer.Option(help="Where the HTML file goes; default: in the run's folder.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Show a run in the terminal, and write it as one self-contained HTML file."""
    from orchestrator.cli.terminal_report import show_run
    from orchestrator.report.html import write_html
    from orchestrator.report.run_report import read_run
    from orchestrator.store.run_folder import RunFolder

    console = Console(as_json)
    folder = RunFolder.open(run)
    found = read_run(folder)
    target = html or folder.report_path
    write_html(found, target)
    show_run(found, console)
    console.note(f"report: {target}")
