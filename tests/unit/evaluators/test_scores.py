from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
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
from evaluators.evidence import Ended, EpisodeFault, Evidence, Located, UnscoredReason, Varied
from evaluators.scores import score
from evaluators.verdicts import CheckStatus

NODES = [key_node(f"shop:/{name}", name=name, required=True) for name in ("a", "b", "c", "d")]
ON_THE_WAY = key_node("shop:/a", name="a")
ROW = make_check(DB, "1", name="row")
SAID = make_check(ANSWER, "yes", name="said")
LIVES = make_check(PAGE, "Kettle", name="lives")
FOUND_ROW = Located(check="row", values=("1",))


def _visit(*names: str, ended: Ended | None = Ended.STOPPED) -> Evidence:
    steps = [make_step(number, f"shop:/{name}") for number, name in enumerate(names, start=1)]
    last = [stop_step(len(names) + 1)] if ended is Ended.STOPPED else []
    return make_evidence(make_step(0, "shop:/"), *steps, *last, ended=ended)


class TestOutcome:
    def test_every_check_met_is_success(self) -> None:
        result = score([SAID, ROW], make_evidence(answer="Yes", located=[FOUND_ROW]))
        assert str(result.outcome) == "success"
        assert result.because == "all 2 checks are met"

    def test_one_check_unmet_is_failure_and_is_named(self) -> None:
        result = score([ROW, SAID], make_evidence(answer="no", located=[FOUND_ROW]))
        assert str(result.outcome) == "failure"
        assert result.because == "check 'said': found 'no', wanted 'yes'"

    def test_an_unmet_key_node_that_is_required_is_failure_too(self) -> None:
        result = score([*NODES, SAID], make_evidence(make_step(0, "shop:/"), answer="yes"))
        assert str(result.outcome) == "failure"
        assert result.because.endswith("(and 3 more)")

    def test_a_right_answer_by_another_way_is_success_and_its_progress_is_what_it_was(self) -> None:
        result = score([ON_THE_WAY, SAID], make_evidence(make_step(1, "shop:/x"), answer="yes"))
        assert str(result.outcome) == "success"
        assert result.because == "the check that decides is met; without key node 'a'"
        assert (result.key_nodes_met, result.completion) == (0, 0.0)

    def test_a_key_node_that_does_not_decide_is_not_named_as_the_reason(self) -> None:
        result = score([ON_THE_WAY, SAID], make_evidence(make_step(1, "shop:/x"), answer="no"))
        assert result.because == "check 'said': found 'no', wanted 'yes'"

    def test_a_key_node_that_could_not_be_looked_at_leaves_the_outcome_alone(self) -> None:
        blind = key_node("Kettle", name="blind", locate=PAGE)
        assert str(score([blind, SAID], _visit("a")).outcome) == "failure"
        right = _visit("a").model_copy(update={"answer": "yes"})
        assert str(score([blind, SAID], right).outcome) == "success"

    def test_key_nodes_alone_decide_nothing(self) -> None:
        result = score([ON_THE_WAY], _visit("a"))
        assert str(result.outcome) == "unscored: check_error"
        assert result.because == "no check that decides success applies in the offline world"

    def test_a_check_that_could_decide_and_could_not_be_looked_at_is_unscored(self) -> None:
        blind = Located(check="row", error="the database did not answer")
        result = score([SAID, ROW], make_evidence(answer="yes", located=[blind]))
        assert str(result.outcome) == "unscored: check_error"
        assert result.because == ("check 'row' could not be looked at: the database did not answer")

    def test_a_check_that_could_not_change_a_failure_leaves_it_one(self) -> None:
        blind = Located(check="row", error="the database did not answer")
        result = score([ROW, SAID], make_evidence(answer="no", located=[blind]))
        assert str(result.outcome) == "failure"

    def test_no_check_at_all_is_no_success(self) -> None:
        elsewhere = make_check(ANSWER, "yes", worlds=[World.ONLINE])
        result = score([elsewhere], make_evidence(answer="yes"))
        assert str(result.outcome) == "unscored: check_error"
        assert result.because == "no check that decides success applies in the offline world"

    @pytest.mark.parametrize("reason", list(UnscoredReason))
    def test_a_fault_is_never_a_failure(self, reason: UnscoredReason) -> None:
        fault = EpisodeFault(reason=reason, message="the container died")
        result = score([SAID], make_evidence(answer="no", fault=fault), [LIVES])
        assert result.outcome.reason is reason
        assert result.because == "the container died"
        assert str(result.outcome) == f"unscored: {reason}"

    @pytest.mark.parametrize("answer", ["yes", "no"])
    def test_an_arm_without_effect_decides_nothing(self, answer: str) -> None:
        found = Varied(variation="page=notice@3,v1", count=0)
        effective = Varied(variation="look=dark@v1", count=2)
        evidence = make_evidence(answer=answer)
        void = score([SAID], evidence.model_copy(update={"varied": (effective, found)}))
        assert str(void.outcome) == "unscored: void_arm"
        assert void.because.startswith("page=notice@3,v1 had no effect")
        varied = score([SAID], evidence.model_copy(update={"varied": (effective,)}))
        assert varied == score([SAID], evidence)

    def test_an_arm_without_effect_hides_no_fault(self) -> None:
        fault = EpisodeFault(reason=UnscoredReason.INFRA, message="the container died")
        found = Varied(variation="look=dark@v1", count=0)
        evidence = make_evidence(answer="no", fault=fault).model_copy(update={"varied": (found,)})
        assert score([SAID], evidence).outcome.reason is UnscoredReason.INFRA

    def test_evidence_without_an_end_is_no_failure(self) -> None:
        result = score([SAID], make_evidence(answer="no", ended=None))
        assert str(result.outcome) == "unscored: infra"


class TestRequirements:
    def test_a_world_that_is_not_as_required_has_drifted(self) -> None:
        gone = make_evidence(answer="yes", required=[Located(check="lives", values=("Not found",))])
        result = score([SAID], gone, [LIVES])
        assert str(result.outcome) == "unscored: drifted"
        assert result.because == "requirement 'lives': found 'Not found', wanted 'Kettle'"
        assert [verdict.status for verdict in result.required] == [CheckStatus.UNMET]

    def test_a_requirement_that_could_not_be_looked_at_is_a_check_error(self) -> None:
        blind = make_evidence(answer="yes", required=[Located(check="lives", error="timeout")])
        result = score([SAID], blind, [LIVES])
        assert str(result.outcome) == "unscored: check_error"
        assert result.because == "requirement 'lives': could not be looked at: timeout"

    def test_drift_that_was_seen_outweighs_what_was_not_seen(self) -> None:
        other = make_check(PAGE, "Teapot", name="other")
        required = [Located(check="lives", error="timeout"), Located(check="other")]
        result = score([SAID], make_evidence(required=required), [LIVES, other])
        assert str(result.outcome) == "unscored: drifted"

    def test_requirements_of_the_other_world_do_not_count(self) -> None:
        online = make_check(PAGE, "Kettle", name="lives", worlds=[World.ONLINE])
        assert str(score([SAID], make_evidence(answer="yes"), [online]).outcome) == "success"

    def test_what_is_met_lets_the_checks_decide(self) -> None:
        held = make_evidence(answer="yes", required=[Located(check="lives", values=("Kettle",))])
        assert str(score([SAID], held, [LIVES]).outcome) == "success"

    def test_an_agent_that_was_not_started_has_not_failed(self) -> None:
        idle = make_evidence(ended=Ended.NOT_STARTED)
        assert str(score([SAID], idle).outcome) == "unscored: check_error"


class TestNumbers:
    def test_completion_steps_and_efficiency(self) -> None:
        result = score(NODES, _visit("a", "x", "c"))
        assert (result.key_nodes_met, result.key_nodes) == (2, 4)
        assert result.completion == 0.5
        assert result.steps == 4  # three visits and the stop; the opening is none
        assert result.efficiency == 2.0

    def test_efficiency_is_undefined_not_zero_where_no_key_node_was_met(self) -> None:
        result = score(NODES, _visit("x"))
        assert result.completion == 0.0
        assert result.efficiency is None

    def test_a_task_without_key_nodes_has_no_completion(self) -> None:
        result = score([SAID], make_evidence(answer="yes"))
        assert (result.completion, result.efficiency, result.alignment) == (None, None, None)

    def test_an_unscored_episode_has_no_completion(self) -> None:
        fault = EpisodeFault(reason=UnscoredReason.INFRA, message="gone")
        result = score(NODES, _visit("a", "b").model_copy(update={"fault": fault}))
        assert (result.completion, result.efficiency, result.alignment) == (None, None, None)
        assert result.key_nodes_met == 2

    def test_a_key_node_that_could_not_be_looked_at_leaves_completion_open(self) -> None:
        blind = key_node("Kettle", name="blind", locate=PAGE)
        result = score([NODES[0], blind, SAID], _visit("a"))
        assert result.verdicts[1].status is CheckStatus.UNKNOWN
        assert str(result.outcome) == "failure"  # by `said`, whatever the blind node held
        assert (result.completion, result.efficiency, result.alignment) == (None, None, None)


class TestHumanAlignment:
    """WebCanvas (arXiv 2406.12373), appendix E: its four cases."""

    def test_complete_and_signalled(self) -> None:
        assert score(NODES, _visit("a", "b", "c", "d")).alignment == 1.0

    def test_complete_without_a_signal(self) -> None:
        evidence = _visit("a", "b", "c", "d", ended=Ended.STEP_LIMIT)
        assert score(NODES, evidence).alignment == 0.95

    def test_incomplete_but_signalled(self) -> None:
        assert score(NODES, _visit("a", "b", "c")).alignment == 0.75

    def test_incomplete_and_given_up_as_infeasible_is_a_stop_by_itself(self) -> None:
        assert score(NODES, _visit("a", "b", ended=Ended.INFEASIBLE)).alignment == 0.5

    @pytest.mark.parametrize("ended", [Ended.STEP_LIMIT, Ended.DEADLINE, Ended.AGENT_GAVE_UP])
    def test_incomplete_and_cut_off(self, ended: Ended) -> None:
        assert score(NODES, _visit("a", "b", ended=ended)).alignment == pytest.approx(0.4)

    def test_complete_means_key_nodes_whatever_end_checks_say(self) -> None:
        result = score([NODES[0], SAID], _visit("a"))
        assert str(result.outcome) == "failure"
        assert result.alignment == 1.0


@given(
    visited=st.lists(st.sampled_from("abcdx"), max_size=8),
    ended=st.sampled_from([ended for ended in Ended if ended is not Ended.NOT_STARTED]),
)
def test_scores_keep_their_bounds(visited: list[str], ended: Ended) -> None:
    result = score(NODES, _visit(*visited, ended=ended))
    assert result.completion is not None
    assert result.alignment is not None
    assert result.key_nodes_met == len(set(visited) & set("abcd"))
    assert 0 <= result.completion <= 1
    assert 0 <= result.alignment <= 1
    assert (str(result.outcome) == "success") is (result.completion == 1)


@given(st.sampled_from(["yes", "no", None]), st.sampled_from([(), ("1",), ("2",), None]))
def test_evidence_read_back_from_its_file_scores_the_same(
    answer: str | None, rows: tuple[str, ...] | None
) -> None:
    row = Located(check="row", error="gone") if rows is None else Located(check="row", values=rows)
    evidence = make_evidence(
        make_step(0, "shop:/"), make_step(1, "shop:/a"), answer=answer, located=[row]
    )
    again = Evidence.model_validate_json(evidence.model_dump_json())
    assert score([NODES[0], SAID, ROW], again) == score([NODES[0], SAID, ROW], evidence)
