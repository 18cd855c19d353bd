"""`arena load`: a site's image out of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.arena import in_live_arena
from orchestrator.cli.console import Console
from orchestrator.cli.setup.build import show

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
    show(console, (in_live_arena(console, lambda arena: arena.sites.load(site, file)),))
