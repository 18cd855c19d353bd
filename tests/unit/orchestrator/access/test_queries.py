from __future__ import annotations

import pytest

from arena_core.errors import UsageError
from orchestrator.access.queries import require_one_reading


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1",
        "select 1;",
        "  SELECT ';' AS a, \"it's; fine\", `a;b` FROM t ;  ",
        "(SELECT 1) UNION (SELECT 2)",
        "SHOW TABLES",
        "WITH a AS (SELECT 1) SELECT * FROM a",
        "-- a comment; with a semicolon\nSELECT 1",
        "/* DROP; */ SELECT 1 # and; more",
        "EXPLAIN SELECT 1",
        r"SELECT 'it\'s; fine'",
    ],
)
def test_one_statement_that_reads_is_let_through(sql: str) -> None:
    require_one_reading(sql)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("", "not nothing"),
        (";", "not nothing"),
        ("-- only a comment", "not nothing"),
        ("DELETE FROM t", "not 'DELETE'"),
        ("update t set a = 1", "not 'UPDATE'"),
        ("SELECT 1; DROP TABLE t", "one statement at a time"),
        ("SELECT 1 /* ' */; DELETE FROM t -- '", "one statement at a time"),
        ("SELECT ''; DELETE FROM t", "one statement at a time"),
        ("/*! DELETE FROM t */", "one statement at a time"),
        ("SELECT 1 /*!; DELETE FROM t */", "one statement at a time"),
        ("selection", "not 'SELECTION'"),
    ],
)
def test_anything_else_gets_a_clear_line(sql: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        require_one_reading(sql)
