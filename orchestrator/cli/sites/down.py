"""`arena down`: remove every container of Arena."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.arena import in_arena
from orchestrator.cli.console import Console

app = typer.Typer()


@app.command()
def down(
    sites: Annotated[
        list[str] | None,
        typer.Argument(help="Only these sites' replicas of `arena up`; default: everything."),
    ] = None,
    owner: Annotated[
        str | None,
        typer.Option(
            help="Only those of this run, or of `up`, as the `for` column of arena status names it."
        ),
    ] = None,
    slot: Annotated[
        int | None, typer.Option(min=0, help="Only the replicas of this slot of `arena up`.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the names as JSON.")] = False,
) -> None:
    """Remove every container that Arena started, including those of dead runs.

    This ends runs of `arena eval` that are under way. Images and run folders stay. Waits up to half
    a minute for an `arena up` or `arena reset` that is under way.

    Example: arena down shop
    """
    console = Console(as_json)
    removed = in_arena(console, lambda arena: arena.sites.down(sites or (), owner=owner, slot=slot))
    if as_json:
        console.json({"removed": list(removed)})
        return
    if not removed:
        console.line("nothing to remove")
    for name in removed:
        console.line(f"removed {name}")
