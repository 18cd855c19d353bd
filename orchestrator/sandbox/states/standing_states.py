"""Takes the states of sites that stand by themselves, and brings them back to states taken."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from arena_core.errors import ArenaError, StateError
from arena_core.task_group import task_group
from arena_core.work_events import OnWork, WorkEnded, WorkPlanned, WorkStep, ignore_work
from orchestrator.sandbox.delta.present_rows import take_state_with_rows
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.inventory import running_replicas
from orchestrator.sandbox.pool.pool_context import label_of
from orchestrator.sandbox.reset.ladder import WAYS_TO_A_STATE, reset_replica
from orchestrator.sandbox.reset.replica import Replica
from orchestrator.sandbox.reset.state import TakenState
from orchestrator.sandbox.reset.supervision import Supervision
from orchestrator.sandbox.reset.taking import require_same_image
from orchestrator.sandbox.reset.watch import Watch
from orchestrator.sandbox.standing_sites import ResetOutcome, SiteReset
from orchestrator.sandbox.states import store
from orchestrator.sandbox.states.state_file import SavedState
from sites.registry import SiteRegistry


async def take_states(
    engine: Engine,
    registry: SiteRegistry,
    names: Sequence[str],
    slot: int,
    on_work: OnWork = ignore_work,
) -> SavedState:
    """Take the states of running sites; sites without state have none to take.

    Args:
        names: of sites; all that are up and hold state where none is named.
    """
    found = await running_replicas(engine, registry, names, slot)
    replicas = [one for one in found if one.supervisor is not None]
    for one in found:
        if one.supervisor is None and names:
            raise StateError(f"site '{one.site.name}' holds no state: there is nothing to take")
    if not replicas:
        raise StateError("no site is up that holds state", hint="arena up shop")
    on_work(WorkPlanned(len(replicas)))
    async with task_group() as group:
        tasks = [group.create_task(_taken(engine, one, on_work)) for one in replicas]
    taken = {one.site: one for one in (task.result() for task in tasks)}
    return SavedState(datetime.now(UTC), taken)


async def _taken(engine: Engine, replica: Replica, on_work: OnWork) -> TakenState:
    unit = label_of(replica.site.name, replica.placement.slot)
    on_work(WorkStep(unit, "taking its state"))
    watch = Watch.over(engine, replica)
    try:
        return await take_state_with_rows(engine, watch)
    finally:
        await watch.close()
        on_work(WorkEnded(unit))


async def restore_states(
    engine: Engine,
    registry: SiteRegistry,
    saved: SavedState,
    slot: int,
    on_work: OnWork = ignore_work,
) -> ResetOutcome:
    """Bring running sites to the states that were saved, each with a receipt that proves it."""
    replicas = await running_replicas(engine, registry, tuple(saved.sites), slot)
    for one in replicas:
        require_same_image(one, saved.sites[one.site.name])
    on_work(WorkPlanned(len(replicas)))
    async with task_group() as group:
        tasks = [
            group.create_task(_restored(engine, one, saved.sites[one.site.name], on_work))
            for one in replicas
        ]
    return ResetOutcome.of(tasks)


async def _restored(
    engine: Engine, replica: Replica, taken: TakenState, on_work: OnWork
) -> SiteReset | ArenaError:
    """Restore one replica; a failure is returned, so that the others go on."""
    unit = label_of(replica.site.name, replica.placement.slot)
    on_work(WorkStep(unit, "going to the state, then proving it"))
    watch = Watch.over(engine, replica, taken=taken)
    try:
        reset = await reset_replica(engine, watch, strategies=WAYS_TO_A_STATE, wrote=True)
    except ArenaError as failure:
        await watch.close()
        return failure
    finally:
        on_work(WorkEnded(unit))
    await reset.watch.close()
    return SiteReset(reset.receipt, replica.placement.slot)


async def restored_state(replica: Replica) -> tuple[str, TakenState] | None:
    """Return the kept state that a replica was brought to last, with its name; None for golden."""
    site = replica.site
    if replica.supervisor is None or site.state is None:
        return None
    supervision = await Supervision.open(replica.supervisor, site.state.folder)
    await supervision.close()
    if not supervision.restored:
        return None
    for one in store.every():
        taken = one.state.sites.get(site.name) if one.state else None
        if taken is not None and taken.name == supervision.restored:
            return one.name, taken
    raise StateError(
        f"site '{site.name}': the state {supervision.restored[:12]} that it was brought to is not"
        " kept here",
        hint=f"arena diff {site.name} --from golden",
    )
