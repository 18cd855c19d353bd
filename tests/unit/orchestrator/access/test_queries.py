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
        "DESCRIBE orders",
        "SHOW FULL COLUMNS FROM orders",
        "SELECT lock FROM t",
        r"SELECT 'it\'s; fine'",
    ],
)
def test_one_statement_that_reads_is_let_through(sql: str) -> None:
    require_one_reading(sql)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("", "is empty: the account is read-only"),
        (";", "is empty"),
        ("-- only a comment", "is empty"),
        ("DELETE FROM t", "a SELECT or SHOW, and begins with 'delete'"),
        ("update t set a = 1", "begins with 'update'"),
        ("SELECT 1; DROP TABLE t", "several statements"),
        ("SELECT 1 /* ' */; DELETE FROM t -- '", "several statements"),
        ("SELECT ''; DELETE FROM t", "several statements"),
        ("/*! DELETE FROM t */", "is empty"),
        ("SELECT 1 /*!; DELETE FROM t */", "a comment that is executed"),
        ("EXPLAIN DELETE FROM t", "holds 'delete'"),
        ("ANALYZE DELETE FROM t", "begins with 'analyze'"),
        ("selection", "begins with 'selection'"),
    ],
)
def test_anything_else_gets_a_clear_line(sql: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        require_one_reading(sql)
