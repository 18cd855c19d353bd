"""`arena build`: make the sites' images from their sources and seal them as golden."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, cast

import typer

from arena_core.errors import NotAllBuiltError
from orchestrator.cli.arena import in_live_arena
from orchestrator.cli.console import Column, Console, Json

if TYPE_CHECKING:
    from orchestrator.sandbox.images.build import BuildResult

app = typer.Typer()

_DIGEST_WIDTH = 12


@app.command()
def build(
    sites: Annotated[
        list[str] | None, typer.Argument(help="Sites, or `all`; default: all.")
    ] = None,
    suite: Annotated[
        str | None, typer.Option(help="Build the sites that this suite's tasks use.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Rebuild unchanged images too, without cached steps.")
    ] = False,
    staged: Annotated[
        bool, typer.Option("--staged", help="Also build the sites' staged live origins.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Build the sites' images and seal them as golden; unchanged images are kept."""
    console = Console(as_json)
    try:
        done = in_live_arena(
            console,
            lambda arena: arena.sites.build(sites or (), suite=suite, force=force, staged=staged),
        )
    except NotAllBuiltError as failed:
        show(console, cast("tuple[BuildResult, ...]", failed.results))
        raise
    show(console, done)


def show(console: Console, outcomes: Iterable[BuildResult]) -> None:
    """Print what happened to each image."""
    done = tuple(outcomes)
    columns = (
        Column("site"),
        Column("image"),
        Column("result"),
        Column("seconds", right=True),
        Column("MB", right=True),
        Column("golden"),
    )
    rows = [
        (
            outcome.recipe.label,
            outcome.recipe.image.tag,
            outcome.outcome.value,
            f"{outcome.seconds:.1f}",
            f"{outcome.size_bytes / 1e6:.0f}" if outcome.size_bytes else "",
            outcome.golden[:_DIGEST_WIDTH] if outcome.golden else "",
        )
        for outcome in done
    ]
    console.table(columns, rows, [as_document(outcome) for outcome in done])


def as_document(outcome: BuildResult) -> Json:
    return {
        "site": outcome.recipe.site.name,
        "staged": outcome.recipe.staged,
        "image": outcome.recipe.image.tag,
        "result": outcome.outcome.value,
        "seconds": round(outcome.seconds, 3),
        "size_bytes": outcome.size_bytes,
        "golden": outcome.golden,
    }
