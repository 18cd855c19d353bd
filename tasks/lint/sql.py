"""Whether text is one SELECT that only reads, seen without a database.

Parsed with sqlglot in the words of the site's engine. The database's own read-only account is the
second line: this one warns the author before anything runs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from arena_core.names import offered
from sites.manifest import DatabaseEngine, Site

if TYPE_CHECKING:
    from sqlglot.expressions import Column, Expr, Table
    from sqlglot.optimizer.scope import Scope
    from sqlglot.tokenizer_core import Token


_DIALECTS: Final = {
    DatabaseEngine.MARIADB: "mysql",
    DatabaseEngine.POSTGRESQL: "postgres",
    DatabaseEngine.SQLITE: "sqlite",
}
_SELECTS: Final = frozenset({"select", "with"})
_EXPLAINS: Final = frozenset({"explain", "describe", "desc"})
_SHOWS: Final = frozenset({"show", *_EXPLAINS})
_EXPLAIN_OPTIONS: Final = frozenset(
    ("analyze", "verbose", "query", "plan", "extended", "partitions", "format", "=", "json")
)
_WRITING: Final = frozenset({"delete", "insert", "replace", "update"})
_EXECUTED_COMMENTS: Final = ("!", "M!")  # MariaDB runs what stands in /*! … */ and /*M! … */

# Functions that wait, lock, write, or read files and other servers, where a SELECT calls them.
_FORBIDDEN: Final = frozenset(
    (
        *("benchmark", "sleep", "get_lock", "release_lock", "release_all_locks", "load_file"),
        *("master_pos_wait", "master_gtid_wait", "nextval", "setval", "sys_exec", "sys_eval"),
        *("pg_sleep", "pg_sleep_for", "pg_sleep_until", "pg_notify", "set_config"),
        *("pg_cancel_backend", "pg_terminate_backend", "pg_reload_conf", "pg_rotate_logfile"),
        *("pg_read_file", "pg_read_binary_file", "pg_stat_file", "query_to_xml"),
        *("load_extension", "readfile", "writefile", "edit", "fts3_tokenizer"),
    )
)
_FORBIDDEN_PREFIXES: Final = (
    *("pg_advisory_", "pg_try_advisory_", "pg_ls_", "pg_logical_", "pg_switch_"),
    *("pg_create_", "pg_drop_", "pg_promote", "pg_file_", "lo_", "dblink"),
)


# What SQLite always has.
_SQLITE_TABLES: Final = frozenset({"sqlite_master", "sqlite_schema"})
_SQLITE_COLUMNS: Final = frozenset({"rowid", "oid", "_rowid_"})


def engine_of(site: Site | None) -> DatabaseEngine | None:
    """Return whose SQL a site's queries are, None where it is not known."""
    return None if site is None or site.database is None else site.database.engine


def dialect_of(engine: DatabaseEngine | None) -> str:
    """Return sqlglot's name for an engine's SQL; MariaDB's where the engine is not known."""
    return _DIALECTS[engine or DatabaseEngine.MARIADB]


def select_fault(sql: str, engine: DatabaseEngine | None = None) -> str | None:
    """Say what keeps text from being one SELECT that only reads, None where nothing is seen.

    Args:
        sql: the text.
        engine: whose SQL it is; MariaDB's where it is not known.
    """
    return _fault(sql, dialect_of(engine), _SELECTS, "a SELECT")


def reading_fault(sql: str, engine: DatabaseEngine | None = None) -> str | None:
    """Say what `select_fault` says, with SHOW, DESCRIBE and EXPLAIN of a SELECT permitted too."""
    return _fault(sql, dialect_of(engine), _SELECTS | _SHOWS, "a SELECT or SHOW")


def is_count(sql: str, engine: DatabaseEngine | None = None) -> bool:
    """Whether a query yields one COUNT and nothing else; False where it cannot be read."""
    from sqlglot import exp  # noqa: PLC0415  heavy: 0.2 s
    from sqlglot.errors import SqlglotError  # noqa: PLC0415

    try:
        tree = _tree(sql, dialect_of(engine))
    except (SqlglotError, RecursionError):
        return False
    chosen = tree.selects if isinstance(tree, exp.Query) else []
    return len(chosen) == 1 and isinstance(chosen[0].unalias(), exp.Count)


@lru_cache(maxsize=256)  # what it does, which names it has, what it counts: one after the other
def _tree(sql: str, dialect: str) -> Expr:
    from sqlglot import parse_one  # noqa: PLC0415  heavy: 0.2 s

    return parse_one(sql, read=dialect)


@lru_cache(maxsize=4096)  # a query is judged as a check's, as a key's and as what a proof asks
def _fault(sql: str, dialect: str, first_words: frozenset[str], wanted: str) -> str | None:
    from sqlglot import tokenize  # noqa: PLC0415  heavy: 0.2 s
    from sqlglot.errors import SqlglotError  # noqa: PLC0415

    try:
        tokens = tokenize(sql, read=dialect)
    except SqlglotError as error:
        return f"the query cannot be read: {_first_line(error)}"
    executed = _executed_comment(sql, tokens, dialect)
    if executed is not None:
        return f"the query must only read, and holds a comment that is executed: {executed}"
    statements = _statements(tokens)
    if len(statements) > 1:
        return "the query must be one statement, and holds several statements"
    first = _first_word(statements[0]) if statements else ""
    if first not in first_words:
        said = f"begins with '{first}'" if first else "is empty"
        return f"the query must be {wanted}, and {said}"
    statement = sql[statements[0][0].start : statements[0][-1].end + 1]
    if first in _SHOWS:
        return _shown_fault(first, statement[len(first) :], dialect)
    return _parsed_fault(statement, dialect)


def _shown_fault(first: str, rest: str, dialect: str) -> str | None:
    """Judge a SHOW, which reads whatever it names, or an EXPLAIN by what it explains."""
    from sqlglot import tokenize  # noqa: PLC0415  heavy: 0.2 s
    from sqlglot.errors import SqlglotError  # noqa: PLC0415

    try:
        tokens = tokenize(rest, read=dialect)
    except SqlglotError as error:
        return f"the query cannot be read: {_first_line(error)}"
    while first in _EXPLAINS and tokens and tokens[0].text.lower() in _EXPLAIN_OPTIONS:
        del tokens[0]
    explained = tokens[0].text.lower() if first in _EXPLAINS and tokens else ""
    if explained in _SELECTS or (first in _EXPLAINS and dialect != "mysql"):
        told = rest[tokens[0].start :] if tokens else ""
        return _fault(told, dialect, _SELECTS, "an EXPLAIN of a SELECT")
    if explained in _WRITING:
        return f"the query must only read, and holds '{explained}'"
    called = (one.text.lower() for one, after in pairwise(tokens) if after.text == "(")
    forbidden = next(filter(_is_forbidden, called), None)
    return forbidden and f"the query must only read, and calls '{forbidden}'"


def _parsed_fault(statement: str, dialect: str) -> str | None:
    from sqlglot.errors import SqlglotError  # noqa: PLC0415  heavy: 0.2 s

    try:
        tree = _tree(statement, dialect)
        found = next(_writes(tree.walk()), None)
    except SqlglotError as error:
        return f"the query does not parse: {_first_line(error)}"
    except RecursionError:
        return "the query is nested too deeply to be read"
    return found


def _writes(nodes: Iterable[Expr]) -> Iterator[str]:
    """Yield what a parsed query does beside reading."""
    from sqlglot import exp  # noqa: PLC0415  heavy: 0.2 s

    for node in nodes:
        match node:
            case exp.Lock():
                yield "the query must only read, and locks rows"
            case exp.DDL() | exp.DML() | exp.Into() | exp.Command() | exp.Set() | exp.Kill():
                yield f"the query must only read, and holds '{node.key}'"
            case exp.Func() if _is_forbidden(name := _function_name(node)):
                yield f"the query must only read, and calls '{name}'"
            case exp.NextValueFor():
                yield "the query must only read, and takes a next value"
            case _:
                continue


def _function_name(node: Expr) -> str:
    from sqlglot import exp  # noqa: PLC0415  heavy: 0.2 s

    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
        return str(node.name).lower()
    return node.sql_name().lower() if isinstance(node, exp.Func) else ""


def _is_forbidden(name: str) -> bool:
    return name in _FORBIDDEN or name.startswith(_FORBIDDEN_PREFIXES)


def _executed_comment(sql: str, tokens: list[Token], dialect: str) -> str | None:
    """Return a comment that MariaDB executes; one that stands alone leaves no token."""
    if dialect != "mysql":
        return None
    comments = (comment for token in tokens for comment in token.comments)
    executed = (f"/*{one}*/" for one in comments if one.startswith(_EXECUTED_COMMENTS))
    return next((comment for comment in executed if comment[:-2] in sql), None)


def _statements(tokens: list[Token]) -> list[list[Token]]:
    """Split at semicolons; empty statements are none."""
    from sqlglot.tokenizer_core import TokenType  # noqa: PLC0415  heavy: 0.2 s

    found: list[list[Token]] = [[]]
    for token in tokens:
        if token.token_type is TokenType.SEMICOLON:
            found.append([])
        else:
            found[-1].append(token)
    return [statement for statement in found if statement]


def _first_word(statement: list[Token]) -> str:
    opened = (token.text for token in statement)
    return next((text.lower() for text in opened if text != "("), "")


def _first_line(error: Exception) -> str:
    """Return sqlglot's message without the terminal's colours and the lines that quote the text."""
    from sqlglot.errors import ParseError  # noqa: PLC0415  heavy: 0.2 s

    if isinstance(error, ParseError) and error.errors:
        first = error.errors[0]
        said = str(first["description"]).rstrip(".")
        return f"{said} at line {first['line']}, column {first['col']}: '{first['highlight']}'"
    return str(error).splitlines()[0] if str(error) else "it is no SQL"


@dataclass(frozen=True)
class SiteTables:
    """Tables and columns of one site.

    Attributes:
        state: columns by table that are part of the site's state: what a change can be seen in.
        volatile: columns by table that are no part of it; a query may read them.
        unlisted: tables and views whose columns are not known.
        engine: whose SQL the site's queries are.
    """

    state: Mapping[str, Collection[str]]
    volatile: Mapping[str, Collection[str]] = field(default_factory=dict)
    unlisted: frozenset[str] = frozenset()
    engine: DatabaseEngine = DatabaseEngine.MARIADB

    @cached_property
    def columns(self) -> Mapping[str, Collection[str]]:
        """All known columns by table."""
        return {
            table: (*columns, *self.volatile.get(table, ()))
            for table, columns in self.state.items()
        }

    @cached_property
    def folded(self) -> Mapping[str, Collection[str]]:
        """The same in lower case."""
        return {
            table.lower(): {column.lower() for column in columns}
            for table, columns in self.columns.items()
        }


# By site.
Tables = Mapping[str, SiteTables]


# The columns of one source of a query, in lower case; None where they are not known.
_Columns = Collection[str] | None


def statements_fault(sql: str, tables: SiteTables | None) -> str | None:
    """Say what keeps statements that set a MariaDB database up from being run.

    Tables that they create themselves are known to them.

    Args:
        sql: one statement or several.
        tables: those of the site; None where they are not known.
    """
    from sqlglot import exp, parse  # noqa: PLC0415  heavy: 0.2 s
    from sqlglot.errors import SqlglotError  # noqa: PLC0415

    try:
        trees = [tree for tree in parse(sql, read=dialect_of(None)) if tree is not None]
    except (SqlglotError, RecursionError) as error:
        return f"the statements cannot be read: {_first_line(error)}"
    if not trees:
        return "there is no statement"
    if tables is None:
        return None
    made = {
        table.name
        for tree in trees
        for create in tree.find_all(exp.Create)
        for table in create.this.find_all(exp.Table)
    }
    named = {cte.alias for tree in trees for cte in tree.find_all(exp.CTE)}
    for tree in trees:
        for table in tree.find_all(exp.Table):
            if table.name not in made | named and not table.db and _is_missing(table, tables):
                return f"there is no table '{table.name}'; {offered(table.name, tables.columns)}"
    return None


def names_fault(sql: str, tables: SiteTables) -> str | None:
    """Say which table or column of a query a site does not have; None where nothing is seen.

    A query that does not parse, or on a table whose columns are not known, is not judged: the
    database has the last word.
    """
    from sqlglot.errors import SqlglotError  # noqa: PLC0415  heavy: 0.2 s
    from sqlglot.optimizer.scope import traverse_scope  # noqa: PLC0415

    try:
        scopes = traverse_scope(_tree(sql, dialect_of(tables.engine)))
        return next((fault for scope in scopes for fault in _faults(scope, tables)), None)
    except (SqlglotError, RecursionError):
        return None


def _faults(scope: Scope, tables: SiteTables) -> Iterator[str]:
    from sqlglot import exp  # noqa: PLC0415  heavy: 0.2 s

    sources = _sources(scope, tables)
    for source in scope.sources.values():
        if isinstance(source, exp.Table) and _is_missing(source, tables):
            yield f"no table '{source.name}'; {offered(source.name, tables.columns)}"
    visible = {**sources, **_outer_sources(scope, tables)}
    aliases = _aliases(scope)
    for column in scope.find_all(exp.Column):
        if not (_is_implied(column, tables) or _is_known(column, visible, aliases)):
            named = f"{column.table}.{column.name}" if column.table else column.name
            known = offered(column.name, _columns_of(sources, tables, scope))
            yield f"no column '{named}'; {known}"


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
    return tables.folded.get(table.name.lower())


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
    return table.name.lower() not in tables.folded.keys() | unlisted


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


def _columns_of(sources: Mapping[str, _Columns], tables: SiteTables, scope: Scope) -> list[str]:
    """Return the columns that could have been meant."""
    from sqlglot import exp  # noqa: PLC0415  heavy: 0.2 s

    named = [one.name for one in scope.sources.values() if isinstance(one, exp.Table)]
    listed = {column for table in named for column in tables.columns.get(table, ())}
    listed.update(column for columns in sources.values() for column in columns or ())
    return sorted(listed or {column for each in tables.columns.values() for column in each})
