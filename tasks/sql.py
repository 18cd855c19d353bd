"""Whether text is one SELECT that only reads, seen without a database.

Parsed with sqlglot in the words of the site's engine. The database's own read-only account is the
second line: this one warns the author before anything runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from sites.manifest import DatabaseEngine, Site

if TYPE_CHECKING:
    from sqlglot.expressions import Expr
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
    from sqlglot import parse_one  # noqa: PLC0415  heavy: 0.2 s
    from sqlglot.errors import SqlglotError  # noqa: PLC0415

    try:
        tree = parse_one(statement, read=dialect)
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
