"""Rows that a fingerprint does not read: of other schemas of a site's MariaDB, and its accounts.

The account that reads fingerprints sees one schema. Where a state was taken, the server's own user
reads the others too.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from arena_core.errors import DatabaseError
from orchestrator.sandbox.reset.database import execute_as_owner
from orchestrator.sandbox.reset.state import ROWS_ELSEWHERE, ObjectState
from sites.manifest import DatabaseEngine, ServerDatabase

if TYPE_CHECKING:
    from orchestrator.sandbox.engine.engine import Engine
    from orchestrator.sandbox.reset.replica import Replica

_TIMEOUT_S: Final = 30.0
# InnoDB writes its statistics when it likes, and logs grow while somebody only reads.
_CHECKSUMS: Final = (
    "SET @tables = (SELECT GROUP_CONCAT('`', REPLACE(TABLE_SCHEMA, '`', '``'), '`.`',"
    " REPLACE(TABLE_NAME, '`', '``'), '`' ORDER BY TABLE_SCHEMA, TABLE_NAME)"
    " FROM information_schema.TABLES"
    " WHERE TABLE_TYPE IN ('BASE TABLE', 'SEQUENCE', 'SYSTEM VERSIONED')"
    " AND TABLE_SCHEMA NOT IN (DATABASE(), 'information_schema', 'performance_schema')"
    " AND (TABLE_SCHEMA <> 'mysql' OR TABLE_NAME NOT IN ('innodb_table_stats',"
    " 'innodb_index_stats', 'general_log', 'slow_log')));"
    " EXECUTE IMMEDIATE CONCAT('CHECKSUM TABLE ', @tables, ' EXTENDED')"
)


def is_on_mariadb(replica: Replica) -> bool:
    """Whether a site has a MariaDB, with one schema of its own."""
    database = replica.site.database
    return isinstance(database, ServerDatabase) and database.engine is DatabaseEngine.MARIADB


async def rows_elsewhere(engine: Engine, replica: Replica) -> tuple[ObjectState, ...]:
    """Return a hash of the rows of each schema that is not the site's own, accounts included.

    Raises:
        DatabaseError: the server's user may not read them, or a table cannot be opened.
    """
    if not is_on_mariadb(replica):
        return ()
    done = await execute_as_owner(
        engine, replica, _CHECKSUMS, "--skip-column-names", timeout_s=_TIMEOUT_S
    )
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    unread = [line for line in lines if line.endswith("\tNULL")]
    if done.exit_code != 0 or unread or not lines:
        said = unread[0].split("\t")[0] if unread else " ".join(done.stderr.decode().split())
        message = f"site '{replica.site.name}': rows of other schemas cannot be read"
        raise DatabaseError(f"{message}: {said}")
    schemas: defaultdict[str, list[str]] = defaultdict(list)
    for line in lines:
        schemas[line.partition(".")[0]].append(line)
    return tuple(
        ObjectState(ROWS_ELSEWHERE, name, hashlib.sha256("\n".join(sums).encode()).hexdigest())
        for name, sums in sorted(schemas.items())
    )
