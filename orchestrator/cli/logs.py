"""`arena logs`: a site's log."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.asynchronous import run
from orchestrator.cli.console import Console

app = typer.Typer()


@app.command()
def logs(
    site: Annotated[str, typer.Argument(help="The site.")],
    slot: Annotated[
        int | None, typer.Option(min=0, help="Of which slot of `arena up`; default: the first.")
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on until the container ends or Ctrl-C.")
    ] = False,
    tail: Annotated[int, typer.Option(min=1, help="How many last lines to begin with.")] = 100,
) -> None:
    """Show what a site's container wrote.

    It is the container of `arena up`, else any other of that site. One that has
    exited is shown too, as long as it was not removed.
    """
    run(_logs(site, slot, follow=follow, tail=tail))


async def _logs(name: str, slot: int | None, *, follow: bool, tail: int) -> None:
    from arena_core.errors import SiteGoneError
    from orchestrator.cli.known_sites import known_sites
    from orchestrator.engine.engine import Engine
    from orchestrator.operations.inventory import containers_of

    console = Console()
    async with await Engine.connect() as engine:
        found = await containers_of(engine, known_sites().site(name), slot)
        if not found:
            where = "" if slot is None else f" in slot {slot}"
            message = f"site '{name}' has no container{where}"
            raise SiteGoneError(message, hint=f"arena up {name}")
        container = found[0]
        console.note(f"{container.name} is {container.state}")
        if follow:
            async for line in engine.follow_logs(container.id, tail):
                console.line(line)
            return
        for line in (await engine.logs(container.id, tail)).splitlines():
            console.line(line)
