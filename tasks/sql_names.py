"""Whether a SELECT names only tables and columns that there are, seen without the database."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from typing import Final

from tasks.site_tables import SiteTables, like
from tasks.sql import OPAQUE

# SQLite resolves names as MariaDB does, and is everywhere. What it does not know of MariaDB's
# dialect is put into its words, or given to it as functions that it only counts the arguments of.
_REWRITTEN: Final = (
    (re.compile(r"\bSEPARATOR\s+''", re.IGNORECASE), ""),
    (re.compile(r"\bINTERVAL\s+(\S+)\s+[A-Z_]+\b", re.IGNORECASE), r"\1"),
    (re.compile(r"\bDISTINCT\b(?=[^()]*,[^()]*\))", re.IGNORECASE), ""),
    (re.compile(r"\b(DIV|MOD)\b(?!\s*\()", re.IGNORECASE), "/"),
    (re.compile(r"<=>"), "IS"),
    (re.compile(r"\bUSING\s+[a-z0-9]+\s*\)", re.IGNORECASE), ")"),
    (re.compile(r"\bORDER\s+BY\s+[^()]*(?=\))(?<!OVER \()", re.IGNORECASE), ""),
)
_NO_FUNCTION: Final = re.compile(r"no such function: (\w+)|function (\w+)\(\)")
_NO_TABLE: Final = re.compile(r"no such table: (\w+)$")
_NO_COLUMN: Final = re.compile(r"no such column: (?:(\w+)\.)?(\w+)$")
_WORD: Final = re.compile(r"\w+")
_TRIES: Final = 40


def names_fault(sql: str, tables: SiteTables) -> str | None:
    """Say which table or column of a query a site does not have; None where nothing is seen.

    A query in words that cannot be resolved here, or on a table whose columns are not known, is
    not judged: the database has the last word.
    """
    plain = OPAQUE.sub(lambda found: _plain(found.group()), sql).strip().rstrip(";")
    if not tables.unlisted.isdisjoint(_WORD.findall(plain)):
        return None
    refusal = _refusal(plain, tables)
    if refusal is None:
        for pattern, words in _REWRITTEN:
            plain = pattern.sub(words, plain)
        refusal = _refusal(plain, tables)
    return _fault(refusal or "", plain, tables)


def _refusal(sql: str, tables: SiteTables) -> str | None:
    """Return what SQLite says against a query: empty for nothing, None where it is not its SQL."""
    database = tables.database
    for _ in range(_TRIES):
        try:
            database.execute(f"EXPLAIN {sql}")
        except sqlite3.Error as error:
            said = str(error)
            unknown = _NO_FUNCTION.search(said)
            if unknown is None:
                return said if said.startswith("no such ") else None
            database.create_function(unknown[1] or unknown[2], -1, _anything)
        else:
            return ""
    return None


def _fault(refusal: str, sql: str, tables: SiteTables) -> str | None:
    table = _NO_TABLE.search(refusal)
    if table is not None:
        return f"no table '{table[1]}'{like(table[1], tables.columns)}"
    column = _NO_COLUMN.search(refusal)
    if column is not None:
        named = f"{column[1]}.{column[2]}" if column[1] else column[2]
        return f"no column '{named}'{like(column[2], _columns_of(sql, tables))}"
    return None


def _columns_of(sql: str, tables: SiteTables) -> list[str]:
    """Return the columns of the tables that a query names."""
    words = set(_WORD.findall(sql))
    named: Iterable[str] = words & tables.columns.keys() or tables.columns
    return sorted({column for table in named for column in tables.columns[table]})


def _plain(opaque: str) -> str:
    """Empty a string, drop a comment, keep a quoted name."""
    if opaque.startswith("`"):
        return opaque
    return "''" if opaque[0] in "'\"" else " "


def _anything(*_: object) -> None:
    """Stand for a function that SQLite does not have; it is never called."""
