"""`arena reset`: bring the sites of `arena up` back to golden, with a receipt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.asynchronous import run
from orchestrator.cli.console import Column, Console

if TYPE_CHECKING:
    from evaluators.evidence import Receipt
    from orchestrator.engine.engine import Engine
    from orchestrator.reset.ladder import Rung
    from orchestrator.reset.replica import Replica
    from sites.atlas import Atlas
    from sites.errors import ArenaError

app = typer.Typer()

_DIGEST_WIDTH = 12


@app.command()
def reset(
    sites: Annotated[
        list[str] | None, typer.Argument(help="Sites; default: all that are up.")
    ] = None,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Say first what differs: table by table, file by file."),
    ] = False,
    strategy: Annotated[
        str,
        typer.Option(
            help="auto: the cheapest way that is proven to lead to golden. recreate: remove the"
            " container and start its image again."
        ),
    ] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print the receipts as JSON.")] = False,
) -> None:
    """Bring sites back to golden: the state that their images were sealed with.

    After every reset the whole state (each table's rows, counters and
    definition, the stateful folders) is compared with golden; a site that
    cannot be brought there is removed and reported. A URL keeps its port.
    """
    from orchestrator.reset.ladder import rungs_for
    from sites.atlas import load_atlas

    console = Console(as_json)
    rungs = rungs_for(strategy)
    receipts, failures = run(_reset(load_atlas(), sites or (), rungs, look_before=verify))
    if not receipts and not failures:
        console.note("nothing is up; `arena up` starts the sites")
    _show(console, receipts, verify=verify)
    if failures:
        for failure in failures[1:]:
            console.warn(f"arena: {failure.message}")
        raise failures[0]


async def _reset(
    atlas: Atlas, names: Sequence[str], rungs: Sequence[Rung], *, look_before: bool
) -> tuple[tuple[Receipt, ...], tuple[ArenaError, ...]]:
    from orchestrator.engine.engine import Engine
    from orchestrator.fleet.standing import standing_replicas
    from orchestrator.together import together
    from sites.errors import ArenaError

    async with await Engine.connect() as engine:
        replicas = await standing_replicas(engine, atlas, names)
        async with together() as group:
            tasks = [
                group.create_task(_one(engine, replica, rungs, look_before=look_before))
                for replica in replicas
            ]
    outcomes = [task.result() for task in tasks]
    failures = tuple(outcome for outcome in outcomes if isinstance(outcome, ArenaError))
    receipts = tuple(outcome for outcome in outcomes if not isinstance(outcome, ArenaError))
    return receipts, failures


async def _one(
    engine: Engine, replica: Replica, rungs: Sequence[Rung], *, look_before: bool
) -> Receipt | ArenaError:
    """Reset one replica; a failure is returned, so that the others go on."""
    from orchestrator.reset.ladder import reset_replica
    from sites.errors import ArenaError

    try:
        # Nobody watched what a person's browser did: the proof decides, not a count of writes.
        done = await reset_replica(
            engine, replica, rungs=rungs, wrote=False, look_before=look_before
        )
    except ArenaError as failure:
        return failure
    return done.receipt


def _show(console: Console, receipts: Sequence[Receipt], *, verify: bool) -> None:
    columns = (
        Column("site"),
        Column("strategy"),
        Column("seconds", right=True),
        Column("state"),
        Column("differed before", right=True),
    )
    rows = [
        (
            receipt.site,
            receipt.strategy,
            f"{receipt.seconds:.2f}",
            f"golden {receipt.golden[:_DIGEST_WIDTH]}" if receipt.proven else "NOT GOLDEN",
            _differed(receipt),
        )
        for receipt in receipts
    ]
    document = [{**receipt.model_dump(), "proven": receipt.proven} for receipt in receipts]
    console.table(columns, rows, document)
    if verify and not console.as_json:
        for receipt in receipts:
            for difference in receipt.differences or ("nothing differed",):
                console.line(f"{receipt.site}: {difference}")


def _differed(receipt: Receipt) -> str:
    if receipt.before is None and not receipt.differences:
        return "not looked"
    return str(len(receipt.differences))
