"""Whether a SELECT names only tables and columns that there are, seen without the database."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from evaluators.linting import like
from sites.manifest import DatabaseEngine
from tasks.site_tables import SiteTables
from tasks.sql import dialect_of

if TYPE_CHECKING:
    from sqlglot.expressions import Column, Table
    from sqlglot.optimizer.scope import Scope

# What SQLite always has.
_SQLITE_TABLES: Final = frozenset({"sqlite_master", "sqlite_schema"})
_SQLITE_COLUMNS: Final = frozenset({"rowid", "oid", "_rowid_"})

# The columns of one source of a query, in lower case; None where they are not known.
_Columns = Collection[str] | None


def names_fault(sql: str, tables: SiteTables) -> str | None:
    """Say which table or column of a query a site does not have; None where nothing is seen.

    A query that does not parse, or on a table whose columns are not known, is not judged: the
    database has the last word.
    """
    from sqlglot import parse_one  # noqa: PLC0415  heavy: 0.2 s
    from sqlglot.errors import SqlglotError  # noqa: PLC0415
    from sqlglot.optimizer.scope import traverse_scope  # noqa: PLC0415

    try:
        scopes = traverse_scope(parse_one(sql, read=dialect_of(tables.engine)))
        return next((fault for scope in scopes for fault in _faults(scope, tables)), None)
    except (SqlglotError, RecursionError):
        return None


def _faults(scope: Scope, tables: SiteTables) -> Iterator[str]:
    from sqlglot import exp  # noqa: PLC0415  heavy: 0.2 s

    sources = _sources(scope, tables)
    for source in scope.sources.values():
        if isinstance(source, exp.Table) and _is_missing(source, tables):
            yield f"no table '{source.name}'{like(source.name, tables.columns)}"
    visible = {**sources, **_outer_sources(scope, tables)}
    aliases = _aliases(scope)
    for column in scope.find_all(exp.Column):
        if not (_is_implied(column, tables) or _is_known(column, visible, aliases)):
            named = f"{column.table}.{column.name}" if column.table else column.name
            yield f"no column '{named}'{like(column.name, _columns_of(sources, tables, scope))}"


def _aliases(scope: Scope) -> Collection[str]:
    """Return the names that a query gives to what it selects: it may sort and group by them."""
    from sqlglot import exp  # noqa: PLC0415  heavy: 0.2 s

    query = scope.expression
    if not isinstance(query, exp.Query):
        return ()
    is_set = isinstance(query, exp.SetOperation)
    return {
        one.alias_or_name.lower() for one in query.selects if is_set or isinstance(one, exp.Alias)
    }


def _sources(scope: Scope, tables: SiteTables) -> dict[str, _Columns]:
    """Return the columns of each source of a query by the name that it has there."""
    from sqlglot import exp  # noqa: PLC0415  heavy: 0.2 s

    found: dict[str, _Columns] = {}
    for name, source in scope.sources.items():
        if isinstance(source, exp.Table):
            found[name.lower()] = _table_columns(source, tables)
        else:
            found[name.lower()] = _selected(source)
    return found


def _outer_sources(scope: Scope, tables: SiteTables) -> dict[str, _Columns]:
    """Return the sources of the queries around one that may name them."""
    if scope.parent is None or scope.is_cte or scope.is_derived_table:
        return {}
    return {**_outer_sources(scope.parent, tables), **_sources(scope.parent, tables)}


def _table_columns(table: Table, tables: SiteTables) -> _Columns:
    if table.args.get("db"):
        return None  # another schema, such as information_schema
    known = _known(tables).get(table.name.lower())
    return None if known is None else {column.lower() for column in known}


def _selected(scope: Scope) -> _Columns:
    """Return the columns of a query inside the query, None where a `*` is among them."""
    from sqlglot import exp  # noqa: PLC0415  heavy: 0.2 s

    query = scope.expression
    names = query.named_selects if isinstance(query, exp.Query) and not query.is_star else None
    outer = getattr(query.parent, "alias_column_names", None)
    if outer:
        return {name.lower() for name in outer}
    return None if not names or "" in names else {name.lower() for name in names}


def _is_missing(table: Table, tables: SiteTables) -> bool:
    if table.args.get("db") or not table.name or table.name.lower() == "dual":
        return False
    unlisted = {name.lower() for name in tables.unlisted}
    if tables.engine is DatabaseEngine.SQLITE:
        unlisted |= _SQLITE_TABLES
    return table.name.lower() not in _known(tables).keys() | unlisted


def _is_implied(column: Column, tables: SiteTables) -> bool:
    """Whether a name is none that a table lists: `*`, and in SQLite a row's id or "text"."""
    if tables.engine is not DatabaseEngine.SQLITE:
        return not column.name
    return not column.name or column.name.lower() in _SQLITE_COLUMNS or column.this.quoted


def _is_known(column: Column, sources: Mapping[str, _Columns], aliases: Collection[str]) -> bool:
    """Whether a column is there, or may be: in a source that is not known."""
    name = column.name.lower()
    if column.table:
        columns = sources.get(column.table.lower())
        return columns is None or name in columns
    if name in aliases or any(columns is None for columns in sources.values()):
        return True
    return any(name in columns for columns in sources.values() if columns is not None)


def _known(tables: SiteTables) -> Mapping[str, Collection[str]]:
    return {table.lower(): columns for table, columns in tables.columns.items()}


def _columns_of(sources: Mapping[str, _Columns], tables: SiteTables, scope: Scope) -> list[str]:
    """Return the columns that could have been meant."""
    from sqlglot import exp  # noqa: PLC0415  heavy: 0.2 s

    named = [one.name for one in scope.sources.values() if isinstance(one, exp.Table)]
    listed = {column for table in named for column in tables.columns.get(table, ())}
    listed.update(column for columns in sources.values() for column in columns or ())
    return sorted(listed or {column for each in tables.columns.values() for column in each})
