"""What playing a reference must show, judged on plays made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from support.runs.make_evidence import (
    ANSWER,
    DB,
    PAGE,
    key_node,
    make_check,
    make_evidence,
    make_step,
    stop_step,
)

from arena_core.worlds import World
from evaluators.checks import Check
from evaluators.evidence import EpisodeFault, Evidence, Located, UnscoredReason, Varied
from evaluators.lint import Severity
from evaluators.scores import score
from orchestrator.authoring.proof.rules import Played, judged, last_action, passes_in_arm
from orchestrator.episode.snapshot import EpisodeSnapshot
from tasks.schema import Task

ON, OFF = World.ONLINE, World.OFFLINE
SALE = key_node("shop:/sale", name="sale")
PRICE = make_check(ANSWER, "42", name="price")
ROW = make_check(DB, "1", name="row", worlds=(OFF,))
NOTHING_CHANGED = Check.model_validate(
    {
        "name": "nothing",
        "when": "end",
        "locate": {"by": "db_delta", "site": "shop"},
        "match": {"how": "delta", "changes": []},
    }
)
DIVERGES_AT_PRICE = {"outcome": "failure", "at": "price", "why": "the price has changed"}
DIVERGES_AT_SALE = {"outcome": "failure", "at": "sale", "why": "the route was renamed"}
DRIFTS = {"outcome": "unscored: drifted", "why": "the product is gone"}


def make_task(*checks: Check, actions: int = 1, **fields: Any) -> Task:
    """A task whose reference does so many actions, and answers 42."""
    return Task.model_validate(
        {
            "id": "task",
            "family": "information",
            "intent": "What does it cost?",
            "sites": ["shop"],
            "start": ["shop:/"],
            "checks": list(checks),
            "reference": [
                *({"do": "press", "keys": "Tab"} for _ in range(actions)),
                {"do": "stop", "answer": "42"},
            ],
            **fields,
        }
    )


def went(
    answer: str | None = "42",
    world: World = OFF,
    *,
    there: str = "shop:/sale",
    located: Sequence[Located] = (),
) -> Evidence:
    """One action that opens a page, and a stop."""
    return make_evidence(
        make_step(0, at="shop:/"),
        make_step(1, there),
        stop_step(2),
        answer=answer,
        world=world,
        located=located,
    )


def broke(reason: UnscoredReason, world: World) -> Evidence:
    return make_evidence(
        fault=EpisodeFault(reason=reason, message="it broke"), world=world, ended=None
    )


def make_snapshot(
    step: int = 1, *located: Located, asked: Sequence[Located] = ()
) -> EpisodeSnapshot:
    return EpisodeSnapshot(step=step, located=located, asked=tuple(asked), moved={})


def played(
    task: Task,
    evidence: Evidence,
    first: EpisodeSnapshot | None = None,
    last: EpisodeSnapshot | None = None,
) -> Played:
    """A play that was looked at; by default the only action is the first and the last."""
    started = evidence.fault is None
    first = first or (make_snapshot() if started else None)
    return Played(
        task=task,
        world=evidence.world,
        evidence=evidence,
        score=score(task.checks, evidence, task.requires),
        untouched=first,
        before_last=(last or first) if last_action(task, evidence.world) else None,
    )


def findings(play: Played, *siblings: Played) -> list[str]:
    return [fault.message for fault in judged(play, siblings)]


def test_a_reference_that_succeeds_and_nothing_less_is_proven_in_both_worlds() -> None:
    task = make_task(SALE, PRICE)
    assert findings(played(task, went())) == []
    assert findings(played(task, went(world=ON))) == []


def test_a_reference_that_fails_is_a_finding_that_says_why() -> None:
    [found] = findings(played(make_task(SALE, PRICE), went("43")))
    assert "must succeed, ended as 'failure'" in found
    assert "price" in found


def test_a_reference_that_breaks_off_proves_nothing() -> None:
    [found] = findings(played(make_task(SALE, PRICE), broke(UnscoredReason.INFRA, OFF)))
    assert "infra" in found


def test_each_key_node_that_the_reference_leaves_out_is_named() -> None:
    other = key_node("shop:/other", name="other")
    [found] = findings(played(make_task(SALE, other, PRICE), went()))
    assert "does not meet key node 'other'" in found


def test_worlds_diverge_as_said() -> None:
    task = make_task(SALE, PRICE, expected_divergence=DIVERGES_AT_PRICE)
    assert findings(played(task, went("43", ON))) == []
    drifting = make_task(SALE, PRICE, expected_divergence=DRIFTS)
    assert findings(played(drifting, broke(UnscoredReason.DRIFTED, ON))) == []


def test_a_divergence_that_does_not_happen_is_a_finding() -> None:
    assert findings(
        played(make_task(SALE, PRICE, expected_divergence=DIVERGES_AT_PRICE), went(world=ON))
    )
    assert findings(played(make_task(SALE, PRICE, expected_divergence=DRIFTS), went(world=ON)))


def test_a_divergence_at_another_check_is_a_finding() -> None:
    elsewhere = went("43", ON, there="shop:/other")
    [found] = findings(
        played(make_task(SALE, PRICE, expected_divergence=DIVERGES_AT_PRICE), elsewhere)
    )
    assert "diverged at sale" in found
    assert (
        findings(played(make_task(SALE, PRICE, expected_divergence=DIVERGES_AT_SALE), elsewhere))
        == []
    )


def test_a_divergence_excuses_nothing_offline() -> None:
    assert findings(
        played(make_task(SALE, PRICE, expected_divergence=DIVERGES_AT_PRICE), went("43"))
    )


def test_a_check_that_holds_untouched_is_a_finding() -> None:
    row = Located(check="row", values=("1",))
    play = played(make_task(SALE, PRICE, ROW), went(located=[row]), make_snapshot(1, row))
    [found] = findings(play)
    assert found.startswith("check 'row' holds before the first action")


def test_an_end_url_that_is_the_start_page_is_a_finding() -> None:
    here = make_check({"by": "url"}, "shop:/", name="here")
    stayed = make_evidence(make_step(0, at="shop:/"), stop_step(1), answer="42")
    found = findings(played(make_task(here, PRICE, actions=0), stayed))
    assert any("check 'here' holds before the first action" in one for one in found)


def test_a_key_node_on_the_start_page_is_a_finding() -> None:
    node = key_node("Sale", name="heading", locate=PAGE)
    shown = Located(check="heading", values=("Sale",))
    evidence = make_evidence(
        make_step(0, at="shop:/", located=[shown]),
        make_step(1, "shop:/sale", located=[shown]),
        stop_step(2),
        answer="42",
    )
    found = findings(played(make_task(node, SALE, PRICE), evidence))
    assert any(
        "key node 'heading' is met by the page that the task starts on" in one for one in found
    )


@pytest.mark.parametrize(
    ("family", "count"), [("information", 0), ("navigation", 0), ("content", 1)]
)
def test_that_nothing_changed_may_hold_untouched_where_nothing_is_to_be_changed(
    family: str, count: int
) -> None:
    nothing = Located(check="nothing")
    task = make_task(SALE, PRICE, NOTHING_CHANGED, family=family)
    found = findings(played(task, went(located=[nothing]), make_snapshot(1, nothing)))
    assert len(found) == count


def test_doing_nothing_must_be_a_failure_and_not_unknown() -> None:
    blind = Located(check="row", error="no such table")
    seen = Located(check="row", values=("1",))
    task = make_task(ROW, family="content")
    found = findings(played(task, went(located=[seen]), make_snapshot(1, blind)))
    assert any("doing nothing must fail, ends as 'unscored: check_error'" in one for one in found)


def test_a_last_action_that_is_not_needed_is_a_finding_at_its_place() -> None:
    task = make_task(SALE, PRICE, actions=2)
    evidence = make_evidence(
        make_step(0, at="shop:/"),
        make_step(1, "shop:/sale"),
        make_step(2),
        stop_step(3),
        answer="42",
    )
    play = played(task, evidence, make_snapshot(1), make_snapshot(2))
    [fault] = judged(play, ())
    assert fault.at == ("reference", 1)
    assert "stopped before its last action, the reference ends as 'success'" in fault.message


def test_a_last_action_that_only_a_key_node_sees_needs_an_answer_to_be_found_by_it() -> None:
    assert findings(played(make_task(SALE, PRICE), went())) == []
    stored = Located(check="row", values=("1",))
    without = make_snapshot(1, Located(check="row"))
    play = played(make_task(SALE, ROW), went(located=[stored]), without, make_snapshot(1, stored))
    [found] = findings(play)
    assert "the action is not needed, or no check sees it" in found


def test_what_cannot_be_done_needs_no_way_there_but_an_answer() -> None:
    task = make_task(PRICE, family="unachievable", why="it is not sold")
    assert findings(played(task, went())) == []


def sibling_of(*checks: Check, evidence: Evidence, **fields: Any) -> Played:
    return played(make_task(*checks, template="price-of", **{"id": "other", **fields}), evidence)


def test_the_answer_of_a_sibling_must_fail() -> None:
    play = played(make_task(SALE, PRICE, template="price-of"), went())
    differs = sibling_of(make_check(ANSWER, "7", name="price"), evidence=went("7"))
    assert findings(play, differs) == []
    [found] = findings(play, sibling_of(SALE, PRICE, evidence=went("42")))
    assert found.startswith("the answer of 'other' ('42') passes as well")


def test_without_an_answer_the_work_of_a_sibling_must_fail() -> None:
    sale = SALE.model_copy(update={"required": True})
    task = make_task(sale, template="visit", family="navigation")
    elsewhere = went(None, there="shop:/other")
    other = sibling_of(key_node("shop:/other", name="sale", required=True), evidence=elsewhere)
    assert findings(played(task, went(None)), other) == []
    [found] = findings(played(task, went(None)), sibling_of(sale, evidence=went(None)))
    assert found.startswith("what solves 'other' meets the checks of this task too: sale")


def test_what_a_sibling_looked_up_elsewhere_is_not_compared() -> None:
    elsewhere = make_check({**DB, "sql": "SELECT 2"}, "1", name="row", worlds=(OFF,))
    found = Located(check="row", values=("1",))
    task = make_task(ROW, template="post", family="content")
    other = sibling_of(elsewhere, evidence=went(None, located=[found]))
    none = make_snapshot(1, Located(check="row"))
    [told] = findings(played(task, went(None, located=[found]), none), other)
    assert "none can be compared" in told


def computing(value: str, **computed: str) -> Check:
    return Check.model_validate(
        {
            **make_check(ANSWER, value, name="price").model_dump(exclude_none=True),
            "computed": {"site": "shop", "sql": "SELECT price", **computed},
        }
    )


def asked(*values: str, error: str | None = None) -> EpisodeSnapshot:
    return make_snapshot(1, asked=[Located(check="price", values=values, error=error)])


def test_a_computed_value_must_be_the_expected_one() -> None:
    task = make_task(SALE, computing("42"))
    assert findings(played(task, went(), asked("42"))) == []
    [found] = findings(played(task, went(), asked("43")))
    assert "computed is another value" in found
    assert "'43'" in found
    assert "'42'" in found


def test_a_computed_value_is_one_value() -> None:
    task = make_task(SALE, computing("42"))
    assert "computed are 2 values" in findings(played(task, went(), asked("42", "43")))[0]
    assert "computed are 0 values, wanted 1" in findings(played(task, went(), asked()))[0]


def test_a_value_that_cannot_be_computed_is_a_finding() -> None:
    task = make_task(SALE, computing("42"))
    [found] = findings(played(task, went(), asked(error="no such table")))
    assert "cannot be computed: no such table" in found


def test_a_pattern_takes_the_value_out_of_a_sentence() -> None:
    task = make_task(SALE, computing("42", pattern="costs ([0-9]+)"))
    assert findings(played(task, went(), asked("It costs 42 pounds."))) == []


def unsettled(evidence: Evidence) -> Evidence:
    steps = tuple(step.model_copy(update={"settled": step.index != 1}) for step in evidence.steps)
    return evidence.model_copy(update={"steps": steps})


def test_a_failure_on_a_page_that_did_not_come_to_rest_is_doubtful() -> None:
    task = make_task(SALE, PRICE)
    assert played(task, unsettled(went("43"))).was_slow
    assert played(task, broke(UnscoredReason.INFRA, OFF)).was_slow
    assert not played(task, unsettled(went())).was_slow
    assert not played(task, went("43")).was_slow
    assert not played(task, broke(UnscoredReason.CHECK_ERROR, OFF)).was_slow


# A task without a reference: an agent that only stops is what plays it.


def idled(world: World = OFF) -> Evidence:
    return make_evidence(make_step(0, at="shop:/"), stop_step(1), answer=None, world=world)


def test_what_cannot_be_proven_without_a_reference_is_said() -> None:
    task = make_task(SALE, PRICE, reference=None)
    [found] = list(judged(played(task, idled()), ()))
    assert "not proven, for want of a reference" in found.message
    assert found.severity is Severity.WARNING
    assert found.at == ("reference",)


def test_what_needs_no_reference_is_proven_without_one() -> None:
    task = make_task(ROW, reference=None)
    holds = make_snapshot(1, Located(check="row", values=("1",)))
    found = findings(played(task, idled(), first=holds))
    assert any("doing nothing must fail" in one for one in found)
    assert any("check 'row' holds before the first action" in one for one in found)


@pytest.mark.parametrize("reason", [UnscoredReason.INFRA, UnscoredReason.DRIFTED])
def test_a_task_without_a_reference_that_cannot_be_opened_is_an_error(
    reason: UnscoredReason,
) -> None:
    task = make_task(SALE, PRICE, reference=None)
    [found] = list(judged(played(task, broke(reason, ON)), ()))
    assert found.severity is Severity.ERROR
    assert "cannot be opened" in found.message
    assert played(task, broke(reason, ON)).was_slow is (reason is UnscoredReason.INFRA)


def test_what_a_sibling_solves_is_held_against_a_task_without_a_reference() -> None:
    task = make_task(PRICE, reference=None)
    found = findings(played(task, idled()), played(make_task(PRICE), went()))
    assert any("passes as well" in one for one in found)


def varied(evidence: Evidence, **counts: int) -> Evidence:
    """As it would be in an arm of these variations, by what each altered."""
    told = tuple(Varied(variation=name, count=count) for name, count in counts.items())
    return evidence.model_copy(update={"varied": told})


def in_arm(evidence: Evidence, **counts: int) -> list[tuple[Severity, str]]:
    task = make_task(SALE, PRICE)
    faults = passes_in_arm(played(task, varied(evidence, **counts)))
    return [(one.severity, one.message) for one in faults]


def test_a_reference_that_passes_in_an_arm_with_effect_is_no_finding() -> None:
    assert in_arm(went(), look=2, notice=1) == []


def test_an_arm_that_breaks_a_reference_is_one_error_that_names_what_failed_first() -> None:
    [(severity, said)] = in_arm(went("43", there="shop:/elsewhere"), look=2)
    assert severity is Severity.ERROR
    assert said.startswith("the reference must succeed, ended as 'failure': check 'price'")
    assert "the reference does not meet key node 'sale'" in said


def test_a_void_arm_is_a_warning_and_not_a_pass() -> None:
    [(severity, said)] = in_arm(went(), look=2, notice=0)
    assert severity is Severity.WARNING
    assert said == "void: notice had no effect on it, so nothing is shown"


def test_a_void_variation_hides_no_failure_by_another() -> None:
    found = in_arm(went("43"), look=2, notice=0)
    assert [severity for severity, _ in found] == [Severity.ERROR, Severity.WARNING]


def test_a_reference_that_broke_off_in_an_arm_is_an_error_and_not_void() -> None:
    [(severity, said)] = in_arm(broke(UnscoredReason.INFRA, OFF), look=0)
    assert severity is Severity.ERROR
    assert "ended as 'unscored: infra'" in said
