"""A failure after a miss is not the agent's, unless it asked for what nobody offered it."""

from __future__ import annotations

import pytest
from support.runs.make_evidence import ANSWER, PAGE, make_check, make_evidence, make_step, stop_step

from evaluators.evidence import Evidence, Located
from evaluators.scores import score
from evaluators.tape_misses import MOST_MISSES, MissedBy, MissedRequest, kept_misses

SAID = make_check(ANSWER, "yes", name="said")
AT = "https://en.wikipedia.org"


def miss(
    by: MissedBy, place: str = "/wiki/Tea", step: int = 1, method: str = "GET"
) -> MissedRequest:
    return MissedRequest(step=step, method=method, url=f"{AT}{place}", site="wiki", by=by)


def ended(*misses: MissedRequest, answer: str = "no") -> Evidence:
    steps = (make_step(0, "wiki:/"), make_step(1, "wiki:/article/Tea"), stop_step(2))
    evidence = make_evidence(*steps, answer=answer)
    return evidence.model_copy(update={"tape_misses": misses})


def outcome(*misses: MissedRequest, answer: str = "no") -> str:
    return str(score([SAID], ended(*misses, answer=answer)).outcome)


@pytest.mark.parametrize("by", [MissedBy.PAGE, MissedBy.DATA, MissedBy.CHECK])
def test_a_failure_after_the_site_led_off_its_tape_is_unscored(by: MissedBy) -> None:
    assert outcome(miss(by)) == "unscored: tape_miss"


@pytest.mark.parametrize("by", [MissedBy.ADDRESS, MissedBy.PART])
def test_an_agent_gains_nothing_by_an_address_of_its_own(by: MissedBy) -> None:
    assert outcome(*(miss(by, f"/nonsense/{number}") for number in range(5))) == "failure"


def test_loading_a_made_up_address_again_is_no_excuse_either() -> None:
    typed, again = miss(MissedBy.ADDRESS, "/nonsense"), miss(MissedBy.PAGE, "/nonsense", step=2)

    assert outcome(typed, again) == "failure"
    assert outcome(typed, again, miss(MissedBy.PAGE, "/wiki/Tea")) == "unscored: tape_miss"


@pytest.mark.parametrize("by", list(MissedBy))
def test_a_success_stands_whatever_was_missed(by: MissedBy) -> None:
    assert outcome(miss(by), answer="yes") == "success"


def test_a_failure_without_a_miss_is_one() -> None:
    assert outcome() == "failure"


def test_what_a_page_always_asks_for_excuses_nobody() -> None:
    usual = miss(MissedBy.DATA, "/count?at=1", step=0, method="POST")
    again = miss(MissedBy.DATA, "/count?at=2", step=1, method="POST")

    assert outcome(usual, again) == "failure"
    assert outcome(usual, again, miss(MissedBy.DATA, "/facts")) == "unscored: tape_miss"


def test_the_reason_names_what_is_missing_and_what_failed() -> None:
    because = score([SAID], ended(miss(MissedBy.PAGE))).because

    assert "tape of 'wiki' has no answer to GET https://en.wikipedia.org/wiki/Tea" in because
    assert "check 'said': found 'no'" in because


def test_a_check_that_could_not_look_for_want_of_a_page_is_a_miss() -> None:
    lives = make_check(PAGE, "Kettle", name="lives")
    evidence = ended(miss(MissedBy.CHECK)).model_copy(
        update={"located": (Located(check="lives", error="it answered 504"),)}
    )

    assert str(score([lives], evidence).outcome) == "unscored: tape_miss"


def test_evidence_keeps_what_counts_before_what_does_not() -> None:
    parts = [miss(MissedBy.PART, f"/{number}.png") for number in range(MOST_MISSES)]

    kept = kept_misses([*parts, miss(MissedBy.PAGE)])

    assert len(kept) == MOST_MISSES
    assert kept[0].by is MissedBy.PAGE


def test_evidence_is_read_back_as_it_was() -> None:
    evidence = ended(miss(MissedBy.PAGE))

    assert Evidence.model_validate_json(evidence.model_dump_json()) == evidence
