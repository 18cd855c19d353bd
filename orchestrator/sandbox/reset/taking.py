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
from orchestrator.sandbox.reset.watch import is_on_mariadb
from sites.manifest import ServerDatabase

if TYPE_CHECKING:
    from orchestrator.sandbox.engine.engine import Engine
    from orchestrator.sandbox.reset.supervision import Taken
    from orchestrator.sandbox.reset.watch import Mark, Watch

# After a write a database tidies up for seconds: all of these must pass, tries and seconds.
_TRIES: Final = 3
_STILL_WITHIN_S: Final = 10.0
_SERVES_WITHIN_S: Final = 3.0
_NAMED: Final = 3
_CLOSED_WITHIN_S: Final = 60.0
_BEGINS_WITHIN_S: Final = 20.0
_CLOSED_WHOLE: Final = frozenset({"MyISAM", "MRG_MyISAM", "CSV", "ARCHIVE"})
_ODD_TABLES: Final = (
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
# A lock is no row: whoever holds one may do nothing for long, and a restore would take it away.
_LOCK_HOLDERS: Final = (
    "SET @holders = (SELECT IF(COUNT(*), '"
    "SELECT p.ID, p.USER, ROUND(p.TIME_MS / 1000, 1), CONCAT(''holds the lock '',"
    " QUOTE(l.TABLE_SCHEMA), ''; idle'') FROM information_schema.METADATA_LOCK_INFO l"
    " JOIN information_schema.PROCESSLIST p ON p.ID = l.THREAD_ID"
    " WHERE l.LOCK_TYPE = ''User lock'' AND p.COMMAND = ''Sleep'' ORDER BY p.ID"
    "', 'DO 0') FROM information_schema.PLUGINS"
    " WHERE PLUGIN_NAME = 'METADATA_LOCK_INFO' AND PLUGIN_STATUS = 'ACTIVE');"
    " EXECUTE IMMEDIATE @holders"
)


async def take_state(engine: Engine, watch: Watch) -> TakenState:
    """Take a replica's state and its fingerprint; errors are those of `take_marked_state`."""
    taken, _ = await take_marked_state(engine, watch)
    return taken


async def take_marked_state(engine: Engine, watch: Watch) -> tuple[TakenState, Mark]:
    """Take a replica's state and its fingerprint, which are of one moment.

    A site whose files are whole after a crash does not notice. The services of another are ended
    for it, and begin anew.

    Returns:
        What moves with the state, as it was then, beside the state.
    """
    await _require_serving(engine, watch.replica)
    if await _survives_a_crash(watch.replica):
        return await _take_running(engine, watch)
    return await _take_closed(engine, watch)


async def _take_running(engine: Engine, watch: Watch) -> tuple[TakenState, Mark]:
    """Take a state while all processes stand still.

    Nothing moved from before the fingerprint until after: the counters that prove a `clean` reset
    show that. What a transaction has written that is open while all stands still was written before
    these were read, and it is refused, or it moved them.
    """
    replica = watch.replica
    ends, tries, moved = time.monotonic() + _STILL_WITHIN_S, 0, None
    while tries < _TRIES or time.monotonic() < ends:
        tries += 1
        before, fingerprint = await watch.read(partial(_require_quiet, engine, replica))
        _refuse_settings(replica, fingerprint)
        supervision = await trusted_supervision(watch)
        taken = await supervision.take_state()
        after = await _mark(watch)
        moved = after.moved_since(before)
        if moved is None:
            return _state_of(replica, taken, fingerprint), after
    message = f"site '{replica.site.name}' is written to all the time: {moved}"
    raise StateError(message, hint="wait until whoever uses it is done")


async def _take_closed(engine: Engine, watch: Watch) -> tuple[TakenState, Mark]:
    """Take a state between the end of a site's services and their new beginning.

    Its fingerprint is the same before and after, or it is refused.
    """
    replica = watch.replica
    _, fingerprint = await watch.read(partial(_require_quiet, engine, replica))
    _refuse_settings(replica, fingerprint)
    supervision = await trusted_supervision(watch)
    await _mark(watch)
    running = await supervision.take_state()  # what cannot be kept is refused while the site runs
    watch.distrust()  # its supervisor takes what is taken for the target: of files and the clock
    await supervision.close_services(_CLOSED_WITHIN_S)
    try:
        taken = await supervision.take_state()
    except StateError:
        await supervision.restore_state(running.packed, _BEGINS_WITHIN_S)
        raise
    await supervision.restore_state(taken.packed, _BEGINS_WITHIN_S)
    await await_health(engine, replica, timeout_s=_BEGINS_WITHIN_S)
    before, again = await watch.read(partial(_require_quiet, engine, replica))
    after = await _mark(watch)
    moved = after.moved_since(before)
    differences = (*again.differences(fingerprint), *([moved] if moved else []))
    if differences:
        message = f"site '{replica.site.name}' is not the same after its services were started anew"
        found = "; ".join(differences[:_NAMED])
        raise StateError(f"{message}: {found}", hint="wait until whoever uses it is done")
    return _state_of(replica, taken, fingerprint), after


async def _mark(watch: Watch) -> Mark:
    mark = await watch.mark()
    if mark is None:
        message = f"site '{watch.replica.site.name}': nothing shows whether it is written to"
        raise StateError(message)
    return mark


def _state_of(replica: Replica, taken: Taken, fingerprint: Fingerprint) -> TakenState:
    return TakenState(
        site=replica.site.name,
        image_id=replica.placement.image_id,
        packed=taken.packed,
        fingerprint=fingerprint,
        clock=taken.clock,
    )


async def _survives_a_crash(replica: Replica) -> bool:
    """Whether a state may be what a killed site leaves behind.

    Its manifest says so, and no table is of an engine that is broken after its server was killed.
    """
    state = replica.site.state
    if not is_on_mariadb(replica):
        return state is None or state.crash_safe
    found = await asyncio.to_thread(_odd_tables, replica)
    for table, kind in found:
        if str(kind) not in _CLOSED_WHOLE:
            message = f"site '{replica.site.name}': table {table} is of {kind}"
            hint = f"ALTER TABLE {table} ENGINE = InnoDB"
            raise StateError(f"{message}, which a state cannot hold", hint=hint)
    return state is None or (state.crash_safe and not found)


async def _require_serving(engine: Engine, replica: Replica) -> None:
    """Refuse a site that is broken: going back to that could not be told from a failed restore."""
    try:
        await await_health(engine, replica, timeout_s=_SERVES_WITHIN_S)
    except UnhealthyError as cause:
        message = f"site '{replica.site.name}' does not serve, which a state cannot hold"
        raise StateError(f"{message}: {cause.message}", hint="arena reset") from cause


def _refuse_settings(replica: Replica, fingerprint: Fingerprint) -> None:
    settings = [one.name for one in fingerprint.objects if one.kind == "setting"]
    if settings:
        message = f"site '{replica.site.name}': {settings[0]} was set while the server ran"
        raise StateError(f"{message}, which a state cannot hold", hint="set it back, then save")


def _odd_tables(replica: Replica) -> tuple[tuple[object, ...], ...]:
    if replica.database is None:
        raise DatabaseError(f"site '{replica.site.name}': its database is not published")
    with database_reader(replica.site, replica.database) as reader:
        return reader.read(_ODD_TABLES).rows


async def _require_quiet(engine: Engine, replica: Replica) -> None:
    """Wait until no transaction has changed rows and no statement runs; refuse what takes too long.

    Going back to a state ends them: rows that they have written would be gone.
    """
    if not is_on_mariadb(replica):
        return
    ends = time.monotonic() + _QUIET_WITHIN_S
    while found := await _under_way(engine, replica):
        if time.monotonic() > ends:
            message = f"site '{replica.site.name}': {found[0]}, which a state cannot hold"
            raise StateError(message, hint="wait until it ends, or end it; then save")


async def _under_way(engine: Engine, replica: Replica) -> tuple[str, ...]:
    """Say what the connections of all accounts but the reader's are in the middle of."""
    asked = f"{_UNDER_WAY}; {_LOCK_HOLDERS}"
    done = await execute_as_owner(engine, replica, asked, "--skip-column-names", timeout_s=_LOOK_S)
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


def require_same_image(replica: Replica, taken: TakenState | None) -> None:
    """Raise StateError where a replica cannot be brought to a state: it is of another image."""
    runs = replica.placement.image_id
    if taken is not None and taken.image_id != runs:
        message = (
            f"site '{replica.site.name}': the state was taken of image {taken.image_id[:19]}…,"
            f" and the site runs {runs[:19]}…"
        )
        raise StateError(message, hint="take it anew: a state never goes over to another image")
