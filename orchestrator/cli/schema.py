"""`arena schema`: the JSON Schema of a suite, a manifest, a study, a run's evidence or its lock."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arena_core.errors import StoreError
from orchestrator.cli.console import Console
from orchestrator.schemas.kinds import SchemaKind

app = typer.Typer()


@app.command()
def schema(
    kind: Annotated[
        SchemaKind, typer.Argument(help="suite, site (a manifest), study, evidence or lock.")
    ],
    out: Annotated[Path | None, typer.Option(help="Write it there instead of printing it.")] = None,
) -> None:
    """Print a JSON Schema, with the locators, matchers and importers installed here.

    Editors complete by it: a first line in your suite or manifest names it,
    # yaml-language-server: $schema=suite.schema.json
    """
    from orchestrator.cli.progress import arena_for

    console = Console()
    text = arena_for(console).schema(kind)
    if out is None:
        console.line(text.rstrip())
        return
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as cause:
        message = f"{out}: the schema cannot be written: {cause.strerror}"
        raise StoreError(message) from cause
    console.line(str(out))
