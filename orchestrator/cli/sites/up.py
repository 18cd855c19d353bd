"""`arena up`: start sites, wait until they really serve, log every role in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.asynchronous import run
from orchestrator.cli.console import Column, Console, Json
from orchestrator.cli.sites.startup_progress import StartProgress

if TYPE_CHECKING:
    from orchestrator.api.starting import RunningSite

app = typer.Typer()

_PORTS = range(1, 65536)


@app.command()
def up(
    sites: Annotated[
        list[str] | None,
        typer.Argument(help="Sites, or `all`; default: those of the suite.", show_default=False),
    ] = None,
    suite: Annotated[
        str | None,
        typer.Option(help="Start the sites that this suite's tasks use; default: demo."),
    ] = None,
    port: Annotated[
        list[str] | None,
        typer.Option(
            help="SITE=PORT: a fixed port on 127.0.0.1 (further slots take the next ones);"
            " default: free ones."
        ),
    ] = None,
    slots: Annotated[
        int,
        typer.Option(min=1, help="Replicas of each site that holds state; others are shared."),
    ] = 1,
    memory: Annotated[
        str | None,
        typer.Option(help="Memory limit for all replicas, for example 4GiB; see arena status."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Start sites in parallel, wait until they serve, and log every role in.

    Without names: the sites that a suite's tasks use (--suite, or demo). `arena up all` starts
    every site, as many at a time as the engine has cores. Running sites are kept; missing images
    are built first. Prints each site's URL for your own browser, its accounts and its memory. The
    containers run until `arena down`. With --slots N you get N independent replicas of each site
    that holds state.
    """
    from orchestrator.api.arena import Arena
    from orchestrator.cli.live import progress_on

    console = Console(as_json)
    ports = dict(read_port(option, slots) for option in port or ())
    lines = StartProgress(console)

    async def started() -> tuple[RunningSite, ...]:
        with progress_on(console, lines.on_event) as on_event:
            async with Arena(on_event=on_event) as arena, lines.reminding():
                return await arena.sites.up(
                    sites or (), suite=suite, slots=slots, ports=ports, memory=memory
                )

    _show(console, run(started()))


def read_port(option: str, slots: int) -> tuple[str, int]:
    """Read a `SITE=PORT` option; each slot gets a port, the first one this."""
    from arena_core.errors import UsageError

    name, _, digits = option.partition("=")
    if not digits.isdecimal() or int(digits) not in _PORTS:
        raise UsageError(f"--port '{option}': expected SITE=PORT, for example shop=7770")
    if int(digits) + slots - 1 not in _PORTS:
        raise UsageError(f"--port '{option}': there are no {slots} ports from there on")
    return name, int(digits)


def _show(console: Console, started: Sequence[RunningSite]) -> None:
    columns = (
        Column("site"),
        Column("slot"),
        Column("URL for your browser"),
        Column("host for agents"),
        Column("account"),
        Column("MB", right=True),
        Column("seconds", right=True),
    )
    rows = [row for one in started for row in _rows(one)]
    console.table(columns, rows, [_document(one) for one in started])


def _rows(one: RunningSite) -> list[tuple[str, ...]]:
    accounts = [
        f"{name}: {role.username} / {role.password}" for name, role in one.accounts.items()
    ] or [""]
    first = (
        one.site.name,
        "shared" if one.slot is None else str(one.slot),
        one.url,
        f"{one.origin}/",
        accounts[0],
        f"{one.memory_bytes / 1e6:.0f}",
        f"{one.seconds:.1f}",
    )
    return [first, *(("", "", "", "", account, "", "") for account in accounts[1:])]


def _document(one: RunningSite) -> Json:
    return {
        "site": one.site.name,
        "slot": one.slot,
        "url": one.url,
        "origin": one.origin,
        "database": one.database,
        "accounts": [
            {"role": name, "username": role.username, "password": role.password, "logged_in": True}
            for name, role in one.accounts.items()
        ],
        "container": one.container,
        "golden": one.golden,
        "memory_bytes": one.memory_bytes,
        "seconds": round(one.seconds, 3),
    }
