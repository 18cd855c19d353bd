"""`arena doctor`: what is missing on this machine, and how to fix it."""

from __future__ import annotations

from typing import Annotated

import typer

from arena_core.errors import PrerequisiteError
from orchestrator.cli.arena import in_arena
from orchestrator.cli.console import Column, Console

app = typer.Typer()


@app.command()
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Check your setup and print how to fix it; exit 0 if nothing is missing."""
    console = Console(as_json)
    checks = in_arena(console, lambda arena: arena.doctor())
    missing = [check for check in checks if check.is_missing]
    console.table(
        (Column("check"), Column("state"), Column("found"), Column("how to fix it")),
        [(check.name, check.state.value, check.found, check.hint) for check in checks],
        {
            "ok": not missing,
            "checks": [
                {"name": one.name, "state": one.state.value, "found": one.found, "hint": one.hint}
                for one in checks
            ],
        },
    )
    if missing:
        raise PrerequisiteError(f"missing: {', '.join(check.name for check in missing)}")
