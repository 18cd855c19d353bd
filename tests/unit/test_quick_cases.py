"""Tests with one quick case: what `-m "not slow"` keeps, and that its opposite keeps the rest."""

from __future__ import annotations

from pathlib import Path

import pytest
import quick_cases
from quick_cases import ONE_QUICK

pytest_plugins = ("pytester",)

SUITE = """
import pytest
from quick_cases import ONE_QUICK

@ONE_QUICK
@pytest.mark.parametrize("second", "ab")
@pytest.mark.parametrize("first", [(1,), (2,), (3,)])
def test_many(first, second): pass

@ONE_QUICK
class TestClass:
    @pytest.mark.parametrize("value", range(4))
    def test_in_a_class(self, value): pass
    def test_single(self): pass

@pytest.mark.parametrize("value", range(5))
def test_unmarked(value): pass
"""


@ONE_QUICK
@pytest.mark.parametrize(("chosen", "count"), [("not slow", 1 + 1 + 1 + 5), ("slow", 5 + 3)])
def test_of_each_test_one_case_is_quick_and_all_others_are_slow(
    pytester: pytest.Pytester, chosen: str, count: int
) -> None:
    tests = Path(quick_cases.__file__).parent
    pytester.makeini(f"[pytest]\nmarkers =\n  slow\n  one_quick\npythonpath = {tests}\n")
    pytester.makeconftest(
        "import pytest\n"
        "from quick_cases import mark_all_but_one\n"
        "@pytest.hookimpl(tryfirst=True)\n"
        "def pytest_collection_modifyitems(items): mark_all_but_one(items)\n"
    )
    pytester.makepyfile(SUITE)
    assert pytester.runpytest("-m", chosen).parseoutcomes()["passed"] == count
