"""Slow tests take turns: who waited longest comes first; what there is no time for is left out."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from quick_cases import quick_first
from slow_tests import (
    LastRun,
    OldestFirst,
    expected_seconds,
    oldest_first,
    read_record,
    write_record,
)

pytest_plugins = ("pytester",)

TESTS = (("a.py::one", "a.py"), ("a.py::two", "a.py"), ("b.py::one", "b.py"), ("c.py::one", "c.py"))
SUITE = """
import pytest
pytestmark = pytest.mark.slow(minutes=2)

def test_first(): pass
def test_second(): pass
@pytest.mark.slow(minutes=30)
def test_long(): pass
def test_wrong(): assert False
"""


def test_what_never_ran_comes_first_and_then_what_ran_longest_ago() -> None:
    runs = {
        "a.py::one": LastRun("2026-11-20", 1),
        "b.py::one": LastRun("2026-11-18", 1),
        "c.py::one": LastRun("2026-11-19", 1),
    }
    played = oldest_first(TESTS, runs, turn=0)
    assert played == ["a.py::two", "b.py::one", "c.py::one", "a.py::one"]


def test_among_those_of_one_day_every_module_has_its_turn_to_begin() -> None:
    firsts = [oldest_first(TESTS, {}, turn)[0] for turn in range(4)]
    assert firsts == ["a.py::one", "b.py::one", "c.py::one", "a.py::one"]
    assert all(
        sorted(oldest_first(TESTS, {}, turn)) == sorted(t for t, _ in TESTS) for turn in (1, 7)
    )


def test_a_test_is_expected_to_take_what_it_took_or_what_its_longest_mark_says() -> None:
    assert expected_seconds("x", [1, 12], {}) == 720
    assert expected_seconds("x", [], {}) == 240
    assert expected_seconds("x", [12], {"x": LastRun("2026-11-20", 20.0)}) == 40


def test_a_record_is_read_as_it_was_written_and_is_one_line_a_test(tmp_path: Path) -> None:
    runs = {"b": LastRun("2026-11-20", 1.5), 'a["x"]': LastRun("2026-11-19", 20.0)}
    write_record(runs, tmp_path / "runs.json")
    assert read_record(tmp_path / "runs.json") == runs
    assert len((tmp_path / "runs.json").read_text().splitlines()) == 4
    assert json.loads((tmp_path / "runs.json").read_text())["b"] == {
        "day": "2026-11-20",
        "seconds": 1.5,
    }


def test_what_passed_is_noted_and_what_failed_or_had_no_time_stays_old(
    pytester: pytest.Pytester,
) -> None:
    """Nine minutes are left: the test that says 30 is not begun."""
    options = "asyncio_default_fixture_loop_scope = function"
    pytester.makeini(f"[pytest]\n{options}\nmarkers =\n    slow(minutes=4): slow\n")
    for folder in ("one", "two"):  # a conftest of its own each: pytest then compares plug-ins
        pytester.mkdir(folder).joinpath("conftest.py").touch()
    pytester.path.joinpath("one", "test_it.py").write_text(SUITE)
    record = pytester.path / "runs.json"
    plugin = OldestFirst(record=record, until=time.time() + 9 * 60)
    done = pytester.inline_run("-p", "no:cacheprovider", plugins=[plugin])
    done.assertoutcome(passed=2, skipped=1, failed=1)
    assert [name.rpartition("::")[2] for name in read_record(record)] == [
        "test_first",
        "test_second",
    ]


def test_the_first_case_is_quick_and_the_others_are_not() -> None:
    first, *others = quick_first([("a", 1), ("b", 2)])
    assert first == ("a", 1)
    assert [(one.values, [mark.name for mark in one.marks]) for one in others] == [
        (("b", 2), ["slow"])
    ]
