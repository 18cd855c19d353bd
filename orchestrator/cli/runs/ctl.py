"""`arena ctl`: steer a run or a study that is played now."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena_core.errors import UsageError
from arena_core.names import counted
from orchestrator.cli.arena import arena_for
from orchestrator.cli.asynchronous import run as run_async
from orchestrator.cli.console import Console

if TYPE_CHECKING:
    from orchestrator.runs.control import RunState

app = typer.Typer()


class _Order(StrEnum):
    STATUS = "status"
    PAUSE = "pause"
    GO = "go"
    STOP = "stop"
    REQUEUE = "requeue"
    WORKERS = "workers"
    LIMIT = "limit"


@app.command()
def ctl(
    run: Annotated[Path, typer.Argument(help="The folder of a run or a study that is played.")],
    order: Annotated[_Order, typer.Argument(help="What it is to do.")] = _Order.STATUS,
    value: Annotated[
        str | None, typer.Argument(help="Of stop an episode; of workers a number.")
    ] = None,
    max_usd: Annotated[
        float | None, typer.Option(min=0, help="Of limit: what the run may spend, in all.")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(min=1, help="Of limit: the same in tokens.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Steer a run or a study while it is played; the log, the lock and reports say so.

    status shows what is played. pause holds back the next episodes, go lets them
    begin again; what is under way plays to its end. stop EPISODE ends one after the
    step under way, and leaves it open. requeue plays again what was stopped or
    ended unscored. workers N plays so many episodes side by side, in each world.
    limit changes the run's budget for models.

    Example: arena ctl arena-runs/RUN stop offline-shop-cheapest-r0
    """
    if value is not None and order not in {_Order.STOP, _Order.WORKERS}:
        raise UsageError(f"{order} takes no value: {value}")
    if order is _Order.WORKERS and not (value or "").isdecimal():
        raise UsageError("workers needs a number")
    console = Console(as_json)
    state = run_async(
        arena_for(console).runs.steer(
            run,
            order.value,
            episode=value if order is _Order.STOP else None,
            workers=int(value or 0) if order is _Order.WORKERS else None,
            max_usd=max_usd,
            max_tokens=max_tokens,
        )
    )
    if as_json:
        console.json(state.document())
        return
    for line in _lines(state):
        console.line(line)


def _lines(state: RunState) -> Iterable[str]:
    if state.said:
        yield state.said
    paused = ", paused" if state.is_paused else ""
    workers = f"{counted(state.workers, 'worker')} in each world"
    yield f"{state.done} of {counted(state.total, 'episode')}, {workers}{paused}"
    for one in state.playing:
        stopping = ", stopping" if one.is_stopping else ""
        yield f"  {one.run}/{one.episode}  {one.seconds:.0f} s{stopping}"
    if state.tokens:
        cost = "an unknown price" if state.usd is None else f"${state.usd:.4f}"
        yield f"spent: {state.tokens:,} tokens, {cost}"
