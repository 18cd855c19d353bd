"""What a replica's state is, read in another way than Arena does: to check Arena's own reading.

Arena asks as the read-only account, hashes rows by itself and reads files through its supervisor or
find(1). The witness asks as the superuser, lets the server checksum the tables, reads definitions
from the catalogue, and also sees what Arena's account cannot: triggers, routines, other schemas,
accounts of the server, and the files' times.
"""

# ruff: noqa: S608  the names are those of the tests' own sites
from __future__ import annotations

import asyncio
from typing import Final

from mutations.grounds import GROUNDS
from mutations.subject import Subject

# A kind of fact, what it says, the catalogue's view that has it, and its column of the schema.
_QUESTIONS: Final = (
    ("table", "TABLE_NAME, TABLE_TYPE, ENGINE, AUTO_INCREMENT, TABLE_COLLATION", "TABLES", "TABLE"),
    (
        "column",
        "TABLE_NAME, COLUMN_NAME, ORDINAL_POSITION, COLUMN_TYPE, IS_NULLABLE, COLLATION_NAME",
        *("COLUMNS", "TABLE"),
    ),
    ("default", "TABLE_NAME, COLUMN_NAME, COLUMN_DEFAULT, EXTRA", "COLUMNS", "TABLE"),
    (
        "index",
        "TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME, NON_UNIQUE",
        *("STATISTICS", "TABLE"),
    ),
    ("view", "TABLE_NAME, VIEW_DEFINITION", "VIEWS", "TABLE"),
    ("trigger", "TRIGGER_NAME, ACTION_STATEMENT", "TRIGGERS", "TRIGGER"),
    ("routine", "ROUTINE_NAME, ROUTINE_DEFINITION", "ROUTINES", "ROUTINE"),
)
_CATALOGUE: Final = (
    *(
        f"SELECT '{kind}', {facts} FROM information_schema.{view} WHERE {of}_SCHEMA = DATABASE()"
        for kind, facts, view, of in _QUESTIONS
    ),
    "SELECT 'schema', SCHEMA_NAME FROM information_schema.SCHEMATA",
    "SELECT 'account', User, Host, Priv FROM mysql.global_priv",
)
# Folders' times are no state: whoever puts a file back changes them.
_FILES: Final = (
    'find "$1" -type d -printf "folder\\t%P\\t%m\\t%U:%G\\n";'
    ' find "$1" ! -type d -printf "file\\t%P\\t%y\\t%m\\t%U:%G\\t%s\\t%T@\\t%l\\n";'
    ' find "$1" -type f -exec sha256sum {} +'
)


async def witness(subject: Subject) -> frozenset[str]:
    """Return one line for each fact of a replica's state; equal sets mean equal state."""
    files, database = await asyncio.gather(_files(subject), _database(subject))
    return frozenset((*files, *database))


def parted(found: frozenset[str], golden: frozenset[str]) -> str:
    """Say in a few lines how two states differ; empty where they are equal."""
    lines = [f"- {line}" for line in golden - found] + [f"+ {line}" for line in found - golden]
    return "\n".join(sorted(lines, key=lambda line: line[2:])[:20])


async def _files(subject: Subject) -> list[str]:
    """Return the facts of the stateful folders, the first one's only; none where there is none."""
    if not subject.replica.site.fingerprint.files:
        return []
    return (await subject.shell(_FILES, subject.folder)).splitlines()


async def _database(subject: Subject) -> tuple[str, ...]:
    site = subject.replica.site
    if site.database is None:
        return ()
    aside = GROUNDS[site.name].aside
    half = site.fingerprint.volatile_columns
    found = await subject.sql(
        "SET SESSION group_concat_max_len = 1000000",
        *_CATALOGUE,
        _checksums(aside | frozenset(half)),
        *(_rows(table, volatile) for table, volatile in sorted(half.items())),
    )
    return tuple(line for line in found if not _tells_of(line, aside))


def _checksums(beside: frozenset[str]) -> str:
    """Return the statement that checksums all tables there are but some."""
    tables = (
        "(SELECT GROUP_CONCAT('`', TABLE_NAME, '`') FROM information_schema.TABLES"
        f" WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE'"
        f" AND TABLE_NAME NOT IN ({_quoted(beside)}))"
    )
    return _executed(f"CONCAT('CHECKSUM TABLE ', {tables}, ' EXTENDED')")


def _rows(table: str, volatile: frozenset[str]) -> str:
    """Return the statement that reads a table, if it is there, but for some columns."""
    columns = (
        "(SELECT GROUP_CONCAT('`', COLUMN_NAME, '`') FROM information_schema.COLUMNS"
        f" WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '{table}'"
        f" AND COLUMN_NAME NOT IN ({_quoted(volatile)}))"
    )
    return _executed(f"CONCAT('SELECT ', {columns}, ' FROM {table}')")


def _executed(statement: str) -> str:
    """Return what executes a statement that the server puts together; NULL where it cannot."""
    return f"SET @put = COALESCE({statement}, 'SELECT NULL'); EXECUTE IMMEDIATE @put"


def _quoted(names: frozenset[str]) -> str:
    return ", ".join(f"'{name}'" for name in ("", *sorted(names)))


def _tells_of(line: str, tables: frozenset[str]) -> bool:
    """Whether a line is the catalogue's entry of one of some tables."""
    kind, _, rest = line.partition("\t")
    return kind == "table" and rest.split("\t", 1)[0] in tables
