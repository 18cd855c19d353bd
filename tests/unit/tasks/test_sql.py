from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.sql import select_fault


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
        ("SELECT * FROM orders INTO OUTFILE '/tmp/x'", "holds 'into'"),
        ("WITH x AS (SELECT 1) DELETE FROM orders", "holds 'delete'"),
        ("SELECT 'a' ';' ; DELETE FROM orders", "several statements"),
    ],
)
def test_anything_else_is_refused(sql: str, says: str) -> None:
    assert says in (select_fault(sql) or "")


@given(st.text(st.sampled_from("select*'\"`\\;-#/ \n1"), max_size=60))
def test_no_text_makes_it_raise(sql: str) -> None:
    select_fault(sql)
