"""`arena site`: sites of one's own, written from a template and held to the contract."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena_core.errors import SiteError
from orchestrator.cli.asynchronous import run
from orchestrator.cli.console import Column, Console, Json
from orchestrator.cli.progress import arena_for
from orchestrator.scaffold.site_writer import PublishedSites, SiteKind

if TYPE_CHECKING:
    from orchestrator.contract.checkup import Point

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
    written = arena_for(console).new_site(name, kind=kind, title=title, folder=sites)
    for path in written:
        console.line(str(path))
    console.note(f"next: arena site check {name}   then: arena up {name}")


@app.command()
def published(
    which: Annotated[
        PublishedSites,
        typer.Argument(help="webarena: the original images; webarena-verified: the slim ones."),
    ],
    sites: Annotated[Path | None, _FOLDER] = None,
) -> None:
    """Write the manifests of sites whose images others publish.

    Then `arena load SITE FILE` takes an original image from the publisher's tar
    file, or `arena pull SITE` a slim one from its registry; both give it its
    host name (`bake`) and seal it. Suites of `arena tasks import` name these
    sites. The images themselves were not at hand when the manifests were
    written: they follow published notes, and are yours to correct.
    """
    console = Console()
    written = arena_for(console).published_sites(which, folder=sites)
    for path in written:
        console.line(str(path))
    names = ", ".join(path.parent.name for path in written)
    how = "arena load SITE FILE" if which is PublishedSites.WEBARENA else "arena pull SITE"
    console.note(f"next: {how}   for {names}")


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
    points = run(_check(console, name, sites, twice=twice))
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


async def _check(
    console: Console, name: str, sites: Path | None, *, twice: bool
) -> tuple[Point, ...]:
    from orchestrator.cli.live import arena_with_progress

    async with arena_with_progress(console, None if sites is None else (sites,)) as arena:
        return await arena.check_site(name, twice=twice)


def _verdict(point: Point) -> str:
    return "broken" if point.breaches else "kept"
