"""`how: answer` as a task writes it: what it refuses at load, and the sentences that it gives."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError
from quick_cases import SLOW

from arena_core.worlds import World
from evaluators.matchers.answer import AnswerMatcher
from evaluators.matchers.base import Matched


def _judged(answer: str, **written: Any) -> Matched:
    return AnswerMatcher.model_validate({"how": "answer", **written}).match([answer], World.OFFLINE)


@pytest.mark.parametrize(
    ("written", "because"),
    [
        ({"type": "number"}, "by one of `value`, `any_of`, `all_of` and `rows`"),
        ({"type": "number", "value": 1, "any_of": [1]}, "by one of"),
        ({"value": 1}, "`type` says what the answer is read as"),
        ({"type": "number", "value": "many"}, "is no number"),
        ({"type": "time", "value": 720}, "in quotes"),
        ({"type": "duration", "value": 90}, "is no duration with its units"),
        ({"type": "date", "value": "03/04/2023"}, "either of two months"),
        ({"type": "code", "value": "™"}, "asks for nothing"),
        ({"type": "number", "value": 1, "currency": "GBP"}, "`currency` says nothing of"),
        ({"type": "money", "value": 1, "currency": "doubloons"}, "is none, such as GBP"),
        ({"type": "number", "value": 1, "tolerance": "much"}, "is none, such as 0.5"),
        ({"type": "number", "value": 1, "ordered": True}, "`ordered` says nothing of `value`"),
        ({"rows": [["a", 1]]}, "belong together"),
        ({"rows": [["a"]], "columns": [{"type": "name"}, {"type": "number"}]}, "a row of 1 cells"),
    ],
)
def test_a_mistake_is_refused_when_the_task_is_read(written: dict[str, Any], because: str) -> None:
    with pytest.raises(ValidationError, match=because):
        AnswerMatcher.model_validate({"how": "answer", **written})


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("47", "found '47'"),
        ("48", "found '48', wanted the number '47': it says another value"),
        (
            "47 or 48",
            "found '47 or 48', wanted the number '47': it holds '47' and '48'",
        ),
        (
            "It is not 47.",
            "found 'It is not 47.', wanted the number '47': it negates with 'not'",
        ),
        ("", "found '', wanted the number '47': it is empty"),
    ],
)
def test_the_reason_says_what_is_wrong_with_an_answer(answer: str, reason: str) -> None:
    assert _judged(answer, type="number", value=47).reason == reason


def test_a_day_that_yaml_reads_as_a_date_is_that_day() -> None:
    from datetime import date  # noqa: PLC0415 - what YAML makes of `2023-05-23`

    assert _judged("May 23, 2023", type="date", value=date(2023, 5, 23)).met


def test_each_world_has_its_own_value() -> None:
    written = {"how": "answer", "type": "number", "value": {"offline": 1, "online": 2}}
    matcher = AnswerMatcher.model_validate(written)
    assert matcher.match(["1"], World.OFFLINE).met
    assert not matcher.match(["1"], World.ONLINE).met
    assert matcher.match(["2"], World.ONLINE).met


@SLOW
def test_a_reason_stays_short_however_long_the_answer_and_the_key_are() -> None:
    many = [f"name {number} {'x' * 500}" for number in range(500)]
    reason = _judged("y" * 100_000, type="name", all_of=many).reason
    assert len(reason) < 1000


def test_what_stands_behind_a_very_long_gap_counts_too() -> None:
    columns = [{"type": "name"}, {"type": "number"}]
    told = "Ada, 1\nBob, 2" + " " * 10_000
    rows = [["Ada", 1], ["Bob", 2]]
    assert not _judged(f"{told}\nEve, 3", columns=columns, rows=rows).met
    assert not _judged(f"47{' ' * 10_000}or 48", type="number", value=47).met
    assert not _judged(f"1, 2{' ' * 10_000}, 3", type="number", all_of=[1, 2]).met
