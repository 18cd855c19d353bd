"""`arena state`: saves the states of running sites under a name, and brings sites back to them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.arena import arena_for, in_arena, in_live_arena
from orchestrator.cli.console import Column, Console

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.sandbox.standing_sites import SiteReset
    from orchestrator.sandbox.states.store import NamedState

app = typer.Typer()

_DIGEST_WIDTH = 12

_Name = Annotated[str, typer.Argument(help="The state's name.")]
_Slot = Annotated[int, typer.Option(min=0, help="The slot, if `arena up` started several.")]
_Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
_Replace = Annotated[bool, typer.Option("--replace", help="Overwrite a state of that name.")]


@app.callback()
def _state() -> None:
    """Save the states of running sites, and go back to them later, with a proof."""


@app.command()
def save(
    name: _Name,
    sites: Annotated[
        list[str] | None,
        typer.Argument(help="Sites; default: all that are up and hold state."),
    ] = None,
    slot: _Slot = 0,
    replace: _Replace = False,
    as_json: _Json = False,
) -> None:
    """Take the states of running sites, and keep them under a name.

    Database, files and the site's clock are part of a state. The site's processes stand still for
    some 50 ms; nothing is restarted. The file is small: it has only what differs from the image.
    """
    console = Console(as_json)
    saved = in_live_arena(
        console, lambda arena: arena.states.save(name, sites or (), slot=slot, replace=replace)
    )
    _show(console, (saved,))


@app.command()
def restore(name: _Name, slot: _Slot = 0, as_json: _Json = False) -> None:
    """Bring running sites back to a state, and prove it.

    The sites must run the same images as when the state was saved. After that, the whole state is
    compared with the one that was saved. `arena reset` leads back to golden.
    """
    console = Console(as_json)
    outcome = in_live_arena(
        console, lambda arena: arena.states.restore(name, slot=slot, check=False)
    )
    _show_restored(console, name, outcome.done)
    if outcome.failures:
        for failure in outcome.failures[1:]:
            console.warn(f"arena: {failure.message}")
        raise outcome.failures[0]


@app.command("list")
def list_states(as_json: _Json = False) -> None:
    """List the states that are kept on this machine."""
    console = Console(as_json)
    found = arena_for(console).states.list()
    if not found:
        console.note("no states yet; `arena state save NAME` takes one")
    _show(console, found)


@app.command()
def diff(
    name: _Name,
    other: Annotated[
        str | None, typer.Argument(help="Another state; default: the images' golden states.")
    ] = None,
    as_json: _Json = False,
) -> None:
    """Show in what a state differs from golden or from another state."""
    console = Console(as_json)
    found = in_arena(console, lambda arena: arena.states.diff(name, other))
    if as_json:
        console.json({site: list(lines) for site, lines in found.items()})
        return
    for site, lines in found.items():
        for line in lines or ("no difference",):
            console.line(f"{site}: {line}")


@app.command()
def export(
    name: _Name,
    path: Annotated[
        Path | None, typer.Argument(help="The file; default: NAME.arena-state.")
    ] = None,
) -> None:
    """Write a state to a file, for another machine with the same images."""
    console = Console()
    console.line(str(arena_for(console).states.export(name, path or Path(f"{name}.arena-state"))))


@app.command("import")
def import_state(
    path: Annotated[Path, typer.Argument(help="A file that `arena state export` wrote.")],
    name: Annotated[
        str | None, typer.Argument(help="The state's name here; default: the file's.")
    ] = None,
    replace: _Replace = False,
) -> None:
    """Keep a state that was exported, here or on another machine."""
    console = Console()
    _show(console, (arena_for(console).states.add(path, name, replace=replace),))


@app.command()
def rm(name: _Name) -> None:
    """Forget a state. Sites that are in it stay as they are."""
    arena_for(Console()).states.remove(name)


def _show(console: Console, states: Sequence[NamedState]) -> None:
    columns = (Column("state"), Column("sites"), Column("saved"), Column("KB", right=True))
    rows = [
        (
            one.name,
            ", ".join(one.state.sites) if one.state else one.fault,
            f"{one.state.made:%Y-%m-%d %H:%M} UTC" if one.state else "",
            f"{one.size_bytes / 1000:.0f}",
        )
        for one in states
    ]
    document = [
        {
            "name": one.name,
            "path": str(one.path),
            "bytes": one.size_bytes,
            "fault": one.fault or None,
            "saved": one.state.made.isoformat() if one.state else None,
            "sites": {
                name: {
                    "image_id": taken.image_id,
                    "fingerprint": taken.digest,
                    "clock": taken.clock.isoformat() if taken.clock else None,
                }
                for name, taken in (one.state.sites if one.state else {}).items()
            },
        }
        for one in states
    ]
    console.table(columns, rows, document)


def _show_restored(console: Console, name: str, done: Sequence[SiteReset]) -> None:
    columns = (
        Column("site"),
        Column("strategy"),
        Column("seconds", right=True),
        Column("state"),
        Column("not enough"),
    )
    receipts = [one.receipt for one in done]
    rows = [
        (
            one.site,
            one.strategy,
            f"{one.seconds:.2f}",
            f"{name} {one.golden[:_DIGEST_WIDTH]}" if one.proven else f"NOT {name}",
            ", ".join(fallback.partition(":")[0] for fallback in one.fallbacks),
        )
        for one in receipts
    ]
    console.table(columns, rows, [{**one.model_dump(), "proven": one.proven} for one in receipts])
