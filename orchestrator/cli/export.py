"""`arena export`: write a run for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.console import Console

app = typer.Typer()


@app.command()
def export(
    run: Annotated[Path, typer.Argument(help="The run's folder.")],
    form: Annotated[
        str, typer.Option("--as", help="jsonl, or the name of an installed exporter.")
    ] = "jsonl",
    out: Annotated[
        Path | None, typer.Option(help="The file; default: export.SUFFIX in the run's folder.")
    ] = None,
) -> None:
    """Write a run's scores for other programs; jsonl has one episode a line."""
    from orchestrator.cli.progress import arena_for

    console = Console()
    arena = arena_for(console)
    console.line(str(arena.export(arena.read_run(run), form, out)))
