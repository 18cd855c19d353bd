"""`arena reset`: bring the sites of `arena up` back to golden, with a receipt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.asynchronous import run
from orchestrator.cli.console import Column, Console

if TYPE_CHECKING:
    from arena_core.errors import ArenaError
    from evaluators.evidence import Receipt
    from orchestrator.engine.engine import Engine
    from orchestrator.operations.inventory import EndedReplica
    from orchestrator.reset.replica import Replica
    from orchestrator.reset.rungs.rung import Rung
    from orchestrator.reset.watch import Watch
    from sites.atlas import Atlas

app = typer.Typer()

_DIGEST_WIDTH = 12
_FALLBACK_WIDTH = 160


@app.command()
def reset(
    sites: Annotated[
        list[str] | None, typer.Argument(help="Sites; default: all that are up.")
    ] = None,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Say first what differs from golden: table by table, row by row, file by file.",
        ),
    ] = False,
    slot: Annotated[
        int | None,
        typer.Option(min=0, help="Only this slot, where `arena up` started several."),
    ] = None,
    strategy: Annotated[
        str,
        typer.Option(
            help="auto: the cheapest way that is proven to lead to golden. rewind: restore the"
            " state inside the running container. recreate: remove the container and start its"
            " image again. clean: keep the site as it is; only for sites without state, as nobody"
            " watched what was written to the others."
        ),
    ] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print the receipts as JSON.")] = False,
) -> None:
    """Bring sites back to golden: the state that their images were sealed with.

    After every reset the whole state (each table's rows, counters and
    definition, what else the database holds, the stateful folders) is
    compared with golden. Where a way does not lead there, `auto` takes the
    next costlier one and says so; a site that cannot be brought there is
    removed and reported. A URL keeps its port.
    """
    from orchestrator.cli.known_sites import known_sites
    from orchestrator.reset.ladder import rungs_for

    _refuse_swap(strategy)
    console = Console(as_json)
    rungs = rungs_for(strategy)
    asked = _Asked(sites or (), slot, rungs, look_before=verify)
    done, failures = run(_reset(console, known_sites(), asked))
    if not done and not failures:
        console.note("nothing is up; `arena up` starts the sites")
    _show(console, done, verify=verify)
    if failures:
        for failure in failures[1:]:
            console.warn(f"arena: {failure.message}")
        raise failures[0]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the command line asks for.

    Attributes:
        sites: all that are up where none is named.
        slot: only this one; None for every one.
    """

    sites: Sequence[str]
    slot: int | None
    rungs: Sequence[Rung]
    look_before: bool


@dataclass(frozen=True, slots=True)
class _Done:
    """One replica that is golden again.

    Attributes:
        slot: None where all slots share it.
        rows: what differed before, one line a row; empty where nobody asked.
    """

    receipt: Receipt
    slot: int | None
    rows: tuple[str, ...] = ()


def _refuse_swap(strategy: str) -> None:
    from arena_core.errors import UsageError

    if strategy == "swap":
        message = (
            "strategy 'swap': a site of `arena up` has one port and no gateway in front of it, so"
            " there is nothing to swap; swaps happen between the episodes of `arena eval`"
        )
        raise UsageError(message, hint="arena reset --strategy rewind")


async def _reset(
    console: Console, atlas: Atlas, asked: _Asked
) -> tuple[tuple[_Done, ...], tuple[ArenaError, ...]]:
    from arena_core.errors import ArenaError
    from arena_core.task_group import task_group
    from orchestrator.engine.engine import Engine
    from orchestrator.operations.command_lock import command_lock
    from orchestrator.operations.inventory import running_or_ended
    from orchestrator.pool.slot_pool import UP

    async with await Engine.connect() as engine, command_lock(UP, console.note):
        replicas, ended = await running_or_ended(engine, atlas, asked.sites, asked.slot)
        async with task_group() as group:
            tasks = [
                *(group.create_task(_one(engine, replica, asked)) for replica in replicas),
                *(group.create_task(_another(engine, one, asked)) for one in ended),
            ]
    outcomes = [task.result() for task in tasks]
    failures = tuple(outcome for outcome in outcomes if isinstance(outcome, ArenaError))
    done = tuple(outcome for outcome in outcomes if not isinstance(outcome, ArenaError))
    return done, failures


async def _one(engine: Engine, replica: Replica, asked: _Asked) -> _Done | ArenaError:
    """Reset one replica; a failure is returned, so that the others go on."""
    from arena_core.errors import ArenaError
    from orchestrator.reset.ladder import reset_replica
    from orchestrator.reset.watch import Watch

    watch = Watch.over(engine, replica)
    try:
        rows = await _rows_that_differ(engine, watch) if asked.look_before else ()
        # Nobody watched what a person's browser did: the proof decides, not a count of writes.
        reset = await reset_replica(
            engine, watch, rungs=asked.rungs, wrote=False, look_before=asked.look_before
        )
    except ArenaError as failure:
        await watch.close()
        return failure
    await reset.watch.close()
    return _Done(reset.receipt, replica.placement.slot, rows)


async def _another(engine: Engine, ended: EndedReplica, asked: _Asked) -> _Done | ArenaError:
    """Start another replica in the place of one that does not run; a failure is returned."""
    from arena_core.errors import ArenaError
    from orchestrator.reset.replacement import replace_container

    try:
        reset = await replace_container(engine, ended.placement, ended.container, asked.rungs)
    except ArenaError as failure:
        return failure
    await reset.watch.close()
    return _Done(reset.receipt, ended.placement.slot)


async def _rows_that_differ(engine: Engine, watch: Watch) -> tuple[str, ...]:
    """Return one line for each row that differs from golden, before a reset takes it away.

    A replica that cannot be read has none; the receipt says why.
    """
    from arena_core.errors import ImageError, SiteError
    from evaluators.changes import MoreChanges, RowChange, said
    from orchestrator.delta.delta import delta_of

    try:
        found = await delta_of(engine, watch.replica, await watch.prove())
    except SiteError:
        return ()
    except ImageError as failure:
        return (f"which rows differ cannot be told: {failure.message}",)
    return tuple(
        said(change) for change in found.changes if isinstance(change, RowChange | MoreChanges)
    )


def _show(console: Console, done: Sequence[_Done], *, verify: bool) -> None:
    columns = (
        Column("site"),
        Column("strategy"),
        Column("seconds", right=True),
        Column("state"),
        Column("proven by"),
        Column("differed before", right=True),
        Column("not enough"),
    )
    labels = _labels(done)
    rows = [
        (
            label,
            receipt.strategy,
            f"{receipt.seconds:.2f}",
            f"golden {receipt.golden[:_DIGEST_WIDTH]}" if receipt.proven else "NOT GOLDEN",
            receipt.proof,
            _differed(receipt),
            ", ".join(fallback.partition(":")[0] for fallback in receipt.fallbacks),
        )
        for label, receipt in zip(labels, [one.receipt for one in done], strict=True)
    ]
    document = [
        {
            **one.receipt.model_dump(),
            "slot": one.slot,
            "proven": one.receipt.proven,
            "rows": one.rows,
        }
        for one in done
    ]
    console.table(columns, rows, document)
    if console.as_json:
        return
    for label, one in zip(labels, done, strict=True):
        for line in _lines(one, verify=verify):
            console.line(f"{label}: {line}")


def _labels(done: Sequence[_Done]) -> tuple[str, ...]:
    """Return the sites' names, with the slot where a site has several."""
    names = [one.receipt.site for one in done]
    return tuple(
        f"{one.receipt.site} (slot {one.slot})" if names.count(one.receipt.site) > 1 else name
        for name, one in zip(names, done, strict=True)
    )


def _lines(done: _Done, *, verify: bool) -> list[str]:
    """Return what does not fit into the table: the fallbacks, and what differed where asked for."""
    receipt = done.receipt
    lines = [f"{_cut(fallback)}; so {receipt.strategy}" for fallback in receipt.fallbacks]
    if verify:
        lines += [*(receipt.differences or ("nothing differed",)), *done.rows]
    return lines


def _cut(line: str) -> str:
    return line if len(line) <= _FALLBACK_WIDTH else f"{line[: _FALLBACK_WIDTH - 1]}…"


def _differed(receipt: Receipt) -> str:
    if receipt.before is None and not receipt.differences:
        return "not looked"
    return str(len(receipt.differences))
