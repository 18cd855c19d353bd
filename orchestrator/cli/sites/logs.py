"""`arena logs`: a site's log."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.arena import arena_for
from orchestrator.cli.asynchronous import run
from orchestrator.cli.console import Console

app = typer.Typer()


@app.command()
def logs(
    site: Annotated[str, typer.Argument(help="The site.")],
    slot: Annotated[
        int | None, typer.Option(min=0, help="The slot of `arena up`; default: the first.")
    ] = None,
    follow: Annotated[
        bool,
        typer.Option("--follow", "-f", help="Follow the log until the container ends or Ctrl-C."),
    ] = False,
    tail: Annotated[
        int, typer.Option(min=1, help="How many of the last lines to show first.")
    ] = 100,
) -> None:
    """Show a container's log.

    Shows the container of `arena up`, or else any other of that site. A container that has exited
    is shown too, unless it was removed.
    """
    run(_logs(site, slot, follow=follow, tail=tail))


async def _logs(name: str, slot: int | None, *, follow: bool, tail: int) -> None:

    console = Console()
    async with arena_for(console) as arena:
        container = await arena.sites.container(name, slot=slot)
        console.note(f"{container.name} is {container.state}")
        if follow:
            async for line in arena.sites.follow_logs(name, slot=slot, tail=tail):
                console.line(line)
            return
        for line in await arena.sites.logs(name, slot=slot, tail=tail):
            console.line(line)
