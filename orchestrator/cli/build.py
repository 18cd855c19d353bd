"""`arena build`: make the sites' images from their sources and seal them as golden."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.asynchronous import run
from orchestrator.cli.console import Column, Console, Json

if TYPE_CHECKING:
    from orchestrator.images.building import BuildResult
    from sites.atlas import Atlas
    from sites.manifest import Site

app = typer.Typer()

_DIGEST_WIDTH = 12


@app.command()
def build(
    sites: Annotated[
        list[str] | None, typer.Argument(help="Sites, or `all`; default: all.")
    ] = None,
    suite: Annotated[
        str | None, typer.Option(help="The sites that this suite's tasks play on.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Build what is unchanged too, without cached steps.")
    ] = False,
    staged: Annotated[
        bool, typer.Option("--staged", help="Build the sites' staged live origins too.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Build the sites' images and seal them as golden; what is unchanged is left alone."""
    from orchestrator.cli.known_sites import known_sites
    from orchestrator.cli.site_selection import choose_sites

    console = Console(as_json)
    atlas = known_sites()
    chosen = choose_sites(atlas, sites or (), suite, otherwise=None)
    show(console, run(_build(console, atlas, chosen, staged=staged, force=force)))


async def _build(
    console: Console, atlas: Atlas, sites: Iterable[Site], *, staged: bool, force: bool
) -> tuple[BuildResult, ...]:
    from orchestrator.delta.packing import pack_rows
    from orchestrator.engine.engine import Engine
    from orchestrator.images import building
    from orchestrator.reset.fingerprint import take_fingerprint

    async with await Engine.connect() as engine:
        return await building.build(
            engine,
            atlas,
            sites,
            take=take_fingerprint,
            take_rows=pack_rows,
            staged=staged,
            force=force,
            on_line=console.note,
        )


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
    console.table(columns, rows, [_as_json(outcome) for outcome in done])


def _as_json(outcome: BuildResult) -> Json:
    return {
        "site": outcome.recipe.site.name,
        "staged": outcome.recipe.staged,
        "image": outcome.recipe.image.tag,
        "result": outcome.outcome.value,
        "seconds": round(outcome.seconds, 3),
        "size_bytes": outcome.size_bytes,
        "golden": outcome.golden,
    }
