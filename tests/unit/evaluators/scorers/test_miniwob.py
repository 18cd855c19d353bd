"""A page's reward as published runners take it, beside Arena's: 1 where the page is content."""

from __future__ import annotations

import pytest
from support.runs.make_evidence import make_evidence
from support.tasks.make_original import make_original

from evaluators.checks import Check
from evaluators.evidence import Ended, EpisodeFault, Located, MiniWobRecord, UnscoredReason
from evaluators.scorers.base import SCORERS
from evaluators.scores import score
from tasks.loader import load_source

STRICT = Check.model_validate(
    {
        "name": "reward",
        "when": "end",
        "locate": {"by": "wob"},
        "match": {"how": "number", "value": 1, "tolerance": 1e-6},
    }
)
ORIGINAL = make_original({"page": "click-checkboxes-soft", "seed": 3}, "miniwob")


def wob(raw: float | None, reward: float | None, *, was_left: bool = False) -> MiniWobRecord:
    return MiniWobRecord(
        page="click-checkboxes-soft",
        seed=3,
        utterance="Select words",
        raw=raw,
        reward=reward,
        was_left=was_left,
    )


@pytest.mark.parametrize(
    ("record", "raw", "decayed", "strict"),
    [
        (wob(1.0, 0.83), 1.0, 0.83, "success"),
        (wob(0.33, 0.3), 1.0, 0.3, "failure"),  # part of the boxes: a success upstream
        (wob(0.0, 0.0), 0.0, 0.0, "failure"),
        (wob(-1.0, -1.0), 0.0, -1.0, "failure"),
        (wob(None, None), 0.0, 0.0, "failure"),
        (wob(1.0, 0.9, was_left=True), 0.0, 0.0, None),
    ],
)
def test_a_part_of_the_reward_is_a_success_upstream_and_none_strictly(
    record: MiniWobRecord, raw: float, decayed: float, strict: str | None
) -> None:
    values = () if record.raw is None else (str(record.raw),)
    located = (Located(check="reward", values=values),)
    evidence = make_evidence(ended=Ended.PAGE_ENDED).model_copy(
        update={"miniwob": record, "located": located}
    )
    for name, value in (("miniwob-raw", raw), ("miniwob-decayed", decayed)):
        assert SCORERS.load(name).score(ORIGINAL, evidence, {}).value == value
    if strict is not None:
        assert str(score([STRICT], evidence).outcome) == strict


def test_an_attempt_that_broke_off_has_no_reward() -> None:
    fault = EpisodeFault(reason=UnscoredReason.INFRA, message="gone")
    evidence = make_evidence().model_copy(update={"fault": fault})
    found = SCORERS.load("miniwob-raw").score(ORIGINAL, evidence, {})
    assert (found.status.value, found.value) == ("unscored", None)


def test_the_pages_of_the_suites_can_be_read_so() -> None:
    tasks = load_source("miniwob-56").suite.tasks
    assert {task.original.format for task in tasks if task.original} == {"miniwob"}
    assert all(task.original for task in tasks)
