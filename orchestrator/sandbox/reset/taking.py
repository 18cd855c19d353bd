"""Takes the state of a replica, with a fingerprint of the same moment."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import TYPE_CHECKING, Final

from arena_core.errors import DatabaseError, StateError, UnhealthyError
from orchestrator.sandbox.reset.database import database_reader, execute_as_owner
from orchestrator.sandbox.reset.replica import Replica, await_health
from orchestrator.sandbox.reset.state import Fingerprint, TakenState
from orchestrator.sandbox.reset.strategies import trusted_supervision
from sites.manifest import DatabaseEngine, ServerDatabase

if TYPE_CHECKING:
    from orchestrator.sandbox.engine.engine import Engine
    from orchestrator.sandbox.reset.watch import Mark, Watch

# After a write a database tidies up for seconds: all of these must pass, tries and seconds.
_TRIES: Final = 3
_STILL_WITHIN_S: Final = 10.0
_SERVES_WITHIN_S: Final = 3.0
_UNSAFE_TABLES: Final = (
    "SELECT TABLE_NAME, ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()"
    " AND TABLE_TYPE = 'BASE TABLE' AND ENGINE NOT IN ('InnoDB', 'Aria') ORDER BY TABLE_NAME"
)
_QUIET_WITHIN_S: Final = 3.0
_LOOK_S: Final = 10.0
# MariaDB shows other accounts' connections to those with PROCESS only: its owner, not the reader. A
# transaction that has only read has nothing to lose, and applications keep such open: the shop's
# parent does while it draws its main pages.
_UNDER_WAY: Final = (
    "SELECT p.ID, p.USER, ROUND(p.TIME_MS / 1000, 1), IF(p.COMMAND = 'Sleep', CONCAT("
    "'has an open transaction: ', t.trx_rows_modified, ' rows changed, ',"
    " t.trx_rows_locked, ' locked; idle'),"
    " CONCAT('runs a statement (', COALESCE(p.STATE, ''), ')'))"
    " FROM information_schema.PROCESSLIST p"
    " LEFT JOIN information_schema.INNODB_TRX t ON t.trx_mysql_thread_id = p.ID"
    " WHERE p.ID <> CONNECTION_ID() AND p.COMMAND <> 'Daemon' AND"
    " (p.COMMAND <> 'Sleep' OR t.trx_rows_modified > 0 OR t.trx_rows_locked > 0) ORDER BY p.ID"
)


async def take_state(engine: Engine, watch: Watch) -> TakenState:
    """Take a replica's state and its fingerprint; errors are those of `take_marked_state`."""
    taken, _ = await take_marked_state(engine, watch)
    return taken


async def take_marked_state(engine: Engine, watch: Watch) -> tuple[TakenState, Mark]:
    """Take a replica's state and its fingerprint, which are of one moment: nothing moved between.

    The counters that prove a `clean` reset show that, from before the fingerprint until after. What
    a transaction has written that is open while all stands still was written before these were
    read, and it is refused, or it moved them.

    Returns:
        What moves with the state, as it was then, beside the state.

    Raises:
        StateError: something writes to it all the time, a request is under way and does not end, or
            it holds what cannot be taken.
    """
    replica = watch.replica
    _require_crash_safe(replica)
    await _require_serving(engine, replica)
    await _refuse_what_no_crash_survives(replica)
    ends, tries, moved = time.monotonic() + _STILL_WITHIN_S, 0, None
    while tries < _TRIES or time.monotonic() < ends:
        tries += 1
        before, fingerprint = await watch.read(partial(_require_quiet, engine, replica))
        _refuse_settings(replica, fingerprint)
        supervision = await trusted_supervision(watch)
        taken = await supervision.take_state()
        after = await watch.mark()
        if after is None:
            raise StateError(f"site '{replica.site.name}': nothing shows whether it is written to")
        moved = after.moved_since(before)
        if moved is None:
            state = TakenState(
                site=replica.site.name,
                image_id=replica.placement.image_id,
                packed=taken.packed,
                fingerprint=fingerprint,
                clock=taken.clock,
            )
            return state, after
    message = f"site '{replica.site.name}' is written to all the time: {moved}"
    raise StateError(message, hint="wait until whoever uses it is done")


def _require_crash_safe(replica: Replica) -> None:
    state = replica.site.state
    if state is not None and not state.crash_safe:
        message = (
            f"site '{replica.site.name}': its manifest does not say that what it writes is whole"
            " after a crash, and a state is what a crash leaves"
        )
        raise StateError(message, hint="`state: {crash_safe: true}` in its site.yaml says so")


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
    if not _is_on_mariadb(replica):
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
    if replica.database is None:
        raise DatabaseError(f"site '{replica.site.name}': its database is not published")
    with database_reader(replica.site, replica.database) as reader:
        rows = reader.read(_UNSAFE_TABLES, 1).rows
    return (rows[0][0], rows[0][1]) if rows else None


async def _require_quiet(engine: Engine, replica: Replica) -> None:
    """Wait until no transaction has changed rows and no statement runs; refuse what takes too long.

    Going back to a state ends them: rows that they have written would be gone.
    """
    if not _is_on_mariadb(replica):
        return
    ends = time.monotonic() + _QUIET_WITHIN_S
    while found := await _under_way(engine, replica):
        if time.monotonic() > ends:
            message = f"site '{replica.site.name}': {found[0]}, which a state cannot hold"
            raise StateError(message, hint="wait until it ends, or end it; then save")


async def _under_way(engine: Engine, replica: Replica) -> tuple[str, ...]:
    """Say what the connections of all accounts but the reader's are in the middle of."""
    done = await execute_as_owner(
        engine, replica, _UNDER_WAY, "--skip-column-names", timeout_s=_LOOK_S
    )
    if done.exit_code != 0:
        said = " ".join((done.stderr or done.stdout).decode("utf-8", "replace").split())
        message = f"site '{replica.site.name}': whether a request is under way cannot be seen"
        hint = "its image needs the client `mariadb`, and the server's user the privilege PROCESS"
        raise StateError(f"{message}: {said[max(said.find('ERROR '), 0) :]}", hint=hint)
    database = replica.site.database
    reader = database.user if isinstance(database, ServerDatabase) else None
    lines = (line.split("\t") for line in done.stdout.decode("utf-8", "replace").splitlines())
    return tuple(
        f"connection {number} of {user} {doing} for {seconds} s"
        for number, user, seconds, doing in lines
        if user != reader
    )


def _is_on_mariadb(replica: Replica) -> bool:
    database = replica.site.database
    return isinstance(database, ServerDatabase) and database.engine is DatabaseEngine.MARIADB


def require_same_image(replica: Replica, taken: TakenState | None) -> None:
    """Raise StateError where a replica cannot be brought to a state: it is of another image."""
    runs = replica.placement.image_id
    if taken is not None and taken.image_id != runs:
        message = (
            f"site '{replica.site.name}': the state was taken of image {taken.image_id[:19]}…,"
            f" and the site runs {runs[:19]}…"
        )
        raise StateError(message, hint="take it anew: a state never goes over to another image")
