"""`arena pull`: fetch the images that their manifests say are published."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from arena_core.errors import ImageError
from orchestrator.cli.arena import in_live_arena
from orchestrator.cli.console import Console
from orchestrator.cli.setup.build import show

if TYPE_CHECKING:
    from orchestrator.sandbox.images.recipes import Recipe

app = typer.Typer()

_COMMANDS = 10  # more are no next step


@app.command()
def pull(
    sites: Annotated[list[str] | None, typer.Argument(help="Sites; default: all.")] = None,
    staged: Annotated[
        bool, typer.Option("--staged", help="Also pull the demo's staged live origins.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Pull the sites' images that are published, and name those that are not.

    Exits with 20 if an image is neither published nor on this machine.
    """
    from orchestrator.sandbox.images.build import BuildOutcome

    console = Console(as_json)
    results = in_live_arena(console, lambda arena: arena.sites.pull(sites or (), staged=staged))
    show(console, results)
    absent = [one.recipe for one in results if one.outcome is BuildOutcome.ABSENT]
    if absent:
        message = f"no registry has these, and they are not here: {_labels(absent)}"
        commands = "; ".join(one.command for one in absent[:_COMMANDS])
        raise ImageError(message, hint=commands)


def _labels(recipes: Sequence[Recipe]) -> str:
    return ", ".join(one.label for one in recipes)
