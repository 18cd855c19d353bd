"""`arena doctor`: what is missing on this machine, and the command that mends it."""

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
    """Say what is missing on this machine and the command that mends it; exit 0 if nothing is."""
    console = Console(as_json)
    checks = run(_examine(console))
    missing = [check for check in checks if check.is_missing]
    console.table(
        (Column("check"), Column("state"), Column("found"), Column("mend it with")),
        [(check.name, check.state.value, check.found, check.mend) for check in checks],
        {
            "ok": not missing,
            "checks": [
                {"name": one.name, "state": one.state.value, "found": one.found, "mend": one.mend}
                for one in checks
            ],
        },
    )
    if missing:
        message = f"missing: {', '.join(check.name for check in missing)}"
        raise PrerequisiteError(message)


async def _examine(console: Console) -> tuple[DoctorCheck, ...]:
    from orchestrator.cli.progress import arena_for

    async with arena_for(console) as arena:
        return await arena.doctor()
