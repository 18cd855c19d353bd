from __future__ import annotations

from orchestrator.sandbox.reset.snapshot import TablePlan, content_sql, quoted, row_text_sql


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
