"""`arena browse`: all running sites under their own names, for a person."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.asynchronous import run
from orchestrator.cli.console import Column, Console

if TYPE_CHECKING:
    from orchestrator.reset.replica import Replica

app = typer.Typer()


@app.command()
def browse(
    slot: Annotated[
        int, typer.Option(min=0, help="Of which slot, where `arena up` started several.")
    ] = 0,
    port: Annotated[
        int,
        typer.Option(min=0, max=65535, help="The proxy's port on 127.0.0.1; default: a free one."),
    ] = 0,
    only_print: Annotated[
        bool, typer.Option("--print", help="Print the proxy setting and open no browser.")
    ] = False,
) -> None:
    """Browse all running sites under their own names, until Ctrl-C.

    Opens a Chromium of its own, in which http://shop.arena.test/ and the others
    are there, links from one site to another work, and each site has its own
    cookies, as for agents. With --print, or where no window can be shown: set
    the printed address as your browser's automatic proxy configuration (only
    the sites go through it), or the proxy itself (nothing else is reached). A
    site that is started later is there when the command is started again.
    """
    run(_browse(Console(), slot, port, only_print=only_print))


async def _browse(console: Console, slot: int, port: int, *, only_print: bool) -> None:
    from orchestrator.browser.window import has_display, open_window
    from orchestrator.gateway import Gateway
    from orchestrator.gateway.pac import pac, serve_pac
    from orchestrator.operations.browsing import browsing_policy

    replicas = await _standing(slot)
    policy = browsing_policy(replicas)
    async with AsyncExitStack() as stack:
        gateway = await stack.enter_async_context(Gateway.open(policy, bind=_bound(port)))
        setting = await stack.enter_async_context(serve_pac(pac(policy, gateway.url)))
        interrupted = await stack.enter_async_context(_interrupt())
        _show(console, replicas, setting, gateway.url)
        closed: asyncio.Task[int] | None = None
        if not only_print and has_display(os.environ):
            page = f"http://{_first(replicas).site.host}/"
            window = await stack.enter_async_context(open_window(gateway.url, page))
            closed = asyncio.create_task(window.wait())
        elif not only_print:
            console.note("no window can be shown here: set the proxy in a browser of yours")
        console.note("until Ctrl-C")
        pressed = asyncio.create_task(interrupted.wait())
        await asyncio.wait([pressed, *([closed] if closed else [])], return_when="FIRST_COMPLETED")
        pressed.cancel()


async def _standing(slot: int) -> tuple[Replica, ...]:
    from arena_core.errors import SiteGoneError
    from orchestrator.cli.known_sites import known_sites
    from orchestrator.engine.engine import Engine
    from orchestrator.operations.inventory import running_replicas

    async with await Engine.connect() as engine:
        replicas = await running_replicas(engine, known_sites(), slot=slot)
    if not replicas:
        where = f" in slot {slot}" if slot else ""
        message = f"no site is up{where}: there is nothing to browse"
        raise SiteGoneError(message, hint=f"arena up all{f' --slots {slot + 1}' if slot else ''}")
    return replicas


def _bound(port: int) -> socket.socket:
    from arena_core.errors import PortTakenError

    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError as error:
        listener.close()
        message = f"--port {port}: {error.strerror} on 127.0.0.1"
        raise PortTakenError(message, hint="leave --port away for a free one") from error
    return listener


@asynccontextmanager
async def _interrupt() -> AsyncIterator[asyncio.Event]:
    """Make Ctrl-C the ordinary end, not a failure."""
    loop, pressed = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGINT, pressed.set)
    try:
        yield pressed
    finally:
        loop.remove_signal_handler(signal.SIGINT)


def _first(replicas: Sequence[Replica]) -> Replica:
    """Return what to open: the start page, where one is up."""
    return next((one for one in replicas if one.site.episode_info), replicas[0])


def _show(console: Console, replicas: Sequence[Replica], setting: str, proxy: str) -> None:
    columns = (Column("site"), Column("URL"), Column("account"))
    rows = [row for replica in replicas for row in _rows(replica)]
    console.table(columns, rows, None)
    console.line(f"automatic proxy configuration: {setting}")
    console.line(f"proxy: {proxy}")
    sys.stdout.flush()  # whoever reads it through a pipe is not to wait for the end


def _rows(replica: Replica) -> list[tuple[str, str, str]]:
    roles = replica.site.roles.items()
    first, *more = [f"{name}: {role.username} / {role.password}" for name, role in roles] or [""]
    url = f"http://{replica.site.host}/"
    return [(replica.site.name, url, first), *(("", "", account) for account in more)]
