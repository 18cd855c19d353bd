"""`arena open`: a URL of a site for a person's own browser."""

from __future__ import annotations

from typing import Annotated

import typer

from arena_core.errors import UsageError
from orchestrator.cli.asynchronous import run
from orchestrator.cli.console import Console

app = typer.Typer()


@app.command("open")
def open_site(
    site: Annotated[
        str, typer.Argument(help="The site, which must be up, or a logical URL such as shop:/.")
    ],
    path: Annotated[
        str | None, typer.Argument(help="A path of the site, for example /basket/; default: /.")
    ] = None,
    slot: Annotated[int, typer.Option(min=0, help="The slot, if `arena up` started several.")] = 0,
    only_print: Annotated[
        bool, typer.Option("--print", help="Print the URL and open nothing.")
    ] = False,
) -> None:
    """Open a page of a running site in your own browser, and print its URL.

    The URL is on 127.0.0.1 with the replica's port. Links, forms and logins work there as they do
    under the site's own host. All sites on 127.0.0.1 share one cookie jar in your browser, and
    links from one site to another do not work: `arena browse` gives each site its own name.
    """
    import webbrowser

    console = Console()
    if ":" in site and path is not None:
        message = f"'{site}' names a page already, and '{path}' another one"
        raise UsageError(message, hint="give SITE PATH, or SITE:/PATH")
    url = run(_url(console, site, slot, path or "/"))
    console.line(url)
    if not only_print and not webbrowser.open(url):
        console.note("no browser could be opened here: use the URL above")


async def _url(console: Console, site: str, slot: int, path: str) -> str:
    from orchestrator.cli.progress import arena_for

    async with arena_for(console) as arena:
        return await arena.sites.url(site, path, slot=slot)
