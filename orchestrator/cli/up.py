"""`arena up`: start sites, wait until they really serve, log every role in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.asynchronous import run
from orchestrator.cli.console import Column, Console, Json
from orchestrator.cli.startup_progress import StartupProgress

if TYPE_CHECKING:
    from orchestrator.engine.engine import Engine
    from orchestrator.pool.pool_context import ReadyReplica
    from orchestrator.reset.replica import Replica
    from sites.atlas import Atlas

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
        typer.Option(help="The sites that this suite's tasks play on; default: demo."),
    ] = None,
    port: Annotated[
        list[str] | None,
        typer.Option(
            help="SITE=PORT: a fixed port on 127.0.0.1, and those after it for further slots;"
            " default: free ones."
        ),
    ] = None,
    slots: Annotated[
        int,
        typer.Option(min=1, help="Replicas of each site that holds state; others are shared."),
    ] = 1,
    memory: Annotated[
        str | None,
        typer.Option(help="Refuse what would need more, for example 4GiB; see arena status."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Start sites side by side, wait until they really serve, and log every role in.

    Without names: the sites that the tasks of a suite play on (--suite, or
    demo). `arena up all` starts every site there is. As many start at a time as
    the engine has cores. Sites that run already are kept as they are, and images
    that are missing are built first. The result has each site's URL for your
    own browser, its accounts, and the memory it takes; the containers run until
    `arena down`. With --slots N there are N replicas of each site that holds
    state, and what is done in one is not seen in another.
    """
    from orchestrator.capacity.sizes import parse_size
    from orchestrator.cli.known_sites import known_sites
    from orchestrator.cli.site_selection import DEMO, choose_sites

    console = Console(as_json)
    budget = parse_size(memory) if memory is not None else None
    atlas = known_sites()
    chosen = choose_sites(atlas, sites or (), suite, otherwise=DEMO)
    names = tuple(site.name for site in chosen)
    ports = read_ports(port or (), names, slots)
    asked = _Asked(names=names, slots=slots, memory_bytes=budget, ports=ports)
    started = run(_up(console, atlas, asked))
    _show(console, started)


def read_ports(options: Sequence[str], names: Sequence[str], slots: int) -> Mapping[str, int]:
    """Read `SITE=PORT` options; each slot gets a port, the first one this.

    Raises:
        UsageError: not of that form, no port, or a site that is not started.
    """
    from arena_core.errors import UsageError

    ports: dict[str, int] = {}
    for option in options:
        name, _, digits = option.partition("=")
        if not digits.isdecimal() or int(digits) not in _PORTS:
            message = f"--port '{option}': expected SITE=PORT, for example shop=7770"
            raise UsageError(message)
        if int(digits) + slots - 1 not in _PORTS:
            message = f"--port '{option}': there are no {slots} ports from there on"
            raise UsageError(message)
        if name not in names:
            message = (
                f"--port '{option}': no site '{name}' is started; there are: {' '.join(names)}"
            )
            raise UsageError(message)
        ports[name] = int(digits)
    return ports


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What is to be started."""

    names: Sequence[str]
    slots: int
    memory_bytes: int | None
    ports: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Started:
    """A replica that serves."""

    ready: ReadyReplica
    memory_bytes: int
    seconds: float


async def _up(console: Console, atlas: Atlas, asked: _Asked) -> tuple[_Started, ...]:
    from arena_core.task_group import task_group
    from orchestrator.capacity.memory import memory_of
    from orchestrator.engine.engine import Engine
    from orchestrator.operations.command_lock import command_lock
    from orchestrator.pool.slot_pool import UP, SlotPool

    async with await Engine.connect() as engine:
        await _build_missing(console, engine, atlas, asked.names)
        watch = StartupProgress(console, _replicas(atlas, asked))
        async with (
            command_lock(UP, console.note),
            SlotPool.open(
                engine,
                atlas,
                asked.names,
                UP,
                workers=asked.slots,
                spares=0,
                memory_bytes=asked.memory_bytes,
                on_event=watch.on_event,
                ports=asked.ports,
                keep=True,
            ) as slot_pool,
        ):
            console.note(f"to start: {slot_pool.capacity.summary('slot')}")
            async with watch.reminding():
                ready_replicas = await slot_pool.up()
            if engine.not_shut:
                console.note(f"containers could open connections: {engine.not_shut}; arena doctor")
            async with task_group() as group:
                memory = [
                    group.create_task(memory_of(engine, ready.replica.container.id))
                    for ready in ready_replicas
                ]
                group.create_task(_tell(console, engine, atlas))
    return tuple(
        _Started(ready, used.result(), watch.seconds.get(_label(ready), 0.0))
        for ready, used in zip(ready_replicas, memory, strict=True)
    )


async def _tell(console: Console, engine: Engine, atlas: Atlas) -> None:
    """Let start pages list all that is up, what an earlier command started too."""
    from arena_core.errors import SiteGoneError
    from orchestrator.access.episode_info import write_episode_info
    from orchestrator.operations.inventory import running_replicas

    try:
        await write_episode_info(engine, await running_replicas(engine, atlas))
    except SiteGoneError as gone:
        console.note(f"the start page was not told what is up: {gone.message}")


def _replicas(atlas: Atlas, asked: _Asked) -> int:
    """Return how many there will be: sites that hold no state are shared by all slots."""
    return sum(asked.slots if site.stateful else 1 for site in atlas.select(asked.names))


async def _build_missing(
    console: Console, engine: Engine, atlas: Atlas, names: Sequence[str]
) -> None:
    """Build what was never built, so that `arena up` is one command in a fresh installation."""
    from orchestrator.images.golden import is_sealed

    missing = []
    for site in atlas.select(names):
        image = await engine.image(site.image.tag)
        if image is None or not is_sealed(image):
            missing.append(site)
    if not missing:
        return
    from orchestrator.delta.packing import pack_rows
    from orchestrator.images import building
    from orchestrator.reset.fingerprint import take_fingerprint

    console.note(f"building first, once: {', '.join(site.name for site in missing)}")
    await building.build(
        engine, atlas, missing, take=take_fingerprint, take_rows=pack_rows, on_line=console.note
    )


def _label(ready: ReadyReplica) -> str:
    """Return what events call a replica."""
    from orchestrator.pool.pool_context import label_of

    placement = ready.replica.placement
    return label_of(placement.site.name, placement.slot)


def _show(console: Console, started: Sequence[_Started]) -> None:
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


def _rows(one: _Started) -> list[tuple[str, ...]]:
    replica = one.ready.replica
    site = replica.site
    accounts = [
        f"{name}: {role.username} / {role.password}" for name, role in site.roles.items()
    ] or [""]
    first = (
        site.name,
        _slot(replica),
        f"http://{replica.endpoint}/",
        f"http://{site.host}/",
        accounts[0],
        f"{one.memory_bytes / 1e6:.0f}",
        f"{one.seconds:.1f}",
    )
    return [first, *(("", "", "", "", account, "", "") for account in accounts[1:])]


def _slot(replica: Replica) -> str:
    slot = replica.placement.slot
    return "shared" if slot is None else str(slot)


def _document(one: _Started) -> Json:
    replica = one.ready.replica
    site = replica.site
    return {
        "site": site.name,
        "slot": replica.placement.slot,
        "url": f"http://{replica.endpoint}/",
        "origin": f"http://{site.host}",
        "database": str(replica.database) if replica.database else None,
        "accounts": [
            {"role": name, "username": role.username, "password": role.password, "logged_in": True}
            for name, role in site.roles.items()
        ],
        "container": replica.container.name,
        "golden": replica.golden,
        "memory_bytes": one.memory_bytes,
        "seconds": round(one.seconds, 3),
    }
