"""`arena open`: a URL of a site for a person's own browser."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.asynchronous import run
from orchestrator.cli.console import Console

app = typer.Typer()


@app.command("open")
def open_site(
    site: Annotated[str, typer.Argument(help="The site; it must be up.")],
    path: Annotated[str, typer.Argument(help="A path of the site, for example /basket/.")] = "/",
    slot: Annotated[
        int, typer.Option(min=0, help="Of which slot, where `arena up` started several.")
    ] = 0,
    only_print: Annotated[
        bool, typer.Option("--print", help="Print the URL and open nothing.")
    ] = False,
) -> None:
    """Open a page of a running site in your own browser, and print its URL.

    The URL is on 127.0.0.1 with the replica's port. Sites build their links
    from the address they were asked under, so links, forms and logins work
    there as they do under the site's own host. All sites on 127.0.0.1 share one
    cookie jar in your browser, and links from one site to another lead nowhere:
    `arena browse` gives each its own name.
    """
    import webbrowser

    console = Console()
    url = run(_url(site, slot, path))
    console.line(url)
    if not only_print and not webbrowser.open(url):
        console.note("no browser could be opened here: use the URL above")


async def _url(name: str, slot: int, path: str) -> str:
    from orchestrator.cli.known_sites import known_sites
    from orchestrator.engine.engine import Engine
    from orchestrator.operations.inventory import running_replica

    async with await Engine.connect() as engine:
        replica = await running_replica(engine, known_sites(), name, slot)
    return f"http://{replica.endpoint}/{path.removeprefix('/')}"
