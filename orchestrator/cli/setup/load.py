"""`arena load`: a site's image out of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.asynchronous import run
from orchestrator.cli.console import Console
from orchestrator.cli.setup.build import show

if TYPE_CHECKING:
    from orchestrator.sandbox.images.build import BuildResult

app = typer.Typer()


@app.command()
def load(
    site: Annotated[str, typer.Argument(help="The site whose image it is.")],
    file: Annotated[
        Path, typer.Argument(help="A file written by `docker save`, compressed or not.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Load a site's image from a file, run the manifest's `bake`, and seal it.

    Use this for images that no registry has, such as WebArena's original ones.
    """
    console = Console(as_json)
    show(console, (run(_load(console, site, file)),))


async def _load(console: Console, site: str, file: Path) -> BuildResult:
    from orchestrator.cli.runs.live import arena_with_progress

    async with arena_with_progress(console) as arena:
        return await arena.sites.load(site, file)
