"""Rows that a fingerprint does not read: of other schemas of a site's MariaDB, and its accounts.

The account that reads fingerprints sees one schema. A state that was taken changes others only
where their files differ from the image's; those tables are read as the server's own user.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from arena_core.errors import DatabaseError
from orchestrator.sandbox.reset.database import execute_as_owner
from orchestrator.sandbox.reset.snapshot import quoted
from orchestrator.sandbox.reset.state import ROWS_ELSEWHERE, ObjectState, changed_paths
from sites.manifest import DatabaseEngine, ServerDatabase

if TYPE_CHECKING:
    from orchestrator.sandbox.engine.engine import Engine
    from orchestrator.sandbox.reset.replica import Replica
    from orchestrator.sandbox.reset.state import Fingerprint

_ROWS: Final = re.compile(r"(?:.*/)?(?P<schema>[^/]+)/(?P<table>[^/]+)\.(?:ibd|MAD|MYD|CSV|ARZ)")
_PARTITION: Final = re.compile(r"#[Pp]#.*")
_INNER: Final = ("#", "FTS_0")  # temporary tables, and the words of full-text indexes
_ENCODED: Final = re.compile(r"@([0-9a-f]{4})")
NO_ROWS: Final = "NULL"  # what MariaDB gives for a table that it cannot open
_TIMEOUT_S: Final = 30.0

Table = tuple[str, str]


def changed_elsewhere(packed: bytes, own: str) -> tuple[Table, ...]:
    """Return schema and name of the tables outside a site's own schema whose rows a state changes.

    MariaDB keeps each in a file, in the folder of its schema. The names are those of file and
    folder: other characters than letters, digits and `_` stand there as `@` and four hex digits.
    """
    found = map(_ROWS.fullmatch, changed_paths(packed))
    tables = {
        (one["schema"], _PARTITION.sub("", one["table"]))
        for one in found
        if one is not None and not one["table"].startswith(_INNER)
    }
    return tuple(sorted(table for table in tables if table[0] != own))


def read_elsewhere(fingerprint: Fingerprint) -> tuple[Table, ...]:
    """Return the tables of other schemas whose rows a fingerprint names."""
    names = (one.name.partition(".") for one in fingerprint.objects if one.kind == ROWS_ELSEWHERE)
    return tuple((schema, table) for schema, _, table in names)


async def rows_elsewhere(
    engine: Engine, replica: Replica, tables: tuple[Table, ...]
) -> tuple[ObjectState, ...]:
    """Return what the rows of some tables sum up to; of a table that is not there `NO_ROWS`.

    Raises:
        DatabaseError: the image does not let its server's user read them.
    """
    if not tables:
        return ()
    names = ", ".join(f"{_named(schema)}.{_named(table)}" for schema, table in tables)
    sql = f"CHECKSUM TABLE {names} EXTENDED"
    done = await execute_as_owner(engine, replica, sql, "--skip-column-names", timeout_s=_TIMEOUT_S)
    sums = [line.rpartition("\t")[2] for line in done.stdout.decode().splitlines()]
    if done.exit_code != 0 or len(sums) != len(tables):
        said = " ".join(done.stderr.decode("utf-8", "replace").split())
        message = f"site '{replica.site.name}': rows of other schemas cannot be read"
        raise DatabaseError(f"{message}: {said}")
    return tuple(
        ObjectState(ROWS_ELSEWHERE, f"{schema}.{table}", total)
        for (schema, table), total in zip(tables, sums, strict=True)
    )


def own_schema(replica: Replica) -> str | None:
    """Return the name of the schema that fingerprints read; None where no MariaDB has one."""
    database = replica.site.database
    if isinstance(database, ServerDatabase) and database.engine is DatabaseEngine.MARIADB:
        return database.name
    return None


def _named(name: str) -> str:
    return quoted(_ENCODED.sub(lambda code: chr(int(code[1], 16)), name))
