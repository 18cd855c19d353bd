"""Answers that were judged by hand, against the check that the question would have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from quick_cases import ONE_QUICK

from arena_core.worlds import World
from evaluators.matchers.answer import AnswerMatcher

_TABLES = [
    Path(__file__).with_name(f"{name}_answers.yaml")
    for name in (
        *("judged", "later", "further", "subject", "aside"),
        *("sentence", "spoken", "unseen", "plain", "agents", "held_out"),  # each by another hand
    )
]
_SAFE = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast
_QUESTIONS: list[dict[str, Any]] = [
    one
    for table in _TABLES
    for one in yaml.load(table.read_text(encoding="utf-8"), _SAFE)  # noqa: S506
]


@ONE_QUICK
@pytest.mark.parametrize(
    "asked", _QUESTIONS, ids=[str(one.get("question", one["match"])) for one in _QUESTIONS]
)
def test_answers_are_judged_as_by_hand(asked: dict[str, Any]) -> None:
    matcher = AnswerMatcher.model_validate({"how": "answer", **asked["match"]})
    matcher = matcher.answering(asked.get("question", ""))
    judged = {
        is_right: [matcher.match([answer], World.OFFLINE) for answer in asked[name]]
        for is_right, name in ((True, "right"), (False, "wrong"))
    }
    assert [one.reason for one in judged[True] if not one.met] == []
    assert [one.reason for one in judged[False] if one.met] == []


def test_nineteen_of_twenty_right_answers_are_met() -> None:
    met = sum(len(one["right"]) for one in _QUESTIONS)
    refused = [answer for one in _QUESTIONS for answer in one.get("refused", ())]
    assert len(refused) <= 0.05 * (met + len(refused))


@ONE_QUICK
@pytest.mark.parametrize(
    "asked", [one for one in _QUESTIONS if "refused" in one], ids=lambda one: one["question"]
)
def test_what_the_table_calls_refused_still_is(asked: dict[str, Any]) -> None:
    matcher = AnswerMatcher.model_validate({"how": "answer", **asked["match"]})
    matcher = matcher.answering(asked["question"])
    met = [one for one in asked["refused"] if matcher.match([one], World.OFFLINE).met]
    assert met == [], "move these to `right`"


def test_the_table_is_as_large_as_it_says() -> None:
    answers = [answer for one in _QUESTIONS for name in ("right", "wrong") for answer in one[name]]
    assert len(answers) >= 900
    assert all(isinstance(answer, str) for answer in answers), "put each answer in quotes"
