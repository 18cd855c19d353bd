"""`arena status`: what runs, whether it serves, where, and how large it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.arena import in_arena
from orchestrator.cli.console import Column, Console, Json

if TYPE_CHECKING:
    from orchestrator.sandbox.inventory import ContainerStatus

app = typer.Typer()


@app.command()
def status(
    sites: Annotated[list[str] | None, typer.Argument(help="Sites; default: all.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Show every container of Arena: its owner, health, address and size.

    Checks health now, on the page that the site's manifest names. The last figure is what one more
    slot would need: the most ever measured for that image, or else its limit.
    """
    console = Console(as_json)
    found = in_arena(console, lambda arena: arena.sites.status(sites or ()))
    if not found and not as_json:
        console.note("nothing runs; `arena up` starts the sites")
        return
    columns = (
        Column("site"),
        Column("for"),
        Column("slot"),
        Column("state"),
        Column("health"),
        Column("URL for your browser"),
        Column("MB", right=True),
        Column("MB a slot", right=True),
        Column("container"),
    )
    console.table(columns, [_row(one) for one in found], [_document(one) for one in found])


def _row(one: ContainerStatus) -> tuple[str | None, ...]:
    return (
        f"{one.site} (staged live origin)" if one.kind == "staged" else one.site,
        one.owner,
        one.slot,
        one.container.state,
        one.health,
        f"http://{one.endpoint}/" if one.endpoint else "",
        "" if one.memory_bytes is None else f"{one.memory_bytes / 1e6:.0f}",
        "" if one.cost is None else f"{one.cost.size_bytes / 1e6:.0f} {one.cost.source}",
        one.container.name,
    )


def _document(one: ContainerStatus) -> Json:
    return {
        "site": one.site,
        "kind": one.kind,
        "owner": one.owner,
        "slot": one.slot,
        "state": one.container.state,
        "health": one.health,
        "url": f"http://{one.endpoint}/" if one.endpoint else None,
        "memory_bytes": one.memory_bytes,
        "slot_bytes": one.cost.size_bytes if one.cost else None,
        "slot_bytes_learned": one.cost.is_learned if one.cost else None,
        "container": one.container.name,
    }
