from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quick_cases import SLOW

from sites.manifest import DatabaseEngine
from tasks.lint.sql import reading_fault, select_fault


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1",
        "  select total from orders where note = 'drop; delete' ;",
        "WITH recent AS (SELECT * FROM orders) SELECT id FROM recent",
        "/* the newest */ SELECT id FROM orders ORDER BY id DESC LIMIT 1 OFFSET 2",
        "SELECT REPLACE(name, 'a', 'b') FROM product -- insert",
        'SELECT "update" FROM t WHERE a = "it\\"s; set"',
        "(SELECT 1) UNION (SELECT 2)",
        "SELECT offset_total FROM t # delete",
        "SELECT 1 #! a comment that is none of those that are executed",
        "SELECT lock FROM t",
        "SELECT `lock`, t.set FROM t",
        "SELECT INSERT('abc', 1, 1, 'x'), TRUNCATE(1.5, 1), REPLACE('a', 'a', 'b')",
        "SELECT '/*! not run */', 'it''s; INTO OUTFILE', \"FOR UPDATE\"",
        "SELECT sleep, benchmark FROM t",
        "SELECT @row := @row + 1 FROM t",
        "SELECT /*+ MAX_EXECUTION_TIME(9) */ 1",
        "SELECT 1 --1",
    ],
)
def test_one_select_is_sound(sql: str) -> None:
    assert select_fault(sql) is None


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("", "must be a SELECT"),
        ("-- SELECT 1", "must be a SELECT"),
        ("UPDATE orders SET total = 0", "begins with 'update'"),
        ("SHOW TABLES", "begins with 'show'"),
        ("SELECT 1; SELECT 2", "several statements"),
        ("SELECT 1; DROP TABLE orders", "several statements"),
        ("SELECT * FROM orders INTO OUTFILE '/tmp/x'", "'INTO'"),
        ("WITH x AS (SELECT 1) DELETE FROM orders", "holds 'delete'"),
        ("SELECT 1 INTO @x", "holds 'into'"),
        ("SELECT * INTO DUMPFILE '/tmp/x' FROM t", "does not parse"),
        ("SELECT * FROM t FOR UPDATE", "locks rows"),
        ("SELECT * FROM t LOCK IN SHARE MODE", "locks rows"),
        ("SELECT * FROM (SELECT * FROM t FOR UPDATE) AS x", "locks rows"),
        ("LOCK TABLES t WRITE", "begins with 'lock tables'"),
        ("CALL tidy()", "begins with 'call'"),
        ("SET GLOBAL a = 1", "begins with 'set'"),
        ("SELECT SLEEP(9)", "calls 'sleep'"),
        ("SELECT 1 FROM t WHERE id = sLeEp (9)", "calls 'sleep'"),
        ("SELECT BENCHMARK(1000000, MD5('a'))", "calls 'benchmark'"),
        ("SELECT GET_LOCK('a', 9)", "calls 'get_lock'"),
        ("SELECT LOAD_FILE('/etc/passwd')", "calls 'load_file'"),
        ("SELECT NEXTVAL(s)", "calls 'nextval'"),
        ("SELECT NEXT VALUE FOR s", "does not parse"),
        ("SELECT 1 /*! INTO OUTFILE '/tmp/x' */", "a comment that is executed: /*! INTO"),
        ("SELECT 1 /*!50000 , SLEEP(9) */", "a comment that is executed"),
        ("SELECT 1 /*M! , SLEEP(9) */", "a comment that is executed"),
        ("SELECT 1 /* /* */ INTO OUTFILE '/tmp/x' -- */ */", "does not parse"),
        ("SELECT 1 --1 INTO OUTFILE '/tmp/x'", "does not parse"),
        (r"SELECT 'a\\'; DELETE FROM t; -- '", "several statements"),
        ("SELECT " + "(" * 3000 + "1" + ")" * 3000, "nested too deeply"),
        ("SELECT 'never ended", "cannot be read"),
        ("SELECT 'a' ';' ; DELETE FROM orders", "several statements"),
    ],
)
def test_anything_else_is_refused(sql: str, says: str) -> None:
    assert says in (select_fault(sql) or "")


@pytest.mark.parametrize(
    ("engine", "sql", "says"),
    [
        ("postgresql", "WITH x AS (DELETE FROM t RETURNING id) SELECT * FROM x", "holds 'delete'"),
        ("postgresql", "WITH x AS (INSERT INTO t VALUES (1)) SELECT 1", "holds 'insert'"),
        ("postgresql", "SELECT * INTO copied FROM t", "holds 'into'"),
        ("postgresql", "SELECT * FROM t FOR NO KEY UPDATE", "locks rows"),
        ("postgresql", "SELECT pg_catalog.pg_sleep(9)", "calls 'pg_sleep'"),
        ("postgresql", "SELECT pg_advisory_lock(1)", "calls 'pg_advisory_lock'"),
        ("postgresql", "SELECT pg_read_file('/etc/passwd')", "calls 'pg_read_file'"),
        ("postgresql", "SELECT lo_export(1, '/tmp/x')", "calls 'lo_export'"),
        ("postgresql", "SELECT setval('s', 1)", "calls 'setval'"),
        ("postgresql", "COPY t TO '/tmp/x'", "begins with 'copy'"),
        ("postgresql", "DO $$ BEGIN DELETE FROM t; END $$", "begins with 'do'"),
        ("postgresql", "SELECT 'a\\'; DELETE FROM t; --'", "several statements"),
        ("sqlite", "SELECT load_extension('x')", "calls 'load_extension'"),
        ("sqlite", "ATTACH '/tmp/x' AS y", "begins with 'attach'"),
        ("sqlite", "PRAGMA user_version = 5", "begins with 'pragma'"),
        ("sqlite", "REPLACE INTO t VALUES (1)", "begins with 'replace'"),
        ("sqlite", "VACUUM INTO '/tmp/x'", "begins with 'vacuum'"),
        ("sqlite", "SELECT 'a\\'; DELETE FROM t; --'", "several statements"),
    ],
)
def test_what_writes_in_the_words_of_other_engines_is_refused(
    engine: str, sql: str, says: str
) -> None:
    assert says in (select_fault(sql, DatabaseEngine(engine)) or "")


@pytest.mark.parametrize(
    ("engine", "sql"),
    [
        ("postgresql", "SELECT DISTINCT ON (a) a::text, b ->> 'x', $$a;b$$ FROM t"),
        ("postgresql", r"SELECT E'a\'; DELETE FROM t; --'"),
        ("postgresql", "SELECT count(*) FILTER (WHERE b) FROM t /* a /* nested; */ one */"),
        ("sqlite", "SELECT [a b], `c` FROM t WHERE a GLOB 'x*'"),
    ],
)
def test_selects_in_the_words_of_other_engines_are_sound(engine: str, sql: str) -> None:
    assert select_fault(sql, DatabaseEngine(engine)) is None


@pytest.mark.parametrize(
    ("engine", "sql", "says"),
    [
        ("mariadb", "SHOW TABLES", ""),
        ("mariadb", "SHOW KEYS FROM t", ""),
        ("mariadb", "SHOW CREATE SEQUENCE s", ""),
        ("mariadb", "SHOW ALL SLAVES STATUS", ""),
        ("mariadb", "SHOW TABLES WHERE sleep(9)", "calls 'sleep'"),
        ("mariadb", "DESCRIBE t col", ""),
        ("mariadb", "EXPLAIN SELECT 1", ""),
        ("mariadb", "EXPLAIN EXTENDED SELECT sleep(9)", "calls 'sleep'"),
        ("mariadb", "EXPLAIN PARTITIONS SELECT 1", ""),
        ("mariadb", "EXPLAIN FORMAT=JSON WITH x AS (SELECT 1) DELETE FROM t", "holds 'delete'"),
        ("mariadb", "SHOW TABLES; DROP TABLE t", "several statements"),
        ("postgresql", "SHOW timezone; DELETE FROM t", "several statements"),
        ("mariadb", "EXPLAIN DELETE FROM t", "holds 'delete'"),
        ("postgresql", "SHOW timezone", ""),
        ("postgresql", "EXPLAIN ANALYZE VERBOSE SELECT 1", ""),
        ("postgresql", "EXPLAIN ANALYZE DELETE FROM t", "begins with 'delete'"),
        ("postgresql", "EXPLAIN (ANALYZE) DELETE FROM t", "an EXPLAIN of a SELECT"),
        ("postgresql", "EXPLAIN ANALYZE WITH x AS (DELETE FROM t) SELECT 1", "holds 'delete'"),
        ("sqlite", "EXPLAIN QUERY PLAN SELECT 1", ""),
    ],
)
def test_what_shows_is_read_too(engine: str, sql: str, says: str) -> None:
    fault = reading_fault(sql, DatabaseEngine(engine))
    assert says in (fault or "") if says else fault is None


@SLOW
def test_the_parser_is_loaded_only_where_a_query_is_judged() -> None:
    code = (
        "import sys, orchestrator.cli.sites.db, tasks.lint.check_rules\n"
        "print('sqlglot' in sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert loaded.stdout == b"False\n"


@given(st.text(st.sampled_from("select*'\"`\\;-#/ \n1"), max_size=60))
def test_no_text_makes_it_raise(sql: str) -> None:
    select_fault(sql)
