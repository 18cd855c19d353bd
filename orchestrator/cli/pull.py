"""`arena pull`: fetch the images that their manifests say are published."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.asynchronous import run
from orchestrator.cli.build import show
from orchestrator.cli.console import Console

if TYPE_CHECKING:
    from orchestrator.images.building import BuildResult
    from sites.manifest import Site

app = typer.Typer()


@app.command()
def pull(
    sites: Annotated[list[str] | None, typer.Argument(help="Sites; default: all.")] = None,
    staged: Annotated[
        bool, typer.Option("--staged", help="The staged live origins of the demo too.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Pull the images that their manifests say are published; name those that are built here."""
    from orchestrator.cli.known_sites import known_sites

    console = Console(as_json)
    chosen = known_sites().select(sites or ())
    show(console, run(_pull(console, chosen, staged=staged)))


async def _pull(
    console: Console, sites: Iterable[Site], *, staged: bool
) -> tuple[BuildResult, ...]:
    from orchestrator.delta.packing import pack_rows
    from orchestrator.engine.engine import Engine
    from orchestrator.images import pulling
    from orchestrator.reset.fingerprint import take_fingerprint

    async with await Engine.connect() as engine:
        return await pulling.pull(
            engine,
            sites,
            take=take_fingerprint,
            take_rows=pack_rows,
            staged=staged,
            on_line=console.note,
        )
