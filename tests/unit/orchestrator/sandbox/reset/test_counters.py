from __future__ import annotations

import pytest

from orchestrator.sandbox.reset.counters import Counters, _writing

BEFORE = Counters((("COM_INSERT", 4), ("HANDLER_WRITE", 9), ("INNODB_LSN_CURRENT", 500)), ())


def test_equal_counters_say_that_nothing_moved() -> None:
    assert BEFORE.moved_since(BEFORE) is None


def test_a_statement_is_named_before_what_it_caused() -> None:
    after = Counters((("COM_INSERT", 5), ("HANDLER_WRITE", 10), ("INNODB_LSN_CURRENT", 700)), ())
    assert after.moved_since(BEFORE) == (
        "Com_insert moved by 1, Handler_write moved by 1, Innodb_lsn_current moved by 200"
    )


def test_a_counter_that_went_back_moved_too() -> None:
    after = Counters((("COM_INSERT", 0), *BEFORE.counts[1:]), ())
    assert after.moved_since(BEFORE) == "Com_insert moved by -4"


def test_a_setting_moves_when_it_is_made_changed_or_gone() -> None:
    one, other = (Counters(BEFORE.counts, (("SQL_MODE", value),)) for value in ("ANSI", ""))
    assert one.moved_since(BEFORE) == BEFORE.moved_since(one) == "sql_mode was set"
    assert one.moved_since(other) == "sql_mode was set, sql_mode was set"
    assert one.moved_since(one) is None


def test_only_statements_that_read_are_left_out_and_unknown_ones_count() -> None:
    reading = ["COM_SELECT", "COM_SHOW_FIELDS", "COM_STMT_EXECUTE", "COM_HA_READ", "COM_COMMIT"]
    writing = ["COM_DO_NEW_THINGS", "COM_FLUSH", "COM_SHOWER", "COM_UPDATE", "HANDLER_DELETE"]
    found = dict.fromkeys((*reading, *writing), 3)
    assert _writing(found) == [(name, 3) for name in writing]


def logged(position: int, checkpoint: int, written: int = 9) -> Counters:
    counts = (("HANDLER_WRITE", written), ("INNODB_LSN_CURRENT", position))
    return Counters(counts, (), checkpoint)


def test_the_record_of_a_checkpoint_is_no_write() -> None:
    assert logged(5016, 4100).moved_since(logged(5000, 4000)) is None
    assert logged(5000, 4100).moved_since(logged(5000, 4000)) is None


@pytest.mark.parametrize(
    ("after", "moved"),
    [
        (logged(5016, 4000), "Innodb_lsn_current moved by 16"),
        (logged(5017, 4100), "Innodb_lsn_current moved by 17"),
        (logged(5032, 4100), "Innodb_lsn_current moved by 32"),
        (logged(5016, 4100, 10), "Handler_write moved by 1"),
    ],
)
def test_whatever_comes_with_a_checkpoint_is_a_write(after: Counters, moved: str) -> None:
    assert after.moved_since(logged(5000, 4000)) == moved
