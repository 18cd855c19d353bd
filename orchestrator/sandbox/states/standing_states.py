"""Takes the states of sites that stand by themselves, and brings them back to states taken."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from arena_core.errors import ArenaError, StateError, UnhealthyError
from arena_core.task_group import task_group
from arena_core.work_events import OnWork, WorkEnded, WorkPlanned, WorkStep, ignore_work
from orchestrator.sandbox.check_queries import ask
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.inventory import running_replicas
from orchestrator.sandbox.pool.pool_context import label_of
from orchestrator.sandbox.reset.ladder import reset_replica
from orchestrator.sandbox.reset.replica import Replica, await_health
from orchestrator.sandbox.reset.state import Fingerprint, TakenState
from orchestrator.sandbox.reset.strategies import Recreate, Rewind, trusted_supervision
from orchestrator.sandbox.reset.watch import Watch
from orchestrator.sandbox.standing_sites import ResetOutcome, SiteReset
from orchestrator.sandbox.states.state_file import SavedState
from sites.manifest import DatabaseEngine, ServerDatabase
from sites.registry import SiteRegistry

_TRIES = 3
_SERVES_WITHIN_S = 3.0
_UNSAFE_TABLES = (
    "SELECT TABLE_NAME, ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()"
    " AND TABLE_TYPE = 'BASE TABLE' AND ENGINE NOT IN ('InnoDB', 'Aria') ORDER BY TABLE_NAME"
)


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

    Raises:
        StateError: a named site holds no state, nothing that is up does, or a state could not be
            taken: the site is written to all the time, or holds what cannot be taken.
        SiteGoneError: a named site is not up.
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
        return await take_state(engine, watch)
    finally:
        await watch.close()
        on_work(WorkEnded(unit))


async def take_state(engine: Engine, watch: Watch) -> TakenState:
    """Take a replica's state and its fingerprint, which are of one moment: nothing moved between.

    Raises:
        StateError: something writes to it all the time, or it holds what cannot be taken.
    """
    replica = watch.replica
    await _require_serving(engine, replica)
    await _refuse_what_no_crash_survives(replica)
    for _ in range(_TRIES):
        fingerprint = await watch.prove()
        _refuse_settings(replica, fingerprint)
        before = await watch.mark()
        supervision = await trusted_supervision(engine, watch)
        taken = await supervision.take_state()
        after = await watch.mark()
        if before is None or after is None:
            raise StateError(f"site '{replica.site.name}': nothing shows whether it is written to")
        if after.moved_since(before) is None and fingerprint == await watch.prove():
            return TakenState(
                site=replica.site.name,
                image_id=replica.placement.image_id,
                packed=taken.packed,
                fingerprint=fingerprint,
                clock=taken.clock,
            )
    message = f"site '{replica.site.name}' is written to all the time: no state can be taken"
    raise StateError(message, hint="wait until whoever uses it is done")


async def _require_serving(engine: Engine, replica: Replica) -> None:
    """Refuse a site that is broken: going back to that could not be told from a failed restore."""
    try:
        await await_health(engine, replica, timeout_s=_SERVES_WITHIN_S)
    except UnhealthyError as cause:
        message = f"site '{replica.site.name}' does not serve, which a state cannot hold"
        raise StateError(f"{message}: {cause.message}", hint="arena reset") from cause


async def _refuse_what_no_crash_survives(replica: Replica) -> None:
    """Refuse tables of engines that are not whole, or empty, after their server was killed.

    A state is what a killed server leaves: InnoDB and Aria recover from that.
    """
    database = replica.site.database
    if not isinstance(database, ServerDatabase) or database.engine is not DatabaseEngine.MARIADB:
        return
    found = await ask(replica, _UNSAFE_TABLES, 1)
    if found.rows:
        table, kind = found.rows[0]
        message = (
            f"site '{replica.site.name}': table {table} is of {kind}, which a state cannot hold"
        )
        raise StateError(message, hint=f"ALTER TABLE {table} ENGINE = InnoDB")


def _refuse_settings(replica: Replica, fingerprint: Fingerprint) -> None:
    settings = [one.name for one in fingerprint.objects if one.kind == "setting"]
    if settings:
        message = f"site '{replica.site.name}': {settings[0]} was set while the server ran"
        raise StateError(f"{message}, which a state cannot hold", hint="set it back, then save")


async def restore_states(
    engine: Engine,
    registry: SiteRegistry,
    saved: SavedState,
    slot: int,
    on_work: OnWork = ignore_work,
) -> ResetOutcome:
    """Bring running sites to the states that were saved, each with a receipt that proves it.

    Raises:
        StateError: a state was taken of another image than a site runs; nothing was changed.
        SiteGoneError: one of the sites is not up.
    """
    replicas = await running_replicas(engine, registry, tuple(saved.sites), slot)
    for one in replicas:
        _require_same_image(one, saved.sites[one.site.name])
    on_work(WorkPlanned(len(replicas)))
    async with task_group() as group:
        tasks = [
            group.create_task(_restored(engine, one, saved.sites[one.site.name], on_work))
            for one in replicas
        ]
    outcomes = [task.result() for task in tasks]
    return ResetOutcome(
        done=tuple(one for one in outcomes if not isinstance(one, ArenaError)),
        failures=tuple(one for one in outcomes if isinstance(one, ArenaError)),
    )


def _require_same_image(replica: Replica, taken: TakenState) -> None:
    runs = replica.placement.image_id
    if taken.image_id != runs:
        message = (
            f"site '{replica.site.name}': the state was taken of image {taken.image_id[:19]}…,"
            f" and the site runs {runs[:19]}…"
        )
        raise StateError(message, hint="take it anew: a state never goes over to another image")


async def _restored(
    engine: Engine, replica: Replica, taken: TakenState, on_work: OnWork
) -> SiteReset | ArenaError:
    """Restore one replica; a failure is returned, so that the others go on."""
    unit = label_of(replica.site.name, replica.placement.slot)
    on_work(WorkStep(unit, "going to the state, then proving it"))
    watch = Watch.over(engine, replica, taken=taken)
    try:
        reset = await reset_replica(engine, watch, strategies=(Rewind(), Recreate()), wrote=True)
    except ArenaError as failure:
        await watch.close()
        return failure
    finally:
        on_work(WorkEnded(unit))
    await reset.watch.close()
    return SiteReset(reset.receipt, replica.placement.slot)
