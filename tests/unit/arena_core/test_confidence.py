"""A stated confidence is a number from 0 to 1, and is nowhere where it was not stated."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError
from support.runs.make_evidence import make_evidence, make_step, stop_step

from arena_core.actions import Action, Infeasible, Stop
from evaluators.evidence import Evidence
from evaluators.responses import confidence_of, response_of

ACTION: TypeAdapter[Any] = TypeAdapter(Action)
ENDS: list[dict[str, Any]] = [
    {"kind": "stop", "answer": "47"},
    {"kind": "infeasible", "reason": "x"},
]


@pytest.mark.parametrize("ending", ENDS, ids=lambda one: one["kind"])
@pytest.mark.parametrize("stated", [0, 0.0, 0.25, 1, 1.0])
def test_a_number_from_0_to_1_is_kept_as_it_is(ending: dict[str, Any], stated: float) -> None:
    for read in (
        ACTION.validate_python({**ending, "confidence": stated}),
        ACTION.validate_json(json.dumps({**ending, "confidence": stated})),
    ):
        assert read.confidence == stated
        assert ACTION.validate_json(ACTION.dump_json(read)) == read


@pytest.mark.parametrize("ending", ENDS, ids=lambda one: one["kind"])
@pytest.mark.parametrize(
    "stated", [-0.01, 1.01, 80, math.nan, math.inf, True, False, "0.8", "80%", "high", [0.8], {}]
)
def test_anything_else_makes_no_action(ending: dict[str, Any], stated: object) -> None:
    with pytest.raises(ValidationError, match="confidence"):
        ACTION.validate_python({**ending, "confidence": stated})
    with pytest.raises(ValidationError):
        ACTION.validate_json(json.dumps({**ending, "confidence": stated}))


def test_an_ending_without_one_is_written_as_before_there_was_any() -> None:
    stop = '{"kind":"stop","answer":"47","status":null,"data":null,"reason":null}'
    assert Stop(answer="47").model_dump_json() == stop
    assert Infeasible(reason="x").model_dump_json() == '{"kind":"infeasible","reason":"x"}'
    assert "confidence" not in make_evidence(stop_step(1, "47")).model_dump_json()
    assert ACTION.validate_json(stop) == Stop(answer="47")


def test_evidence_says_how_sure_the_agent_was() -> None:
    def ended(*actions: Stop | Infeasible) -> float | None:
        steps = [make_step(number, action=one) for number, one in enumerate(actions, start=1)]
        evidence = make_evidence(make_step(0), *steps)
        return confidence_of(Evidence.model_validate_json(evidence.model_dump_json()))

    assert ended(Stop(answer="47", confidence=0.0)) == 0.0
    assert ended(Infeasible(reason="x", confidence=0.7)) == 0.7
    assert ended(Stop(answer="47")) is None
    assert ended() is None
    assert confidence_of(make_evidence()) is None


def test_it_makes_no_plain_answer_a_structured_one() -> None:
    assert response_of(Stop(answer="47", confidence=0.9)) is None
    assert response_of(Stop(status=None, data=[1], confidence=0.9)) == response_of(Stop(data=[1]))
