"""Brings sites that stand by themselves, as `arena up` starts them, back to golden."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from arena_core.errors import ArenaError, ImageError, SiteError, UsageError
from arena_core.task_group import task_group
from arena_core.work_events import OnWork, WorkEnded, WorkPlanned, WorkStep, ignore_work
from evaluators.changes import MoreChanges, RowChange, said
from evaluators.evidence import Receipt
from orchestrator.sandbox.delta.delta import delta_of
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.inventory import EndedReplica, running_or_ended
from orchestrator.sandbox.pool.pool_context import label_of
from orchestrator.sandbox.reset.ladder import replace_container, reset_replica, strategies_for
from orchestrator.sandbox.reset.replica import Placement, Replica
from orchestrator.sandbox.reset.strategies import Strategy
from orchestrator.sandbox.reset.watch import Watch
from sites.registry import SiteRegistry


@dataclass(frozen=True, slots=True)
class SiteReset:
    """One replica that is golden again.

    Attributes:
        receipt: the proof.
        slot: None where all slots share it.
        rows: what differed before, one line a row; empty where nobody asked.
    """

    receipt: Receipt
    slot: int | None
    rows: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ResetOutcome:
    """What became of the replicas that were to be reset.

    Attributes:
        done: those that are golden again, by site and slot.
        failures: why others are not; they were removed.
    """

    done: tuple[SiteReset, ...]
    failures: tuple[ArenaError, ...] = ()

    @classmethod
    def of(cls, tasks: Iterable[asyncio.Task[SiteReset | ArenaError]]) -> Self:
        outcomes = [task.result() for task in tasks]
        return cls(
            done=tuple(one for one in outcomes if not isinstance(one, ArenaError)),
            failures=tuple(one for one in outcomes if isinstance(one, ArenaError)),
        )


@dataclass(frozen=True, slots=True)
class ResetRequest:
    """What is to be reset.

    Attributes:
        sites: all that are up where none is named.
        slot: only this one; None for every one.
        look_before: say first what differs from golden.
    """

    sites: Sequence[str]
    slot: int | None
    strategies: Sequence[Strategy]
    look_before: bool


def strategies_of(name: str) -> Sequence[Strategy]:
    """Return what `--strategy NAME` tries on sites that stand by themselves."""
    if name == "swap":
        message = (
            "strategy 'swap': a site of `arena up` has one port and no gateway in front of it, so"
            " there is nothing to swap; swaps happen between the episodes of `arena eval`"
        )
        raise UsageError(message, hint="arena reset --strategy rewind")
    return strategies_for(name)


async def reset_sites(
    engine: Engine, registry: SiteRegistry, asked: ResetRequest, on_work: OnWork = ignore_work
) -> ResetOutcome:
    """Reset replicas side by side; what fails for one keeps no other from it."""
    replicas, ended = await running_or_ended(engine, registry, asked.sites, asked.slot)
    on_work(WorkPlanned(len(replicas) + len(ended)))
    async with task_group() as group:
        tasks = [
            *(
                group.create_task(_shown(replica.placement, _one(engine, replica, asked), on_work))
                for replica in replicas
            ),
            *(
                group.create_task(_shown(one.placement, _another(engine, one, asked), on_work))
                for one in ended
            ),
        ]
    return ResetOutcome.of(tasks)


async def _shown(
    placement: Placement, work: Awaitable[SiteReset | ArenaError], on_work: OnWork
) -> SiteReset | ArenaError:
    """Await the reset of one replica, and report its beginning and its end."""
    unit = label_of(placement.site.name, placement.slot)
    on_work(WorkStep(unit, "resetting, then proving it golden"))
    try:
        return await work
    finally:
        on_work(WorkEnded(unit))


async def _one(engine: Engine, replica: Replica, asked: ResetRequest) -> SiteReset | ArenaError:
    """Reset one replica; a failure is returned, so that the others go on."""
    watch = Watch.over(engine, replica)
    try:
        rows = await _rows_that_differ(engine, watch) if asked.look_before else ()
        # Nobody watched what a person's browser did: the proof decides, not a count of writes.
        reset = await reset_replica(
            engine, watch, strategies=asked.strategies, wrote=False, look_before=asked.look_before
        )
    except ArenaError as failure:
        await watch.close()
        return failure
    await reset.watch.close()
    return SiteReset(reset.receipt, replica.placement.slot, rows)


async def _another(
    engine: Engine, ended: EndedReplica, asked: ResetRequest
) -> SiteReset | ArenaError:
    """Start another replica in the place of one that does not run; a failure is returned."""
    try:
        reset = await replace_container(engine, ended.placement, ended.container, asked.strategies)
    except ArenaError as failure:
        return failure
    await reset.watch.close()
    return SiteReset(reset.receipt, ended.placement.slot)


async def _rows_that_differ(engine: Engine, watch: Watch) -> tuple[str, ...]:
    """Return one line for each row that differs from golden, before a reset takes it away.

    A replica that cannot be read has none; the receipt says why.
    """
    try:
        found = await delta_of(engine, watch.replica, await watch.prove())
    except SiteError:
        return ()
    except ImageError as failure:
        return (f"which rows differ is not known: {failure.message}",)
    return tuple(
        said(change) for change in found.changes if isinstance(change, RowChange | MoreChanges)
    )
