"""`arena load`: a site's image out of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.asynchronous import run
from orchestrator.cli.build import show
from orchestrator.cli.console import Console

if TYPE_CHECKING:
    from orchestrator.images.building import BuildResult

app = typer.Typer()


@app.command()
def load(
    site: Annotated[str, typer.Argument(help="The site whose image it is.")],
    file: Annotated[Path, typer.Argument(help="What `docker save` wrote, packed or not.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Load a site's image from a file, run the manifest's `bake`, and seal it.

    This is how images come that no registry has, such as WebArena's original ones.
    """
    console = Console(as_json)
    show(console, (run(_load(console, site, file)),))


async def _load(console: Console, site: str, file: Path) -> BuildResult:
    from orchestrator.cli.live import arena_with_progress

    async with arena_with_progress(console) as arena:
        return await arena.load(site, file)
