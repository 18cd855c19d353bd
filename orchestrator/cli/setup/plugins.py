"""`arena plugins`: what is plugged in, by whom, and whether it can be used."""

from __future__ import annotations

from typing import Annotated

import typer

from arena_core.errors import PluginError
from orchestrator.cli.arena import arena_for
from orchestrator.cli.console import Column, Console

app = typer.Typer()


@app.command()
def plugins(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """List agents, locators, importers and other plug-ins, Arena's own and those of other packages.

    Imports each of them. Names a broken plug-in, or one whose name is taken, with its distribution,
    and exits with 13.
    """
    console = Console(as_json)
    found = arena_for(console).plugins()
    console.table(
        (Column("kind"), Column("name"), Column("from"), Column("is"), Column("state")),
        [
            (
                one.noun,
                one.plugin.name,
                f"{one.plugin.distribution} {one.plugin.version}",
                one.plugin.path,
                "broken" if one.fault else "ok",
            )
            for one in found
        ],
        [
            {
                "kind": one.noun,
                "group": one.plugin.group.value,
                "name": one.plugin.name,
                "distribution": one.plugin.distribution,
                "version": one.plugin.version,
                "path": one.plugin.path,
                "fault": one.fault or None,
            }
            for one in found
        ],
    )
    broken = [one for one in found if one.fault]
    for one in broken:
        console.warn(one.fault)
    if broken:
        names = ", ".join(f"{one.noun} '{one.plugin.name}'" for one in broken)
        message = f"{len(broken)} of {len(found)} plug-ins cannot be used: {names}"
        raise PluginError(message, hint=broken[0].hint)
