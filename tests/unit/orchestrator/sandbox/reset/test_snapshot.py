from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest

from arena_core.errors import DatabaseError
from orchestrator.sandbox.reset import snapshot
from orchestrator.sandbox.reset.snapshot import TablePlan, content_sql, quoted, row_text_sql
from sites.manifest import DatabaseEngine


def test_where_the_tables_cannot_be_listed_nobody_waits_for_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One connection lists them, and the other reads what it lists."""

    @contextmanager
    def connected(*_: object) -> Iterator[object]:
        yield SimpleNamespace(query=lambda _: None)

    def listed(*_: object) -> Iterator[TablePlan]:
        raise DatabaseError("gone")

    monkeypatch.setattr(snapshot, "mariadb_connection", connected)
    monkeypatch.setattr(snapshot, "plans", listed)
    monkeypatch.setattr(snapshot, "definitions", lambda _: {})
    monkeypatch.setattr(snapshot, "read_objects", lambda _: ())
    site: Any = SimpleNamespace(fingerprint=SimpleNamespace(probes=()))
    database: Any = SimpleNamespace(engine=DatabaseEngine.MARIADB)
    with pytest.raises(DatabaseError, match="gone"):
        snapshot.read_snapshot(site, database, cast("Any", None))


def test_a_name_with_a_backtick_stays_one_identifier() -> None:
    assert quoted("a`; DROP TABLE x; --") == "`a``; DROP TABLE x; --`"


def test_text_is_written_with_its_length_and_numbers_with_a_comma() -> None:
    sql = row_text_sql([("id", "int"), ("name", "varchar")])
    assert sql == (
        "CONCAT('', IFNULL(`id`, 'N'), ',', IFNULL(LENGTH(`name`), 'N'), ':',"
        " IFNULL(CAST(`name` AS BINARY), ''))"
    )


def test_a_table_whose_columns_are_all_volatile_still_has_a_text() -> None:
    assert row_text_sql([]) == "CONCAT('')"


def test_of_a_system_versioned_table_the_rows_of_before_are_read_too() -> None:
    plan = TablePlan(name="t", columns=(("id", "int"),), counter=None, size=1)
    assert content_sql(plan).endswith(" FROM `t`")
    versioned = TablePlan(
        name="t", columns=(("id", "int"),), counter=None, size=1, is_versioned=True
    )
    assert content_sql(versioned).endswith(" FROM `t` FOR SYSTEM_TIME ALL")
