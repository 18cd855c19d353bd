"""A pull request says what its diff changes, and no more."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

import pytest

code = import_module("forgeseed.code")
reviews = import_module("hubseed.reviews")

KINDS = range(5)


def function(name: str, kind: int = 0, limit: int = 40, **more: Any) -> Any:
    return code.Function(kind, ("select", "basket", name), limit, 3, **more)


def words(*edits: Any, key: str = "some") -> Any:
    diff = reviews.Diff(edits, "basket", "shop/basket.py", "python", len(edits))
    return reviews.Words(key, diff)


def test_an_edit_is_what_differs() -> None:
    before = [function("rows"), function("names")]
    grown = [*before, function("size")]
    assert reviews.edit_between(before, grown).kind == "grow"
    assert reviews.edit_between(grown, before) == reviews.Edit("drop", function("size"))
    higher = [function("rows", limit=60), function("names")]
    assert reviews.edit_between(before, higher) == reviews.Edit("raise", higher[0], 40)
    said = [function("rows", said=True), function("names")]
    assert reviews.edit_between(before, said).kind == "say"
    assert reviews.edit_between(before, before) is None


def test_what_was_added_and_then_changed_was_added() -> None:
    first = reviews.Edit("grow", function("rows"))
    then = reviews.Edit("raise", function("rows", limit=60), 40)
    assert reviews.net([first, then]) == [reviews.Edit("grow", function("rows", limit=60))]


def test_what_went_up_and_down_again_is_not_in_the_diff() -> None:
    other = reviews.Edit("grow", function("names"))
    up = reviews.Edit("raise", function("rows", limit=60), 40)
    down = reviews.Edit("lower", function("rows", limit=40), 60)
    assert reviews.net([up, down, other]) == [other]


def test_what_was_added_and_taken_out_is_not_in_the_diff() -> None:
    other = reviews.Edit("grow", function("names"))
    first = reviews.Edit("grow", function("rows"))
    gone = reviews.Edit("drop", function("rows"))
    assert reviews.net([first, other, gone]) == [other]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("change", ["grow", "raise", "lower"])
def test_texts_name_the_function_or_its_numbers_and_no_others(kind: int, change: str) -> None:
    old = {"grow": 0, "raise": 25, "lower": 90}[change]
    edit = reviews.Edit(change, function("rows", kind, 45), old)
    for number in range(20):
        said = words(edit, key=str(number))
        texts = [said.title(), said.asked(), said.approval(), said.closing()]
        texts += [*said.question(), said.inline()[0]]
        assert "select_basket_rows" in texts[0]
        for text in texts:
            assert "{" not in text
            found = {int(one) for one in re.findall(r"\b\d+\b", text)}
            assert found <= {0, 3, 45, old}, text
        assert all(re.search("select_basket_rows|45|basket", text) for text in texts[:4])


def test_a_remark_stands_at_the_line_that_it_speaks_of() -> None:
    grown = words(reviews.Edit("grow", function("rows")))
    assert grown.inline()[1] == "select_basket_rows"
    raised = words(reviews.Edit("raise", function("rows", limit=60), 40))
    assert raised.inline()[1] == "60"


def test_a_title_names_three_changes_and_counts_the_others() -> None:
    edits = [reviews.Edit("grow", function(name)) for name in ("a", "b", "c", "d", "e")]
    assert words(*edits).title().endswith("add select_basket_c and 2 more")
