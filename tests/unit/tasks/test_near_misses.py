"""Near misses are no near misses where they are the key, and the best is apart from the next."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from arena_core.errors import TaskError
from evaluators.checks import Check, Margin
from evaluators.matchers.answer import AnswerMatcher
from tasks.instances import open_suite
from tasks.loader import load_suite
from tasks.near_misses import Found, drawn_apart, lookups_of, margin_fault, near_faults
from tasks.schema import Suite, Task
from tasks.sources import DrawnFrom

SQL = {"site": "shop", "sql": "SELECT 1"}
WRONG = {"name": "first-page", "site": "shop", "sql": "SELECT 2"}
SETS = {"how": "answer", "type": "name", "all_of": ["Ada", "Ben"]}


def make_check(match: Mapping[str, object], **fields: object) -> Check:
    return Check.model_validate(
        {
            "name": "key",
            "when": "end",
            "locate": {"by": "answer"},
            "match": match,
            "computed": SQL,
            "wrong_keys": [WRONG],
            **fields,
        }
    )


def faults(check: Check, key: Sequence[str], wrong: Sequence[str]) -> list[str]:
    return [said for _, said in near_faults(check, {"key": key, "key~first-page": wrong})]


NUMBER = {"how": "answer", "type": "number", "value": 12}


@pytest.mark.parametrize(
    ("match", "key", "wrong"),
    [
        (NUMBER, ["12"], ["13"]),
        (NUMBER, ["12"], ["120"]),
        ({"how": "exact", "value": "Ada Latham"}, ["Ada Latham"], ["Ada Lathom"]),
        (SETS, ["Ada", "Ben"], ["Ada"]),
        ({**SETS, "ordered": True}, ["Ada", "Ben"], ["Ben", "Ada"]),
    ],
)
def test_a_near_miss_that_differs_is_sound(
    match: dict[str, Any], key: list[str], wrong: list[str]
) -> None:
    assert faults(make_check(match), key, wrong) == []


@pytest.mark.parametrize(
    ("match", "key", "wrong", "says"),
    [
        (NUMBER, ["12"], ["12.0"], "is the key in another spelling: '12.0'"),
        ({"how": "exact", "value": "12"}, ["12"], ["12.00"], "is the key in another spelling"),
        (
            {"how": "exact", "value": "1,200"},
            ["1,200"],
            ["£1200"],
            "is the key in another spelling",
        ),
        ({"how": "exact", "value": "Ada"}, ["Ada"], ["  ADA. "], "is the key in another spelling"),
        (SETS, ["Ada", "Ben"], ["Ben", "Ada"], "is the key in another spelling"),
        (SETS, ["Ada", "Ben"], ["Ben, Ada"], "is the key in another spelling"),
        ({**NUMBER, "tolerance": 2}, ["12"], ["13.5"], "is taken for the key"),
        ({"how": "include", "value": "12"}, ["12"], ["12 of 14"], "is taken for the key"),
        (NUMBER, ["12"], [], "finds nothing"),
        (NUMBER, ["12"], ["null"], "finds nothing"),
    ],
)
def test_a_near_miss_that_is_the_key_is_told_by_name(
    match: dict[str, Any], key: list[str], wrong: list[str], says: str
) -> None:
    [found] = faults(make_check(match), key, wrong)
    assert found.startswith("wrong key 'first-page' ")
    assert says in found


def test_a_near_miss_that_another_way_of_the_check_takes_is_the_key() -> None:
    other = {"locate": {"by": "answer"}, "match": {**NUMBER, "value": 13}}
    [found] = faults(make_check(NUMBER, any_of=[other]), ["12"], ["13"])
    assert "is taken for the key" in found


def test_a_pattern_takes_a_near_miss_out_of_a_sentence() -> None:
    check = make_check(NUMBER, wrong_keys=[{**WRONG, "pattern": "([0-9]+) bells"}])
    assert faults(check, ["12"], ["has 47 bells in 12 towers"]) == []
    assert faults(check, ["12"], ["has 12 bells in 47 towers"])


def test_each_is_asked_under_a_name_of_its_own() -> None:
    check = make_check(NUMBER, margin=SQL)
    assert [one.name for one in lookups_of(check)] == ["key", "key~first-page", "key~"]
    assert [one.name for one in lookups_of(check.ways[0])] == ["key", "key~first-page", "key~"]


def test_what_is_not_compared_with_values_has_no_near_misses() -> None:
    with pytest.raises(ValidationError, match="say `wrong_keys` on a check with one value"):
        make_check(
            {"how": "delta", "changes": []},
            locate={"by": "db_delta", "site": "shop"},
            computed=None,
        )


def margin(**fields: object) -> Margin:
    return Margin.model_validate({**SQL, **fields})


@pytest.mark.parametrize(
    ("fields", "values"),
    [
        ({}, ["9", "8", "8"]),
        ({"by": 1}, ["9", "8", "7.5"]),
        ({"best": 2}, ["£1,200", "£1,100", "£9.50", "£9.50"]),
        ({}, ["2026-03-01", "2026-03-02"]),
        ({}, ["1", "2"]),
    ],
)
def test_the_best_are_apart(fields: dict[str, Any], values: list[str]) -> None:
    assert margin_fault(margin(**fields), values) is None


@pytest.mark.parametrize(
    ("fields", "values", "says"),
    [
        ({}, ["9", "9.0"], "9 and 9.0, places 1 and 2, are equal"),
        ({}, ["9"], "no runner-up"),
        ({"best": 2}, ["9", "8"], "no runner-up"),
        ({"best": 2}, ["9", "8", "8"], "8 and 8, places 2 and 3, are equal"),
        ({"by": 1}, ["9", "8.5"], "are 0.5 apart, wanted 1"),
        ({"by": 1}, ["Ada", "Ben"], "`by` compares numbers"),
        ({}, ["8", "9", "7"], "in no order"),
        ({}, ["9", "null"], "a measure is missing"),
        ({}, ["10", "9", "100"], "in no order"),
    ],
)
def test_a_tie_or_a_ranking_that_is_none_is_told(
    fields: dict[str, Any], values: list[str], says: str
) -> None:
    assert says in (margin_fault(margin(**fields), values) or "")


def test_a_tie_is_told_at_the_margin_of_its_check() -> None:
    check = make_check(NUMBER, margin=SQL)
    known = {"key": ["12"], "key~first-page": ["13"], "key~": ["5", "5"]}
    assert list(near_faults(check, known)) == [
        (("margin",), "no margin: 5 and 5, places 1 and 2, are equal")
    ]


def drawn_suite(
    folder: Path, count: int = 2, *, ids: Sequence[str] = ("owes",), **template: Any
) -> str:
    check = {
        "name": "key",
        "when": "end",
        "computed": {"site": "shop", "sql": "SELECT {number}"},
        "wrong_keys": [{**WRONG, "sql": "SELECT {number} + 1"}],
        "locate": {"by": "answer"},
        "match": {"how": "answer", "type": "number", "value": "{computed}"},
    }
    task = {
        "family": "information",
        "intent": "What does customer {number} owe?",
        "sites": ["shop"],
        "start": ["shop:/"],
        "worlds": ["offline"],
        "checks": [check],
        "reference": [{"do": "stop", "answer": "{computed}"}],
    }
    rules = template or {"draw": {"number": {"integer": [1, 9]}}, "instances": count}
    documents = [{"id": one, **rules, "task": task} for one in ids]
    path = folder / "drawn.yaml"
    path.write_text(
        yaml.safe_dump({"suite": "drawn", "version": 1, "title": "D", "templates": documents})
    )
    return str(path)


class Shop:
    """Answers what customers owe, of some the same as on the first page; keeps who was asked."""

    def __init__(self, *same: int) -> None:
        self.same = same
        self.asked: list[int] = []

    async def __call__(
        self, suite: Suite, tasks: tuple[Task, ...]
    ) -> Mapping[tuple[str, str], Sequence[str]]:
        assert all(task in suite.tasks for task in tasks)
        found: dict[tuple[str, str], Sequence[str]] = {}
        for task in tasks:
            number = number_of(task)
            self.asked.append(number)
            found[task.id, "key"] = [f"{number}"]
            near = f"{number}.0" if number in self.same else f"{number + 1}"
            found[task.id, "key~first-page"] = [near]
        return found


def number_of(task: Task) -> int:
    return int(task.intent.split()[3])


async def test_only_instances_that_differ_from_their_near_misses_are_drawn(tmp_path: Path) -> None:
    every = Shop(*range(1, 9))  # 9 alone differs
    suite = await drawn_apart(drawn_suite(tmp_path, 1), 7, every)
    [task] = suite.tasks
    [check] = task.checks
    assert number_of(task) == 9
    assert task.id == "owes-s7-1"
    assert isinstance(check.match, AnswerMatcher)
    assert str(check.match.value) == "9"
    assert task.reference_actions[-1].model_dump()["answer"] == "9"
    again = await drawn_apart(drawn_suite(tmp_path, 1), 7, Shop(*range(1, 9)))
    assert again.tasks == suite.tasks


async def test_what_was_asked_is_not_asked_again(tmp_path: Path) -> None:
    shop = Shop()
    first = await drawn_apart(drawn_suite(tmp_path), 7, shop)
    one, other = (number_of(task) for task in first.tasks)
    assert shop.asked == [one, other]
    picky = Shop(one)
    second = await drawn_apart(drawn_suite(tmp_path), 7, picky)
    assert one not in [number_of(task) for task in second.tasks]
    assert len(set(picky.asked)) == len(picky.asked)


async def test_rows_alone_are_drawn_too(tmp_path: Path) -> None:
    rows: dict[str, Any] = {
        "params": [{"number": number} for number in range(1, 6)],
        "instances": 2,
    }
    shop = Shop(1, 2, 3)
    suite = await drawn_apart(drawn_suite(tmp_path, **rows), 7, shop)
    assert sorted(map(number_of, suite.tasks)) == [4, 5]


class OfficeOfTwoAnswers(Shop):
    """Answers every look-up with one of two numbers."""

    async def __call__(
        self, suite: Suite, tasks: tuple[Task, ...]
    ) -> Mapping[tuple[str, str], Sequence[str]]:
        found = await super().__call__(suite, tasks)
        return {(task, name): self._one(values, name) for (task, name), values in found.items()}

    def _one(self, values: Sequence[str], name: str) -> Sequence[str]:
        return [str(100 + int(values[0]) % 2)] if "~" not in name else ["7"]


async def test_instances_have_different_keys_where_there_are_enough(tmp_path: Path) -> None:
    numbers = [{"number": number} for number in (1, 3, 5, 7, 2)]
    for seed in range(5):
        path = drawn_suite(tmp_path, params=numbers, instances=2)
        suite = await drawn_apart(path, seed, OfficeOfTwoAnswers())
        assert {number_of(task) % 2 for task in suite.tasks} == {0, 1}


async def test_twins_of_several_templates_are_drawn_again_at_once(tmp_path: Path) -> None:
    """Each time that sites are asked costs their start."""
    numbers = [{"number": number} for number in (1, 3, 5, 7, 2)]

    async def times_asked(*ids: str) -> tuple[int, list[int]]:
        times, office = 0, OfficeOfTwoAnswers()

        async def ask(suite: Suite, tasks: tuple[Task, ...]) -> Found:
            nonlocal times
            times += 1
            return await office(suite, tasks)

        path = drawn_suite(tmp_path, ids=ids, params=numbers, instances=2)
        suite = await drawn_apart(path, 7, ask)
        return times, [number_of(task) for task in suite.tasks]

    alone = [await times_asked(one) for one in ("a", "c", "e")]
    together, drawn = await times_asked("a", "c", "e")
    assert min(times for times, _ in alone) > 1
    assert together == max(times for times, _ in alone)
    assert drawn == [number for _, numbers in alone for number in numbers]


async def test_instances_share_a_key_where_there_is_no_other(tmp_path: Path) -> None:
    path = drawn_suite(tmp_path, params=[{"number": 1}, {"number": 3}], instances=2)
    suite = await drawn_apart(path, 7, OfficeOfTwoAnswers())
    assert sorted(map(number_of, suite.tasks)) == [1, 3]


ROWS: dict[str, Any] = {
    "rows": {"site": "shop", "sql": "SELECT id FROM customer", "names": ["number"]},
    "instances": 2,
}


class ShopOfCustomers(Shop):
    """Answers which customers there are as well."""

    def __init__(self, customers: Sequence[str], *same: int) -> None:
        super().__init__(*same)
        self.customers = customers

    async def __call__(
        self, suite: Suite, tasks: tuple[Task, ...]
    ) -> Mapping[tuple[str, str], Sequence[str]]:
        if suite.suite == "rows":
            [task] = suite.tasks
            assert task.checks[0].computed is not None
            assert task.checks[0].computed.sql == ROWS["rows"]["sql"]
            return {(task.id, "rows"): self.customers}
        return await super().__call__(suite, tasks)


async def test_instances_are_drawn_of_the_rows_that_a_site_holds(tmp_path: Path) -> None:
    suite = await drawn_apart(
        drawn_suite(tmp_path, **ROWS), 7, ShopOfCustomers(["4", "5", "6", "7"], 5, 6)
    )
    assert sorted(map(number_of, suite.tasks)) == [4, 7]


async def test_the_order_in_which_a_site_answers_draws_no_other_instances(tmp_path: Path) -> None:
    numbers = [str(number) for number in range(1, 30)]
    there, back = [
        await drawn_apart(drawn_suite(tmp_path, **ROWS), 7, ShopOfCustomers(rows))
        for rows in (numbers, [*reversed(numbers), *numbers])
    ]
    assert there.tasks == back.tasks


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([], "finds 0 rows"),
        (["4 | Emma"], "'4 | Emma', wanted 1 values"),
        (["null"], "'null', wanted"),
        ([""], "'', wanted"),
        (["4"], "makes 1 different instances, of 2"),
    ],
)
async def test_rows_that_fill_no_instance_are_refused(
    tmp_path: Path, rows: list[str], says: str
) -> None:
    with pytest.raises(TaskError, match=re.escape(says)):
        await drawn_apart(drawn_suite(tmp_path, **ROWS), 7, ShopOfCustomers(rows))


def test_a_suite_that_draws_of_a_site_is_not_played_before_it_is_written(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"templates.0: its `rows` are asked .* tasks instantiate"):
        load_suite(drawn_suite(tmp_path, **ROWS))


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ({"rows": ROWS["rows"]}, "`instances` says how many"),
        ({**ROWS, "params": [{"number": 4}]}, "`rows` stands in place of `params`"),
        ({**ROWS, "rows": {**ROWS["rows"], "names": ["a", "a"]}}, "has a name twice"),
    ],
)
def test_rows_that_say_too_much_or_too_little_are_refused(
    tmp_path: Path, template: dict[str, Any], says: str
) -> None:
    with pytest.raises(TaskError, match=says):
        load_suite(drawn_suite(tmp_path, **template))


async def test_what_no_draw_parts_from_a_near_miss_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"'owes-s7-1', drawn \d+ times: .*'first-page' is the key"):
        await drawn_apart(drawn_suite(tmp_path), 7, Shop(*range(1, 10)))


def test_a_row_that_looks_like_a_placeholder_fills_nothing_in(tmp_path: Path) -> None:
    path = drawn_suite(tmp_path, **{**ROWS, "instances": 1})
    [task] = open_suite(path, 7, DrawnFrom(rows={"owes": ["{number}"]})).suite.tasks
    assert task.intent == "What does customer {number} owe?"
    with pytest.raises(TaskError, match="stands only as the `value` of a check"):
        open_suite(path, 7, DrawnFrom(rows={"owes": ["{computed}"]}))
