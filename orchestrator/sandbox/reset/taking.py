"""Takes the state of a replica, with a fingerprint of the same moment."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from arena_core.errors import DatabaseError, StateError, UnhealthyError
from orchestrator.sandbox.reset.replica import Replica, await_health
from orchestrator.sandbox.reset.state import Fingerprint, TakenState
from orchestrator.sandbox.reset.strategies import trusted_supervision
from sites.manifest import DatabaseEngine, ServerDatabase

if TYPE_CHECKING:
    from orchestrator.sandbox.engine.engine import Engine
    from orchestrator.sandbox.reset.watch import Watch

_TRIES: Final = 3
_SERVES_WITHIN_S: Final = 3.0
_UNSAFE_TABLES: Final = (
    "SELECT TABLE_NAME, ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()"
    " AND TABLE_TYPE = 'BASE TABLE' AND ENGINE NOT IN ('InnoDB', 'Aria') ORDER BY TABLE_NAME"
)


async def take_state(engine: Engine, watch: Watch) -> TakenState:
    """Take a replica's state and its fingerprint, which are of one moment: nothing moved between.

    The counters that prove a `clean` reset show that, from before the fingerprint until after.

    Raises:
        StateError: something writes to it all the time, or it holds what cannot be taken.
    """
    replica = watch.replica
    await _require_serving(engine, replica)
    await _refuse_what_no_crash_survives(replica)
    for _ in range(_TRIES):
        before, fingerprint = await watch.read()
        _refuse_settings(replica, fingerprint)
        supervision = await trusted_supervision(engine, watch)
        taken = await supervision.take_state()
        after = await watch.mark()
        if after is None:
            raise StateError(f"site '{replica.site.name}': nothing shows whether it is written to")
        if after.moved_since(before) is None:
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
    found = await asyncio.to_thread(_unsafe_table, replica)
    if found is not None:
        table, kind = found
        message = (
            f"site '{replica.site.name}': table {table} is of {kind}, which a state cannot hold"
        )
        raise StateError(message, hint=f"ALTER TABLE {table} ENGINE = InnoDB")


def _refuse_settings(replica: Replica, fingerprint: Fingerprint) -> None:
    settings = [one.name for one in fingerprint.objects if one.kind == "setting"]
    if settings:
        message = f"site '{replica.site.name}': {settings[0]} was set while the server ran"
        raise StateError(f"{message}, which a state cannot hold", hint="set it back, then save")


def _unsafe_table(replica: Replica) -> tuple[object, object] | None:
    from orchestrator.sandbox.reset.database import database_reader  # noqa: PLC0415

    if replica.database is None:
        raise DatabaseError(f"site '{replica.site.name}': its database is not published")
    with database_reader(replica.site, replica.database) as reader:
        rows = reader.read(_UNSAFE_TABLES, 1).rows
    return (rows[0][0], rows[0][1]) if rows else None


def require_same_image(replica: Replica, taken: TakenState | None) -> None:
    """Raise StateError where a replica cannot be brought to a state: it is of another image."""
    runs = replica.placement.image_id
    if taken is not None and taken.image_id != runs:
        message = (
            f"site '{replica.site.name}': the state was taken of image {taken.image_id[:19]}…,"
            f" and the site runs {runs[:19]}…"
        )
        raise StateError(message, hint="take it anew: a state never goes over to another image")
