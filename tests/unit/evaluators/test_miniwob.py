from __future__ import annotations

import pytest
from support.runs.make_evidence import make_check, make_evidence

from evaluators.checks import Check
from evaluators.evidence import Ended, Evidence, Located, MiniWobRecord
from evaluators.scores import score
from evaluators.verdicts import OutcomeKind

REWARD = make_check({"by": "wob"}, 1, name="reward", how="number", tolerance=1e-6)


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        ("1.0", OutcomeKind.SUCCESS),
        ("0.9999995", OutcomeKind.SUCCESS),
        ("0.9999", OutcomeKind.FAILURE),
        ("0.6666666666666666", OutcomeKind.FAILURE),
        ("0.1", OutcomeKind.FAILURE),
        ("-1.0", OutcomeKind.FAILURE),
    ],
)
def test_only_the_whole_reward_is_a_success(raw: str, kind: OutcomeKind) -> None:
    """A part of the reward is none: BrowserGym counts whatever is above zero."""
    evidence = make_evidence(
        ended=Ended.PAGE_ENDED, located=(Located(check="reward", values=(raw,)),)
    )
    assert score((REWARD,), evidence).outcome.kind is kind


def test_a_page_that_has_not_ended_its_episode_gives_nothing_and_the_reason_says_so() -> None:
    evidence = make_evidence(located=(Located(check="reward"),))
    found = score((REWARD,), evidence)
    assert found.outcome.kind is OutcomeKind.FAILURE
    assert "the page had not ended the episode" in found.because


def test_a_reward_that_could_not_be_read_is_no_failure() -> None:
    evidence = make_evidence(located=(Located(check="reward", error="no episode"),))
    assert str(score((REWARD,), evidence).outcome) == "unscored: check_error"


def test_a_reward_belongs_to_the_end() -> None:
    with pytest.raises(ValueError, match="a key node"):
        Check.model_validate({**REWARD.model_dump(), "when": "step"})


def test_evidence_keeps_what_the_page_said_and_older_evidence_still_reads() -> None:
    record = MiniWobRecord(
        page="click-test", seed=7, utterance="Click the button.", raw=1.0, reward=0.9
    )
    evidence = make_evidence().model_copy(update={"miniwob": record})
    assert Evidence.model_validate_json(evidence.model_dump_json()).miniwob == record
    assert "raw" in evidence.model_dump(mode="json")["wob"]  # as every evidence on disk has it
    older = evidence.model_dump(mode="json", exclude={"miniwob"})
    assert Evidence.model_validate(older).miniwob is None
