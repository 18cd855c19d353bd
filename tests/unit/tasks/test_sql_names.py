from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sites.manifest import DatabaseEngine
from tasks.lint.sql import SiteTables, names_fault

SHOP = SiteTables(
    state={"orders": ("id", "number", "total", "customer_id"), "customer": ("id", "name")},
    volatile={"customer": ("last_login",)},
    unlisted=frozenset({"session"}),
)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT total FROM orders WHERE number = '12';",
        "SELECT o.total, c.name FROM orders AS o JOIN customer c ON c.id = o.customer_id",
        "SELECT last_login FROM customer",
        "SELECT anything FROM session",
        "SELECT `total` FROM `orders` -- the sum",
        'SELECT total FROM orders WHERE number = "unknown"',
        r"SELECT total FROM orders WHERE number = 'it\'s' AND id = 1",
        "SELECT CONCAT(name, ' ', id) AS said FROM customer HAVING said <> '' ORDER BY said",
        "SELECT DATE_FORMAT(last_login, '%Y') y, COUNT(DISTINCT id, name) FROM customer GROUP BY y",
        "SELECT GROUP_CONCAT(DISTINCT name ORDER BY id SEPARATOR ', ') FROM customer",
        "SELECT id FROM orders WHERE 9 < (SELECT AVG(total) FROM orders x WHERE x.id < orders.id)",
        "WITH big AS (SELECT * FROM orders WHERE total > 9) SELECT number FROM big",
        "SELECT last_login - INTERVAL 1 DAY FROM customer",
        "SELECT TABLE_NAME FROM information_schema.TABLES",
        "SELECT total DIV 2, total <=> NULL FROM orders",
        "SELECT something that is no SQL at all",
        "SELECT CAST(total AS DECIMAL(10, 2)), IF(total > 1, 'a', 'b') FROM orders LIMIT 1, 2",
        "WITH RECURSIVE n AS (SELECT 1 i UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
        "SELECT x.b FROM (SELECT 1 AS a, 2 AS b) AS x",
        "SELECT b FROM (SELECT id FROM orders) AS x (b)",
        "SELECT anything FROM (SELECT * FROM orders) AS x JOIN session ON 1",
        "SELECT Orders.ID FROM ORDERS WHERE EXISTS (SELECT 1 FROM customer WHERE name = NUMBER)",
        "SELECT total FROM orders UNION SELECT id FROM customer ORDER BY total",
        "SELECT 1 FROM DUAL",
        "SELECT j.v FROM orders, JSON_TABLE('[1]', '$[*]' COLUMNS (v INT PATH '$')) AS j",
        "SELECT ROW_NUMBER() OVER (PARTITION BY name ORDER BY id) FROM customer",
    ],
)
def test_a_query_on_what_there_is_has_no_fault(sql: str) -> None:
    assert names_fault(sql, SHOP) is None


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        (
            "SELECT total FROM order_lines",
            "no table 'order_lines'; did you mean 'orders'? ",
        ),
        ("SELECT totl FROM orders", "no column 'totl'; did you mean 'total'? there are: "),
        ("SELECT o.nam FROM orders o", "no column 'o.nam'"),
        ("SELECT name FROM orders", "no column 'name'"),
        ("SELECT total FROM orders WHERE customr_id = 3", "no column 'customr_id'"),
        ("SELECT id FROM customer c JOIN order x ON x.id = c.id", "no table 'order'"),
        ("SELECT n FROM (SELECT name AS n FROM customer) AS x WHERE x.m = 1", "no column 'x.m'"),
        ("WITH a AS (SELECT totl FROM orders) SELECT * FROM a", "no column 'totl'"),
        ("SELECT 1 UNION SELECT totl FROM orders", "no column 'totl'"),
        ("SELECT 1 FROM customer c WHERE EXISTS (SELECT 1 FROM orders WHERE c.nme = 1)", "'c.nme'"),
        ("SELECT c.id FROM customer c JOIN ordrs x ON x.id = c.id", "no table 'ordrs'"),
        ("SELECT (SELECT wrong FROM customer) FROM orders", "no column 'wrong'"),
        ("SELECT GROUP_CONCAT(nme SEPARATOR ',') FROM customer", "no column 'nme'"),
        ("SELECT YEAR(lastlogin) FROM customer", "no column 'lastlogin'"),
    ],
)
def test_what_a_site_does_not_have_is_named_with_what_is_called_alike(sql: str, says: str) -> None:
    assert says in (names_fault(sql, SHOP) or "")


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("SELECT rowid, title FROM note", ""),
        ('SELECT title FROM note WHERE title = "a text"', ""),
        ("SELECT name FROM sqlite_master", ""),
        ("SELECT [titel] FROM missing", "no table 'missing'"),
        ("SELECT titel FROM note", "no column 'titel'; did you mean 'title'? there are: "),
    ],
)
def test_names_in_sqlite_are_resolved_as_it_does(sql: str, says: str) -> None:
    tables = SiteTables(state={"note": ("id", "title")}, engine=DatabaseEngine.SQLITE)
    fault = names_fault(sql, tables)
    assert says in (fault or "") if says else fault is None


@given(st.text(max_size=60))
def test_no_text_makes_it_raise(sql: str) -> None:
    names_fault(sql, SHOP)
    names_fault(f"SELECT {sql}", SHOP)
