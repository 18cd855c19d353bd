"""What a seed draws: equal everywhere for one seed, within its bounds, and each value reachable."""

from __future__ import annotations

from collections import Counter
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from arena_core.errors import TaskError
from evaluators.matchers.number import NumberMatcher
from tasks.loader import load_suite
from tasks.templates import Dice, Draw, PlaceholderError, Template

RULES: TypeAdapter[Any] = TypeAdapter(Draw)
seeds = st.integers(min_value=0, max_value=2**31 - 1)


def drawn(rule: dict[str, Any], seed: int) -> Any:
    return RULES.validate_python(rule).value(Dice(seed, "price-of", 0, 0, "it"))


def template(**fields: Any) -> Template:
    return Template.model_validate({"id": "price-of", **fields})


def test_a_seed_draws_the_same_on_every_machine() -> None:
    dice = Dice(7, "price-of", 0, 0, "price")
    assert [dice.below(1000) for _ in range(5)] == [701, 25, 134, 54, 92]


@given(seeds, st.integers(-50, 50), st.integers(0, 50))
def test_an_integer_is_within_its_bounds(seed: int, low: int, more: int) -> None:
    assert low <= drawn({"integer": [low, low + more]}, seed) <= low + more


@given(seeds)
def test_an_amount_is_written_with_its_decimals(seed: int) -> None:
    amount = drawn({"amount": ["9.5", "10.25"]}, seed)
    assert Decimal("9.50") <= Decimal(amount) <= Decimal("10.25")
    assert len(amount.partition(".")[2]) == 2


@given(seeds)
def test_a_day_is_within_its_bounds(seed: int) -> None:
    day = date.fromisoformat(drawn({"day": ["2026-02-27", "2026-03-02"]}, seed))
    assert date(2026, 2, 27) <= day <= date(2026, 3, 2)


@given(seeds, st.integers(1, 5))
def test_a_sample_holds_different_ones(seed: int, count: int) -> None:
    found = drawn({"sample": ["a", "b", "c", "d", "e"], "count": count}, seed)
    assert len(set(found)) == count


@pytest.mark.parametrize(
    ("rule", "values"),
    [
        ({"integer": [1, 4]}, {1, 2, 3, 4}),
        ({"one_of": ["a", 2, None]}, {"a", 2, None}),
        ({"amount": ["0.1", "0.3"], "decimals": 1}, {"0.1", "0.2", "0.3"}),
        ({"amount": [7, 9], "decimals": 0}, {"7", "8", "9"}),
        ({"day": ["2024-02-28", "2024-03-01"]}, {"2024-02-28", "2024-02-29", "2024-03-01"}),
    ],
)
def test_each_value_is_drawn_about_as_often_as_the_others(
    rule: dict[str, Any], values: set[object]
) -> None:
    counts = Counter(drawn(rule, seed) for seed in range(1000))
    assert set(counts) == values
    assert min(counts.values()) > 0.7 * 1000 / len(values)


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ({"integer": [4, 1]}, "its first bound, 4, is above its second, 1"),
        ({"amount": ["0.155", "1"]}, "bounds with more decimals than 2"),
        ({"sample": ["a"], "count": 2}, "`count` is 2, of 1 values"),
        ({"between": [1, 2]}, "says from what is drawn: one of one_of, sample, integer"),
        ({"integer": [1, 2], "decimals": 2}, "Extra inputs"),
    ],
)
def test_a_rule_that_draws_nothing_is_refused(rule: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        RULES.validate_python(rule)


def test_instances_of_a_seed_differ_and_are_called_after_it() -> None:
    of = template(draw={"n": {"integer": [1, 4]}}, instances=4, task={"intent": "{n}"})
    found = list(of.written((7, 8)))
    assert [one["id"] for one in found] == [f"price-of-s{s}-{n}" for s in (7, 8) for n in "1234"]
    assert {one["intent"] for one in found[:4]} == {1, 2, 3, 4}
    assert {one["template"] for one in found} == {"price-of"}
    assert found == [*of.written((7,)), *of.written((8,))]


def test_more_instances_than_there_are_values_is_a_mistake() -> None:
    of = template(draw={"n": {"integer": [1, 4]}}, instances=5, task={"intent": "{n}"})
    with pytest.raises(PlaceholderError, match="seed 7 makes 4 different instances, of 5 wanted"):
        list(of.written((7,)))


def test_a_seed_draws_rows_of_values_that_belong_together() -> None:
    rows = [{"name": name, "sku": f"S-{name}"} for name in "abcdefgh"]
    of = template(params=rows, instances=3, task={"intent": "{name}", "start": ["{sku}"]})
    found = {seed: list(of.written((seed,))) for seed in range(20)}
    assert all(len({one["intent"] for one in three}) == 3 for three in found.values())
    assert all([f"S-{one['intent']}"] == one["start"] for three in found.values() for one in three)
    assert {str(one["intent"]) for three in found.values() for one in three} == set("abcdefgh")


def test_rows_without_a_number_of_instances_are_all_played_with_what_is_drawn() -> None:
    rows = [{"name": "a"}, {"name": "b"}]
    of = template(params=rows, draw={"n": {"integer": [1, 9]}}, task={"intent": "{name} {n}"})
    assert [str(one["intent"])[0] for one in of.written((3,))] == ["a", "b"]


def test_what_a_site_must_be_asked_for_is_not_played_before_it_was() -> None:
    of = template(draw={"n": {"integer": [1, 9]}}, task={"intent": "{n}", "key": "{computed}"})
    with pytest.raises(PlaceholderError, match="`arena tasks instantiate`"):
        list(of.written((3,)))
    assert [one["key"] for one in of.written((3,), computes=True)] == ["{computed}"]


def test_a_value_is_said_once() -> None:
    fields = {"params": [{"n": 1}], "draw": {"n": {"integer": [1, 2]}}, "task": {"intent": "{n}"}}
    with pytest.raises(PlaceholderError, match="`params` and `draw` both say what n is"):
        list(template(**fields).written((1,)))
    with pytest.raises(ValidationError, match="neither `params` nor `rows` nor `draw`"):
        template(task={"intent": "it"})


SUITE = {
    "suite": "drawn",
    "version": 1,
    "title": "Drawn",
    "templates": [
        {
            "id": "kettle",
            "draw": {"price": {"amount": [10, 20]}},
            "instances": 2,
            "task": {
                "family": "content",
                "intent": "Set the price of the kettle to {price}.",
                "sites": ["shop"],
                "start": ["shop:/"],
                "worlds": ["offline"],
                "limits": {"steps": 9, "seconds": 60},
                "checks": [
                    {
                        "name": "price",
                        "when": "end",
                        "locate": {"by": "db", "site": "shop", "sql": "SELECT 1"},
                        "match": {"how": "number", "value": "{price}"},
                    }
                ],
            },
        }
    ],
}


def test_a_suite_is_followed_by_the_seeds_that_are_to_be_drawn(tmp_path: Path) -> None:
    path = tmp_path / "drawn.yaml"
    path.write_text(yaml.safe_dump(SUITE))
    shipped, other = load_suite(str(path)), load_suite(f"{path}@7,9")
    assert [task.id for task in shipped.tasks] == ["kettle-s0-1", "kettle-s0-2"]
    assert [task.id for task in other.tasks] == [f"kettle-s{s}-{n}" for s in (7, 9) for n in (1, 2)]
    for task in other.tasks:
        [check] = task.checks
        assert isinstance(check.match, NumberMatcher)
        assert f"to {check.match.value:.2f}." in task.intent


def test_a_seed_that_changes_nothing_is_refused() -> None:
    with pytest.raises(TaskError, match="no seed changes its tasks"):
        load_suite("demo@7")
