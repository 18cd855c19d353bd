"""What a MariaDB server counts by itself: where none of it moved, nothing was written.

Found by experiment on MariaDB 10.11, and held by tests/docker/reset/test_counters.py:

- A server that is idle or only read from moves none of the numbers kept here. A number that moves
  without a write (an UPDATE that changes nothing, a temporary table) is a false alarm and costs a
  reset.
- InnoDB's log position moves without a write at a checkpoint only, which appends a record of 16
  bytes; a server makes one a second or two after its start. So where the last checkpoint moved, and
  the position by those 16 bytes and no more, nothing else was written. (The end of a transaction
  takes 35 bytes at least; what takes less moves another counter as well.)
- No single number sees everything. DDL of other engines and CREATE DATABASE show in `Com_*` only;
  a SELECT of a sequence's next value in `Handler_write`; the end of a transaction that had written
  earlier in the log position only; SET GLOBAL in the variable's origin only.
- `Handler_write` and its like count attempts, before the engine is called: an INSERT that fails or
  is rolled back has moved them, as it has moved the next id.
- FLUSH STATUS takes nothing away from them, and counts as `Com_flush`.

All of it holds for one server process. So a baseline is only compared over the connection that it
was read over: a server that was started anew has ended that connection.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from arena_core.errors import DatabaseError
from orchestrator.sandbox.reset.database import connect_mariadb, mariadb_errors, rows_of

if TYPE_CHECKING:
    from orchestrator.sandbox.engine.containers import Endpoint
    from orchestrator.sandbox.reset.database import Connection
    from sites.manifest import Site

_ANSWER_S: Final = 5
_LOG: Final = "INNODB_LSN_CURRENT"
_CHECKPOINT: Final = "INNODB_LSN_LAST_CHECKPOINT"
_CHECKPOINT_BYTES: Final = 16
_NAMED: Final = 3
# Every other `Com_*` counts as a write, one that a later version adds included. What a function, a
# trigger, a procedure or a prepared statement runs is counted under its own name as well.
_READING: Final = re.compile(
    "COM_((SHOW|STMT|HA)_.*|ADMIN_COMMANDS|BEGIN|CALL_PROCEDURE|CHANGE_DB|CHECKSUM|COMMIT"
    "|COMPOUND_SQL|DEALLOC_SQL|DO|EMPTY_QUERY|EXECUTE_IMMEDIATE|EXECUTE_SQL|GET_DIAGNOSTICS|HELP"
    "|PREPARE_SQL|RELEASE_SAVEPOINT|RESIGNAL|ROLLBACK|ROLLBACK_TO_SAVEPOINT|SAVEPOINT|SELECT"
    "|SET_OPTION|SIGNAL|XA_RECOVER)"
)
_STATUS: Final = (
    "SELECT UPPER(VARIABLE_NAME), VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS"
    r" WHERE VARIABLE_NAME LIKE 'COM\_%' OR VARIABLE_NAME IN"
    " ('HANDLER_WRITE', 'HANDLER_UPDATE', 'HANDLER_DELETE',"
    " 'INNODB_LSN_CURRENT', 'INNODB_LSN_LAST_CHECKPOINT')"
)
_SETTINGS: Final = (
    "SELECT VARIABLE_NAME, GLOBAL_VALUE FROM information_schema.SYSTEM_VARIABLES"
    " WHERE GLOBAL_VALUE_ORIGIN = 'SQL' ORDER BY VARIABLE_NAME"
)


@dataclass(frozen=True, slots=True)
class Counters:
    """What one server had counted at one moment.

    Attributes:
        counts: `Com_*` of statements that may write, `Handler_*` of rows, InnoDB's log position.
        settings: variables set since the server started, with their values.
        checkpoint: InnoDB's log position at its last checkpoint.
    """

    counts: tuple[tuple[str, int], ...]
    settings: tuple[tuple[str, str], ...]
    checkpoint: int = 0

    def moved_by_itself(self, before: Counters) -> bool:
        """Whether InnoDB's log moved and nothing else: it also tidies up after earlier writes."""
        others, before_others = (
            {name: count for name, count in counted.counts if name != _LOG}
            for counted in (self, before)
        )
        return (others, self.settings) == (before_others, before.settings)

    def moved_since(self, before: Counters) -> str | None:
        """Say what moved, the most telling first; None where nothing did."""
        has_checkpoint = self.checkpoint > before.checkpoint
        known = dict(before.counts)
        grown = ((name, count - known.get(name, 0)) for name, count in self.counts)
        moved = [
            f"{name.capitalize()} moved by {more}"
            for name, more in grown
            if more and not (name == _LOG and more == _CHECKPOINT_BYTES and has_checkpoint)
        ]
        moved += [f"{name.lower()} was set" for name, _ in {*self.settings} ^ {*before.settings}]
        return ", ".join(moved[:_NAMED]) or None


class Meter:
    """Reads one server's counters over one connection, which it keeps, in a thread of its own."""

    def __init__(self, site: Site, connection: Connection, thread: ThreadPoolExecutor) -> None:
        self._site = site
        self._connection = connection
        self._thread = thread

    @classmethod
    async def open(cls, site: Site, endpoint: Endpoint) -> Meter:
        thread = ThreadPoolExecutor(1, thread_name_prefix=f"arena-meter-{site.name}")
        loop = asyncio.get_running_loop()
        try:
            connection = await loop.run_in_executor(
                thread, lambda: connect_mariadb(site, endpoint, answer_s=_ANSWER_S, autocommit=True)
            )
        except BaseException:
            thread.shutdown(wait=False)
            raise
        return cls(site, connection, thread)

    async def read(self) -> Counters:
        """Return the counters as they are now (about 2 ms)."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._read)

    def close(self) -> None:
        try:
            self._thread.submit(_hang_up, self._connection)
        except RuntimeError:
            return  # closed before
        self._thread.shutdown(wait=False)

    def _read(self) -> Counters:
        with mariadb_errors(self._site):
            found = {str(name): int(str(n)) for name, n in rows_of(self._connection, _STATUS)}
            settings = rows_of(self._connection, _SETTINGS)
        if _LOG not in found:
            message = f"database of site '{self._site.name}': the server shows no counters"
            raise DatabaseError(message)
        checkpoint = found.pop(_CHECKPOINT, 0)
        values = tuple((str(name), str(value)) for name, value in settings)
        return Counters(tuple(_writing(found)), values, checkpoint)


def _writing(found: Mapping[str, int]) -> list[tuple[str, int]]:
    """Keep what shows writes, statements first."""
    return sorted((name, count) for name, count in found.items() if not _READING.fullmatch(name))


def _hang_up(connection: Connection) -> None:
    if connection.open:
        connection.close()
