from __future__ import annotations

import re
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from support.runs.make_changes import added, changed, removed
from support.runs.make_evidence import make_check, make_evidence

import evaluators
from arena_core.worlds import World
from evaluators.changes import (
    Change,
    ChangeKind,
    FileChange,
    MoreChanges,
    OtherChange,
    RowChange,
    TableChange,
    change_as_text,
)
from evaluators.checks import Check
from evaluators.evidence import Located
from evaluators.matchers.base import Matched
from evaluators.matchers.delta import DeltaMatcher
from evaluators.verdicts import CheckStatus, verdicts

LINE = added("basket_line", {"id": "5"}, product_id="1659", quantity="1", note=None)
PRICE = changed("stock", {"id": "3"}, price=("39.99", "29.50"))
PICTURE = FileChange(path="/srv/media/a/b.png", kind=ChangeKind.ADDED)


def judge(changes: list[Change], expected: list[dict[str, Any]], **options: Any) -> Matched:
    asked = DeltaMatcher.model_validate({"changes": expected, **options})
    return asked.match([change_as_text(change) for change in changes], World.OFFLINE)


def wants(change: RowChange, **columns: Any) -> dict[str, Any]:
    return {"table": change.table, "kind": change.kind.value, "columns": columns}


class TestOneChange:
    @pytest.mark.parametrize(
        "columns",
        [
            {},
            {"product_id": 1659},
            {"product_id": "1659", "quantity": 1.0},
            {"note": None},
            {"id": 5},
        ],
    )
    def test_only_the_columns_that_matter_are_compared(self, columns: dict[str, Any]) -> None:
        assert judge([LINE], [wants(LINE, **columns)]).met

    @pytest.mark.parametrize(
        "columns",
        [
            {"product_id": 1658},
            {"note": ""},
            {"quantity": None},
            {"colour": "red"},
            {"note": "NULL"},
        ],
    )
    def test_another_value_is_another_change(self, columns: dict[str, Any]) -> None:
        assert not judge([LINE], [wants(LINE, **columns)]).met

    def test_values_are_compared_as_exact_compares(self) -> None:
        row = added("t", {"id": "1"}, title="  Older  THAN\u00a0“1892” ", price="12.50")
        assert judge([row], [wants(row, title='older than "1892"', price=12.5)]).met

    def test_table_and_kind_must_be_those(self) -> None:
        assert not judge([LINE], [{**wants(LINE), "table": "other"}]).met
        assert not judge([LINE], [{**wants(LINE), "kind": "removed"}]).met
        gone = removed("t", {"id": "1"}, title="x")
        assert judge([gone], [wants(gone, title="x")]).met

    def test_a_changed_row_is_compared_before_and_after(self) -> None:
        assert judge([PRICE], [wants(PRICE, price=29.5)]).met
        assert judge([PRICE], [{**wants(PRICE, id=3, price=29.5), "before": {"price": 39.99}}]).met
        assert not judge([PRICE], [{**wants(PRICE, price=29.5), "before": {"price": 40}}]).met

    def test_a_column_of_a_changed_row_that_nobody_named_is_no_match(self) -> None:
        both = changed("stock", {"id": "3"}, price=("1", "2"), updated=("a", "b"))
        asked = wants(both, price=2)
        found = judge([both], [asked])
        assert not found.met
        assert "updated 'a' -> 'b'" in found.reason
        assert judge([both], [{**asked, "also": ["upd*"]}]).met

    def test_files_are_named_by_path_or_pattern(self) -> None:
        assert judge([PICTURE], [{"file": "/srv/media/*.png", "kind": "added"}]).met
        assert not judge([PICTURE], [{"file": "/srv/media/*.jpg", "kind": "added"}]).met
        assert not judge([PICTURE], [{"file": "/srv/media/*.png", "kind": "changed"}]).met


class TestNothingElse:
    @pytest.mark.parametrize(
        ("change", "named"),
        [
            (changed("product", {"id": "17"}, title=("Kettle", "Kettel")),
             "table product, row id=17: title 'Kettle' -> 'Kettel'"),
            (removed("review", {"id": "9"}, title="Good"), "table review, row id=9 removed"),
            (LINE, "table basket_line, row id=5 added"),
            (PICTURE, "file /srv/media/a/b.png added"),
            (TableChange(table="t", kind=ChangeKind.ADDED), "table t added"),
            (MoreChanges(table="t", count=300), "table t: 300 more rows"),
            (OtherChange(what="view v: new"), "view v: new"),
        ],
    )  # fmt: skip
    def test_a_change_that_was_not_expected_is_named(self, change: Change, named: str) -> None:
        found = judge([PRICE, change], [wants(PRICE, price=29.5)])
        assert not found.met
        assert found.reason.startswith("not expected: ")
        assert named in found.reason

    def test_a_second_change_of_the_same_kind_is_one_too_many(self) -> None:
        twice = [LINE, added("basket_line", {"id": "6"}, product_id="1659", quantity="1")]
        assert not judge([*twice], [wants(LINE, product_id=1659)]).met
        assert judge([*twice], [{**wants(LINE, product_id=1659), "count": 2}]).met

    def test_a_missing_change_is_named_with_its_number(self) -> None:
        found = judge([LINE], [{**wants(LINE, quantity=1), "count": 3}])
        assert found.reason == "missing: 2 × a row of basket_line added (quantity 1)"

    @pytest.mark.parametrize(
        ("expected", "near"),
        [
            ({"columns": {"price": 29.5, "id": 4}}, "nearest row id=3: id is '3'"),
            ({"columns": {"cost": 29.5}, "also": ["*"]}, "there is no column 'cost'"),
            ({"columns": {"price": 29.5}, "before": {"price": 9}}, "price before is '39.99'"),
            ({"columns": {"id": 3}}, "nearest row id=3: price changed too"),
        ],
    )
    def test_the_row_that_comes_nearest_is_named_with_what_is_other(
        self, expected: dict[str, Any], near: str
    ) -> None:
        far = changed("stock", {"id": "8"}, price=("5", "6"), sku=("a", "b"), note=("c", "d"))
        found = judge([far, PRICE], [{"table": "stock", "kind": "changed", **expected}])
        assert near in found.reason.partition("; not expected: ")[0]

    def test_what_may_change_freely_is_no_matter(self) -> None:
        changes: list[Change] = [LINE, PICTURE, MoreChanges(table="analytics_user", count=3)]
        allow = {"tables": ["basket_line", "analytics_*"], "files": ["/srv/media/*"]}
        assert judge(changes, [], allow=allow).met
        assert not judge([*changes, PRICE], [], allow=allow).met

    def test_rows_that_an_application_writes_by_itself_may_change_freely_one_by_one(self) -> None:
        allow = {"changes": [wants(LINE, quantity=1)]}
        assert judge([LINE, LINE], [], allow=allow).met
        assert not judge([LINE], [], allow={"changes": [wants(LINE, quantity=2)]}).met
        assert not judge([LINE, PRICE], [], allow=allow).met

    def test_a_free_change_may_still_be_an_expected_one(self) -> None:
        allow = {"tables": ["basket_line"]}
        assert judge([LINE], [wants(LINE, quantity=1)], allow=allow).met
        assert not judge([], [wants(LINE, quantity=1)], allow=allow).met

    @pytest.mark.parametrize("order", [1, -1])
    def test_an_expectation_rather_takes_what_is_not_free(self, order: int) -> None:
        cached = FileChange(path="/srv/media/cache/b.png", kind=ChangeKind.ADDED)
        changes: list[Change] = [cached, PICTURE] if order == 1 else [PICTURE, cached]
        asked = [{"file": "/srv/media/*", "kind": "added"}]
        assert judge(changes, asked, allow={"files": ["/srv/media/cache/*"]}).met

    def test_nothing_is_expected_and_nothing_happened(self) -> None:
        assert judge([], []).reason == "nothing changed, as wanted"

    def test_text_that_is_no_change_is_unexpected(self) -> None:
        found = DeltaMatcher(changes=()).match(["oops"], World.OFFLINE)
        assert found.reason == "not expected: 'oops', which is no change"


ROWS = [added("t", {"id": str(n)}, a=str(n % 2), b=str(n % 3)) for n in range(4)]
WANTS: list[dict[str, Any]] = [
    {"table": "t", "kind": "added", "columns": columns}
    for columns in ({}, {"a": 0}, {"a": 1}, {"b": 0}, {"b": 1}, {"a": 0, "b": 2}, {"id": 3})
]


def fits(wanted: dict[str, Any], row: RowChange) -> bool:
    assert row.after is not None
    return all(row.after[name] == str(value) for name, value in wanted["columns"].items())


@given(st.lists(st.sampled_from(ROWS), max_size=4), st.lists(st.sampled_from(WANTS), max_size=4))
def test_expectations_and_changes_pair_up_whichever_way_they_must(
    rows: list[RowChange], wanted: list[dict[str, Any]]
) -> None:
    possible = len(rows) == len(wanted) and any(
        all(map(fits, wanted, order)) for order in permutations(rows)
    )
    assert judge([*rows], wanted).met == possible


@given(
    st.lists(st.sampled_from(ROWS), max_size=4),
    st.lists(st.sampled_from([*ROWS, LINE]), max_size=4),
    st.lists(st.sampled_from(WANTS), max_size=3),
)
def test_free_changes_are_taken_only_where_no_other_is_left_alone(
    bound: list[RowChange], free: list[RowChange], wanted: list[dict[str, Any]]
) -> None:
    freed = [row.model_copy(update={"table": "free"}) for row in free]
    asked = [*wanted, *[{**one, "table": "free"} for one in wanted]]
    met = judge([*bound, *freed], asked, allow={"tables": ["free"]}).met
    enough = any(
        all(map(fits, wanted, order[: len(wanted)]))
        for order in permutations([row for row in free if row is not LINE])
        if len(order) >= len(wanted)
    )
    exact = judge([*bound], wanted).met
    assert met == (exact and enough)


@given(st.lists(st.text(), max_size=4))
def test_no_text_makes_it_raise(values: list[str]) -> None:
    assert DeltaMatcher(changes=()).match(values, World.OFFLINE).met == (not values)


class TestSchema:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"kind": "added"}, "names either a `table` or a `file`"),
            ({"table": "t", "file": "f", "kind": "added"}, "names either a `table` or a `file`"),
            ({"file": "f", "kind": "added", "columns": {"a": 1}}, "a file has no columns"),
            ({"table": "t", "kind": "added", "before": {"a": 1}}, "are for `kind: changed`"),
            ({"table": "t", "kind": "removed", "also": ["a"]}, "are for `kind: changed`"),
            ({"table": "t", "kind": "changed"}, "names the columns that change"),
            ({"table": "t", "kind": "renamed"}, "'added', 'removed' or 'changed'"),
            ({"table": "t", "kind": "added", "count": 0}, "greater than or equal to 1"),
            ({"table": "t", "kind": "added", "columns": {"a": True}}, "put the text in quotes"),
            ({"table": "t", "kind": "added", "columns": {"password": "x"}}, "kept nowhere"),
        ],
    )
    def test_an_expected_change_that_makes_no_sense_is_refused(
        self, change: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(ValidationError, match=message):
            DeltaMatcher.model_validate({"changes": [change]})

    def test_locator_and_matcher_belong_together(self) -> None:
        with pytest.raises(ValidationError, match="yields changes and `how: exact`"):
            make_check({"by": "db_delta", "site": "shop"}, "x")
        with pytest.raises(ValidationError, match="`how: delta` compares changes"):
            delta_check([], locate={"by": "answer"})

    def test_a_delta_is_judged_at_the_end(self) -> None:
        with pytest.raises(
            ValidationError,
            match="`by: db_delta` is looked at when",
        ):
            delta_check([], when="step")

    def test_the_example_in_the_readme_is_a_check(self) -> None:
        readme = (Path(evaluators.__file__).parent / "README.md").read_text(encoding="utf-8")
        [example] = re.findall(r"test_delta_matcher.py -->\n```yaml\n(.*?)```", readme, re.DOTALL)
        [check] = yaml.safe_load(example)
        assert Check.model_validate(check).name == "nothing-else"


def delta_check(changes: list[dict[str, Any]], **fields: Any) -> Check:
    return Check.model_validate(
        {
            "name": "delta",
            "when": "end",
            "locate": {"by": "db_delta", "site": "shop"},
            "match": {"how": "delta", "changes": changes},
            **fields,
        }
    )


def test_a_verdict_needs_the_evidence_and_nothing_else() -> None:
    check = delta_check([wants(PRICE, price=29.5)])
    texts = tuple(change_as_text(change) for change in (PRICE, LINE))
    [verdict] = verdicts([check], make_evidence(located=(Located(check="delta", values=texts),)))
    assert verdict.status is CheckStatus.UNMET
    assert verdict.reason.startswith("not expected: table basket_line, row id=5 added")
    assert verdict.expected == "exactly a row of stock changed (price 29.5)"


def test_nothing_changed_where_something_should_have() -> None:
    check = delta_check([wants(PRICE, price=29.5)])
    [verdict] = verdicts([check], make_evidence(located=(Located(check="delta"),)))
    assert verdict.reason.startswith("nothing changed in shop, wanted exactly a row of stock")


def test_a_site_that_could_not_be_looked_at_gives_no_verdict() -> None:
    check = delta_check([])
    located = Located(check="delta", error="its image was sealed without rows")
    [verdict] = verdicts([check], make_evidence(located=(located,)))
    assert verdict.status is CheckStatus.UNKNOWN
    assert World.OFFLINE in check.worlds
