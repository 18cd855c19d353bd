"""`arena merge`: make one run, or study, of the shards that several machines played."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from arena_core.names import counted
from orchestrator.cli.arena import arena_for
from orchestrator.cli.console import Console
from orchestrator.cli.runs import options as of

app = typer.Typer()
_OF_STUDIES: Final = "registration.json"


@app.command()
def merge(
    runs: Annotated[list[Path], typer.Argument(help="The folders of all shards, in any order.")],
    into: Annotated[Path, typer.Option(help="Folder of the whole run, which is not there yet.")],
    allow: Annotated[
        str | None,
        typer.Option(
            help="What may differ between shards, with commas: hardware, browser, images, packages,"
            " judgements. The lock keeps each difference.",
        ),
    ] = None,
    as_json: of.AsJson = False,
) -> None:
    """Make one run of all shards of a run, which arena eval --shard I/N played.

    So it does of what arena sample --shard played, and one study of what
    arena study run --shard played.

    The shards must be of one command, finished, and as they were saved. What
    differs between their machines is named and refused unless it is allowed. The
    result is a run like any other; the budget is that of all shards together. A
    merged run cannot be merged again.

    Example: arena merge shards/* --into arena-runs/whole
    """
    console = Console(as_json)
    names = [one.strip() for one in (allow or "").split(",") if one.strip()]
    if any((one / _OF_STUDIES).is_file() for one in runs):
        study = arena_for(console).studies.merge(runs, into, allow=names)
        if as_json:
            console.json(study.document())
            return
        console.line(f"{counted(len(runs), 'shard')}, {counted(study.done, 'trial')}: {study.path}")
        console.note(f"report: arena study report {study.path}")
        return
    merged = arena_for(console).merge(runs, into, allow=names)
    shards = () if merged.lock.merged is None else merged.lock.merged.shards
    differing = () if merged.lock.merged is None else merged.lock.merged.allowed
    if as_json:
        console.json(
            {
                "run": merged.lock.run,
                "folder": str(merged.path),
                "shards": [one.model_dump(mode="json") for one in shards],
                "trials": merged.trials,
                "attempts": merged.attempts,
                "allowed": [one.model_dump(mode="json") for one in differing],
            }
        )
        return
    console.line(
        f"{counted(len(shards), 'shard')}, {counted(merged.trials, 'trial')},"
        f" {counted(merged.attempts, 'attempt')}: {merged.path}"
    )
    for one in differing:
        said = ", ".join(f"{value} in {shard}" for shard, value in one.values.items())
        console.line(f"differs: {one.what}: {said}")
    console.note(f"report: arena report {merged.path}")
