"""`arena site`: writes sites of your own from templates, and checks them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena_core.errors import SiteError
from orchestrator.authoring.scaffold.writer import PublishedSites, SiteKind
from orchestrator.cli.arena import arena_for, in_live_arena
from orchestrator.cli.console import Column, Console, Json

if TYPE_CHECKING:
    from orchestrator.authoring.site_check.checkup import ContractPoint

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
        str,
        typer.Option(help="app: Flask on MariaDB; php: PHP and files; static: files alone."),
    ] = SiteKind.APP.value,
    title: Annotated[
        str | None, typer.Option(help="A title for people; default: made from the name.")
    ] = None,
    sites: Annotated[Path | None, _FOLDER] = None,
) -> None:
    """Write the folder of a new site, which builds and passes the site check as it is.

    It holds the site's manifest, its image, a login, a first suite of tasks and a test. Replace the
    small application in docker/ with your own and run `arena site check NAME`. Arena finds the site
    if the folder above it is ./arena-sites or ARENA_SITES names that folder.
    """
    console = Console()
    written = arena_for(console).sites.new(name, kind=kind, title=title, folder=sites)
    for path in written:
        console.line(str(path))
    console.note(f"next: arena site check {name}   then: arena up {name}")


@app.command()
def published(
    which: Annotated[
        str,
        typer.Argument(help="webarena: the original images; webarena-verified: the slim ones."),
    ],
    sites: Annotated[Path | None, _FOLDER] = None,
) -> None:
    """Write manifests for sites whose images others publish.

    Then `arena load SITE FILE` takes an original image from the publisher's tar file, or `arena
    pull SITE` a slim one from its registry; both give it its host name (`bake`) and seal it. Suites
    of `arena tasks import` name these sites. These manifests follow published notes and were never
    tried on the images: correct them where they are wrong.
    """
    console = Console()
    written = arena_for(console).sites.published(which, folder=sites)
    for path in written:
        console.line(str(path))
    names = ", ".join(path.parent.name for path in written)
    how = "arena load SITE FILE" if which == PublishedSites.WEBARENA else "arena pull SITE"
    console.note(f"next: {how}   for {names}")


@app.command()
def check(
    name: Annotated[str, typer.Argument(help="The site: your own or one of Arena's.")],
    sites: Annotated[Path | None, _FOLDER] = None,
    twice: Annotated[
        bool, typer.Option("--twice", help="Bake the data a second time and compare.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Build a site and check what every site of Arena must keep.

    Pages answer and load nothing from outside; roles log in; reading changes nothing; checks cannot
    write; clock and language match the manifest; the container is confined; many readers cause no
    fault; a healthy site is usable; every reset leads to golden; what Arena's other sites that are
    built here say of the same things agrees.
    """
    console = Console(as_json)
    points = in_live_arena(
        console,
        lambda arena: arena.sites.check(name, twice=twice),
        sites=None if sites is None else (sites,),
    )
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
        raise SiteError(message, hint=f"fix them, then: arena site check {name}")


@app.command()
def facts(
    file: Annotated[
        Path | None,
        typer.Argument(help="Your own file of facts; default: that of Arena's sites."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Read facts wherever running sites state them, and list contradictions.

    The sites that the file names must be up: `arena up cms forge forum map shop wiki` for
    Arena's own.
    """
    console = Console(as_json)
    report = in_live_arena(console, lambda arena: arena.sites.facts(file))
    rows = [(one.fact, one.subject, str(one).partition(": ")[2]) for one in report.breaches]
    documents: list[Json] = [
        {"fact": one.fact, "subject": one.subject, "said": {s.where: s.words for s in one.said}}
        for one in report.breaches
    ]
    columns = (Column("fact"), Column("of"), Column("who says what"))
    console.table(columns, rows, documents)
    if report.breaches:
        many = f"{len(report.breaches)} of {report.read} facts"
        raise SiteError(f"{many} contradict each other or are missing")
    console.note(f"{report.read} facts agree")


def _verdict(point: ContractPoint) -> str:
    return "broken" if point.breaches else "kept"
