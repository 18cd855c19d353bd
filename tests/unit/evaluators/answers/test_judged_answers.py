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
        *("restated", "reworded"),
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
        is_right: [
            matcher.match([one], World.OFFLINE) for name in names for one in asked.get(name, ())
        ]
        for is_right, names in ((True, ("bare", "right", "adorned")), (False, ("wrong",)))
    }
    assert [one.reason for one in judged[True] if not one.met] == []
    assert [one.reason for one in judged[False] if one.met] == []


def test_nineteen_of_twenty_right_answers_are_met() -> None:
    met = sum(len(one["right"]) for one in _QUESTIONS)
    refused = [answer for one in _QUESTIONS for answer in one.get("refused", ())]
    assert len(refused) <= 0.05 * (met + len(refused))


def test_nineteen_of_twenty_plain_sentences_are_met() -> None:
    plain = [one for one in _QUESTIONS if "bare" in one]
    met = sum(len(one["right"]) for one in plain)
    refused = sum(len(one.get("refused", ())) for one in plain)
    assert refused <= 0.05 * (met + refused)


@ONE_QUICK
@pytest.mark.parametrize(
    "asked",
    [one for one in _QUESTIONS if {"refused", "adorned_refused"} & one.keys()],
    ids=lambda one: one["question"],
)
def test_what_the_table_calls_refused_still_is(asked: dict[str, Any]) -> None:
    matcher = AnswerMatcher.model_validate({"how": "answer", **asked["match"]})
    matcher = matcher.answering(asked["question"])
    refused = (*asked.get("refused", ()), *asked.get("adorned_refused", ()))
    met = [one for one in refused if matcher.match([one], World.OFFLINE).met]
    assert met == [], "move these to `right` or `adorned`"


def test_the_table_is_as_large_as_it_says() -> None:
    answers = [answer for one in _QUESTIONS for name in ("right", "wrong") for answer in one[name]]
    assert len(answers) >= 900
    assert all(isinstance(answer, str) for answer in answers), "put each answer in quotes"
