"""`arena schema`: the JSON Schema of a file that you write, or that a run leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arena_core.errors import StoreError
from orchestrator.cli.arena import arena_for
from orchestrator.cli.console import Console

app = typer.Typer()


@app.command()
def schema(
    kind: Annotated[
        str, typer.Argument(help="suite, site (manifest), run, study, evidence or lock.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="Write the schema to this file instead of printing it.")
    ] = None,
) -> None:
    """Print a JSON Schema that includes the locators, matchers and importers installed here.

    Editors complete by it if the first line of your suite or manifest is # yaml-language-server:
    $schema=suite.schema.json
    """
    console = Console()
    text = arena_for(console).schema(kind)
    if out is None:
        console.line(text.rstrip())
        return
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as cause:
        raise StoreError(f"{out}: the schema cannot be written: {cause.strerror}") from cause
    console.line(str(out))
