"""`arena down`: remove every container of Arena."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.asynchronous import run
from orchestrator.cli.console import Console

app = typer.Typer()

_OTHERS_S = 30.0


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
    from arena_core.errors import UsageError

    if slot is not None and owner not in {None, "up"}:
        message = f"--slot {slot} is one of `arena up`, not of --owner {owner}"
        raise UsageError(message)
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
    from orchestrator.engine.engine import Engine
    from orchestrator.operations.command_lock import command_lock
    from orchestrator.operations.inventory import remove_slot
    from orchestrator.pool.slot_pool import UP

    async with (
        await Engine.connect() as engine,
        command_lock(owner or UP, console.note, wait_s=_OTHERS_S, insist=False),
    ):
        if slot is not None:
            return await remove_slot(engine, slot)
        return await engine.sweep(owner)
