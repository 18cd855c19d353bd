"""`arena down`: remove every container of Arena."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.asynchronous import run
from orchestrator.cli.console import Console

app = typer.Typer()


@app.command()
def down(
    owner: Annotated[
        str | None,
        typer.Option(help="Only those of this run, or of `up`; see the `for` of arena status."),
    ] = None,
    slot: Annotated[
        int | None, typer.Option(min=0, help="Only the replicas of this slot of `arena up`.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the names as JSON.")] = False,
) -> None:
    """Remove every container that Arena started, also what a dead run left behind.

    That ends runs of `arena eval` that are under way. Images and run folders
    stay. An arena up or arena reset under way is waited for, half a minute at
    most.
    """
    console = Console(as_json)
    removed = run(_down(console, owner, slot))
    if as_json:
        console.json({"removed": list(removed)})
        return
    if not removed:
        console.line("nothing to remove")
    for name in removed:
        console.line(f"removed {name}")


async def _down(console: Console, owner: str | None, slot: int | None) -> tuple[str, ...]:
    from orchestrator.cli.progress import arena_for

    async with arena_for(console) as arena:
        return await arena.down(owner=owner, slot=slot)
