"""`arena pull`: fetch the images that their manifests say are published."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.asynchronous import run
from orchestrator.cli.build import show
from orchestrator.cli.console import Console

if TYPE_CHECKING:
    from orchestrator.images.building import BuildResult

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
    console = Console(as_json)
    show(console, run(_pull(console, sites or (), staged=staged)))


async def _pull(console: Console, names: Sequence[str], *, staged: bool) -> tuple[BuildResult, ...]:
    from orchestrator.cli.live import arena_with_progress

    async with arena_with_progress(console) as arena:
        return await arena.pull(names, staged=staged)
