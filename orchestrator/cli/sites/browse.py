"""`arena browse`: all running sites under their own names, for a person."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.arena import arena_for
from orchestrator.cli.asynchronous import interrupts, run
from orchestrator.cli.console import Column, Console

if TYPE_CHECKING:
    from orchestrator.api.browsing import Browsing
    from sites.manifest import Site

app = typer.Typer()


@app.command()
def browse(
    slot: Annotated[int, typer.Option(min=0, help="The slot, if `arena up` started several.")] = 0,
    port: Annotated[
        int,
        typer.Option(min=0, max=65535, help="The proxy's port on 127.0.0.1; default: a free one."),
    ] = 0,
    only_print: Annotated[
        bool, typer.Option("--print", help="Print the proxy setting and open no browser.")
    ] = False,
) -> None:
    """Browse all running sites under their own names, until Ctrl-C.

    Opens a separate Chromium in which http://shop.arena.test/ and the others work, links between
    sites included, and each site has its own cookies, as agents see them. With --print, or where no
    window can be shown, set the printed address as your browser's automatic proxy configuration
    (only the sites use it), or as its proxy (nothing else is reachable). Restart the command to
    reach a site that you started later.
    """
    run(_browse(Console(), slot, port, only_print=only_print))


async def _browse(console: Console, slot: int, port: int, *, only_print: bool) -> None:
    from orchestrator.browser.process.chromium import has_display, open_window

    async with AsyncExitStack() as stack:
        arena = await stack.enter_async_context(arena_for(console))
        found = await stack.enter_async_context(arena.sites.browse(slot=slot, port=port))
        interrupted = await stack.enter_async_context(interrupts())
        _show(console, found)
        closed: asyncio.Task[int] | None = None
        if not only_print and has_display(os.environ):
            window = await stack.enter_async_context(open_window(found.proxy, found.page))
            closed = asyncio.create_task(window.wait())
        elif not only_print:
            console.note("no window can be shown here: set the proxy in a browser of yours")
        console.note("until Ctrl-C")
        pressed = asyncio.create_task(interrupted.wait())
        await asyncio.wait([pressed, *([closed] if closed else [])], return_when="FIRST_COMPLETED")
        pressed.cancel()


def _show(console: Console, found: Browsing) -> None:
    columns = (Column("site"), Column("URL"), Column("account"))
    console.table(columns, [row for site in found.sites for row in _rows(site)], None)
    console.line(f"automatic proxy configuration: {found.setting}")
    console.line(f"proxy: {found.proxy}")
    sys.stdout.flush()  # whoever reads it through a pipe is not to wait for the end


def _rows(site: Site) -> list[tuple[str, str, str]]:
    roles = site.roles.items()
    first, *more = [f"{name}: {role.username} / {role.password}" for name, role in roles] or [""]
    url = f"http://{site.host}/"
    return [(site.name, url, first), *(("", "", account) for account in more)]
