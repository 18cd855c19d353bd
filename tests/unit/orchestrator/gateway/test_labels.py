"""Tables of labels: which one an arm has, and what a reference is to look for in it."""

from __future__ import annotations

import pytest

from orchestrator.gateway.labels import BUILT_IN, names_in, table_named
from tasks.labels import table_fault

TABLE = {"Buy": "Kaufen", "Add to basket": "In den Warenkorb", "Basket": "Warenkorb"}


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_tables_that_come_with_arena_lead_back_to_one_name_each(name: str) -> None:
    assert table_fault(BUILT_IN[name]) is None


def test_a_suites_table_comes_before_arenas() -> None:
    assert table_named("german", {}) == BUILT_IN["german"]
    assert table_named("german", {"german": TABLE}) == TABLE
    assert table_named("french", {"german": TABLE}) == {}
    assert table_named(None, {"german": TABLE}) == {}


@pytest.mark.parametrize(
    ("name", "candidates"),
    [
        ("Buy", ["Kaufen", "Buy"]),
        ("BUY  ", ["Kaufen", "BUY  "]),
        ("Add to\n basket", ["In den Warenkorb", "Add to\n basket"]),
        ("Basket 3 items", ["Warenkorb 3 items", "Basket 3 items"]),
        ("Buy Add to basket", ["Kaufen In den Warenkorb", "Buy Add to basket"]),
        ("Buyer", ["Buyer"]),
        ("Kettle", ["Kettle"]),
    ],
)
def test_an_element_is_looked_for_by_its_new_name_first(name: str, candidates: list[str]) -> None:
    assert list(names_in(TABLE, name)) == candidates


def test_without_a_table_names_are_what_they_are() -> None:
    assert list(names_in({}, "Buy")) == ["Buy"]
