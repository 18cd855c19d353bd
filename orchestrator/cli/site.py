"""`arena site`: sites of one's own, written from a template and held to the contract."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena_core.errors import SiteError, UsageError
from orchestrator.cli.asynchronous import run
from orchestrator.cli.console import Column, Console, Json
from orchestrator.cli.known_sites import known_sites
from orchestrator.scaffold.site_writer import NewSite, SiteKind
from sites.atlas import OWN_SITES, Atlas, load_atlas, own_site_folders, sites_in
from sites.belongings import RESERVED_NAMES

if TYPE_CHECKING:
    from orchestrator.contract.checkup import Point
    from sites.manifest import Site

app = typer.Typer()

_FOLDER = typer.Option(
    help="The folder of your own sites; default: ARENA_SITES, else ./arena-sites.",
    show_default=False,
)


@app.callback()
def _site() -> None:
    """Bring an application of your own into Arena."""


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="The new site's name, for example my-shop.")],
    kind: Annotated[
        SiteKind,
        typer.Option(help="app: Flask on MariaDB; php: PHP and files; static: files alone."),
    ] = SiteKind.APP,
    title: Annotated[
        str | None, typer.Option(help="What people call it; default: from the name.")
    ] = None,
    sites: Annotated[Path | None, _FOLDER] = None,
) -> None:
    """Write the folder of a new site, which builds and keeps the contract at once.

    It holds the site's manifest, its image, a login, a first suite of tasks and
    a test. Put your own application in the place of the small one in docker/;
    `arena site check NAME` says what the contract thinks of it. Arena finds the
    site wherever it is called with the folder above as ./arena-sites, or with
    ARENA_SITES naming it.
    """
    console = Console()
    home = sites or next(iter(own_site_folders()), Path(OWN_SITES))
    site = NewSite(
        name=name,
        title=title or name.replace("-", " ").capitalize(),
        kind=kind,
        sites=_as_seen_from_here(home),
    )
    if name in {*load_atlas(()).sites, *RESERVED_NAMES}:
        message = f"Arena has a site '{name}' of its own"
        raise UsageError(message, hint="choose another name")
    for path in site.write():
        console.line(str(path))
    console.note(f"next: arena site check {name}   then: arena up {name}")


@app.command()
def check(
    name: Annotated[str, typer.Argument(help="The site: your own or one of Arena's.")],
    sites: Annotated[Path | None, _FOLDER] = None,
    twice: Annotated[
        bool, typer.Option("--twice", help="Bake the data a second time too, and compare.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Build a site and hold it to the contract that every site of Arena keeps.

    Pages answer and load nothing from outside; roles log in; looking changes
    nothing; checks cannot write; clock and language are what the manifest says;
    the container is confined; many readers meet no fault; health means usable;
    every way back leads to golden.
    """
    console = Console(as_json)
    atlas = known_sites(None if sites is None else [sites_in(sites)])
    points = run(_check(console, atlas, atlas.site(name), twice=twice))
    rows = [(_verdict(point), point.title, "; ".join(point.breaches)) for point in points]
    documents: list[Json] = [
        {"point": point.title, "kept": not point.breaches, "breaches": list(point.breaches)}
        for point in points
    ]
    columns = (Column(""), Column("point"), Column("what is wrong"))
    console.table(columns, rows, documents)
    broken = sum(bool(point.breaches) for point in points)
    if broken:
        message = f"site '{name}': {broken} of {len(points)} points of the contract are broken"
        raise SiteError(message, hint=f"mend them, then: arena site check {name}")


async def _check(console: Console, atlas: Atlas, site: Site, *, twice: bool) -> tuple[Point, ...]:
    from orchestrator.contract.checkup import check_site
    from orchestrator.delta.packing import pack_rows
    from orchestrator.engine.engine import Engine
    from orchestrator.images import building
    from orchestrator.reset.fingerprint import take_fingerprint

    async with await Engine.connect() as engine:
        await building.build(
            engine, atlas, [site], take=take_fingerprint, take_rows=pack_rows, on_line=console.note
        )
        return await check_site(
            engine,
            atlas,
            site,
            f"check-{os.getpid()}",
            lambda point: console.note(f"{_verdict(point):6} {point.title}"),
            twice=twice,
        )


def _verdict(point: Point) -> str:
    return "broken" if point.breaches else "kept"


def _as_seen_from_here(folder: Path) -> Path:
    """Return a folder below this one by its short name, as people type it."""
    try:
        here = Path.cwd()
    except OSError as cause:
        message = f"the folder that this runs in cannot be used: {cause.strerror}"
        raise UsageError(message, hint="change to another folder") from cause
    return folder.relative_to(here) if folder.is_relative_to(here) else folder
