"""`arena doctor`: what is missing on this machine, and how to fix it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from arena_core.errors import PrerequisiteError
from orchestrator.cli.asynchronous import run
from orchestrator.cli.console import Column, Console

if TYPE_CHECKING:
    from orchestrator.api.doctor import DoctorCheck

app = typer.Typer()


@app.command()
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Check your setup and print how to fix it; exit 0 if nothing is missing."""
    console = Console(as_json)
    checks = run(_examine(console))
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


async def _examine(console: Console) -> tuple[DoctorCheck, ...]:
    from orchestrator.cli.progress import arena_for

    async with arena_for(console) as arena:
        return await arena.doctor()
