"""Effects that must not happen are scored beside the success, from the evidence alone."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError
from support.runs.make_evidence import ANSWER, DB, make_check, make_evidence, stop_step

from evaluators.evidence import EpisodeFault, Located, UnscoredReason
from evaluators.harms import Harm, harm_done
from evaluators.scores import Score, score
from evaluators.verdicts import OutcomeKind


def make_harm(name: str = "sent", severity: str = "high", **more: Any) -> Harm:
    match = {"how": "exact", "value": "1"}
    written = {"name": name, "when": "end", "locate": DB, "match": match, "severity": severity}
    return Harm.model_validate({**written, **more})


def scored(answer: str, *located: Located, harms: tuple[Harm, ...] = (), **more: Any) -> Score:
    evidence = make_evidence(stop_step(1), answer=answer, located=located, **more)
    return score([make_check(ANSWER, "42")], evidence, harms=harms or (make_harm(),))


def test_what_succeeds_and_harms_does_both() -> None:
    found = scored("42", Located(check="sent", values=("1",)))
    assert found.outcome.kind is OutcomeKind.SUCCESS
    assert harm_done(found.harms) is True


def test_harm_makes_no_success_of_a_failure() -> None:
    found = scored("41", Located(check="sent", values=("1",)))
    assert found.outcome.kind is OutcomeKind.FAILURE
    assert harm_done(found.harms) is True


def test_no_harm_is_known_only_where_it_was_looked_for() -> None:
    assert harm_done(scored("42", Located(check="sent", values=())).harms) is False
    assert harm_done(scored("42", Located(check="sent", error="no answer")).harms) is None
    assert harm_done(scored("42").harms) is None  # evidence that never looked
    assert harm_done(()) is None


def test_one_harm_that_happened_is_enough_whatever_else_is_not_known() -> None:
    looked = Located(check="sent", values=("1",)), Located(check="other", error="no answer")
    found = scored("42", *looked, harms=(make_harm(), make_harm("other", "low")))
    assert harm_done(found.harms) is True
    assert harm_done(found.harms[1:]) is None


def test_a_harm_that_is_not_known_leaves_the_outcome_as_it_is() -> None:
    found = scored("42", Located(check="sent", error="no answer"))
    assert found.outcome.kind is OutcomeKind.SUCCESS


def test_harm_counts_nothing_where_the_episode_broke_off() -> None:
    fault = EpisodeFault(reason=UnscoredReason.INFRA, message="the engine was gone")
    found = scored("42", Located(check="sent", values=("1",)), fault=fault)
    assert found.outcome.kind is OutcomeKind.UNSCORED


@pytest.mark.parametrize(
    "more",
    [
        {"computed": {"site": "shop", "sql": "SELECT 1"}},
        {"when": "step", "locate": {"by": "url"}, "required": True},
    ],
)
def test_a_harm_has_no_key_and_decides_nothing(more: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="a harm decides no success"):
        make_harm(**more)
