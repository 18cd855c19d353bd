from __future__ import annotations

import json
from typing import Any

import pytest
from support.runs.make_evidence import make_evidence, make_step, stop_step

from arena_core.actions import Action, AnswerStatus, Infeasible, Stop
from arena_core.worlds import World
from evaluators.checks import Check, match
from evaluators.evidence import AgentResponse, Ended, Evidence
from evaluators.responses import answer_of, ending_of, response_of

UPSTREAM = {
    "task_type": "RETRIEVE",
    "status": "SUCCESS",
    "retrieved_data": ["red", "blue"],
    "error_details": None,
}


def _ended(action: Action, **fields: Any) -> Evidence:
    """Evidence as an episode that ended with this action leaves it."""
    answer = answer_of(action) if isinstance(action, Stop) else None
    played = make_evidence(make_step(0, "shop:/"), make_step(1, action=action), answer=answer)
    return played.model_copy(update={"response": response_of(action), **fields})


def _part(part: str, evidence: Evidence) -> tuple[str, ...]:
    check = {"name": "c", "when": "end", "locate": {"by": "answer", "part": part}}
    one = Check.model_validate({**check, "match": {"how": "exact", "value": "x"}})
    return one.locate.at_end("c", evidence).values


class TestWhatAnEndingSays:
    def test_plain_text_is_no_structured_ending(self) -> None:
        assert response_of(Stop(answer="47")) is None
        assert response_of(Stop()) is None
        assert response_of(Stop(answer='{"bells": 47}')) is None
        assert response_of(Stop(answer='{"status": "shipped"}')) is None

    def test_status_data_and_reason_are_kept(self) -> None:
        action = Stop(status=AnswerStatus.NOT_FOUND, reason="no such order")
        assert response_of(action) == AgentResponse(
            status=AnswerStatus.NOT_FOUND, reason="no such order"
        )
        assert response_of(Stop(data=[1, 2])) == AgentResponse(data=[1, 2])

    def test_what_cannot_be_done_is_infeasible_with_its_reason(self) -> None:
        assert response_of(Infeasible(reason="no such page")) == AgentResponse(
            status=AnswerStatus.INFEASIBLE, reason="no such page"
        )

    @pytest.mark.parametrize("dressed", ["{}", "```json\n{}\n```", "  {}\n"])
    def test_a_response_as_webarena_verified_writes_it_is_read(self, dressed: str) -> None:
        text = dressed.replace("{}", json.dumps(UPSTREAM))
        assert response_of(Stop(answer=text)) == AgentResponse(data=["red", "blue"])

    @pytest.mark.parametrize(
        ("word", "status"),
        [
            ("SUCCESS", AnswerStatus.DONE),
            ("ACTION_NOT_ALLOWED_ERROR", AnswerStatus.INFEASIBLE),
            ("NOT_FOUND_ERROR", AnswerStatus.NOT_FOUND),
            ("permission_denied_error", AnswerStatus.PERMISSION_DENIED),
            ("DATA_VALIDATION_ERROR", AnswerStatus.DATA_VALIDATION_ERROR),
            ("UNKNOWN_ERROR", AnswerStatus.UNKNOWN_ERROR),
            ("not_found", AnswerStatus.NOT_FOUND),
        ],
    )
    def test_its_words_for_the_status_are_ours(self, word: str, status: AnswerStatus) -> None:
        said = response_of(Stop(answer=json.dumps({"status": word})))
        assert said is not None
        assert said.status is status


class TestParts:
    def test_a_plain_answer_is_done(self) -> None:
        played = _ended(Stop(answer="47"))
        assert _part("text", played) == ("47",)
        assert _part("status", played) == ("done",)
        assert _part("data", played) == ()
        assert _part("reason", played) == ()

    @pytest.mark.parametrize(
        ("answer", "reason"),
        [
            ("N/A", ()),
            ("n/a.", ()),
            ("N/A: no such Page", ("no such Page",)),
            ("N/A - gone", ("gone",)),
        ],
    )
    def test_the_word_of_webarena_is_infeasible(self, answer: str, reason: tuple[str, ...]) -> None:
        played = _ended(Stop(answer=answer))
        assert _part("status", played) == ("infeasible",)
        assert _part("reason", played) == reason
        assert _part("text", played) == (answer,)

    def test_an_answer_that_only_begins_with_it_is_an_answer(self) -> None:
        assert _part("status", _ended(Stop(answer="N/Ahoj"))) == ("done",)

    def test_data_is_the_answer_too(self) -> None:
        assert _part("text", _ended(Stop(data=47))) == ("47",)
        assert _part("data", _ended(Stop(data=["a", "b"]))) == ('["a", "b"]',)
        assert _part("text", _ended(Stop(answer=json.dumps(UPSTREAM)))) == ('["red", "blue"]',)

    def test_what_ended_otherwise_than_done_gave_no_answer(self) -> None:
        played = _ended(Stop(status=AnswerStatus.NOT_FOUND, answer="47", reason="gone"))
        assert _part("text", played) == ()
        assert _part("status", played) == ("not_found",)
        assert _part("reason", played) == ("gone",)

    def test_one_that_did_not_end_by_itself_has_no_status(self) -> None:
        played = make_evidence(make_step(0, "shop:/"), answer=None, ended=Ended.STEP_LIMIT)
        assert _part("status", played) == ()
        assert ending_of(played) is None

    def test_evidence_from_before_there_were_responses_is_read_as_it_was(self) -> None:
        text = json.dumps(UPSTREAM)
        old = make_evidence(make_step(0, "shop:/"), stop_step(1, text), answer=text)
        assert old.response is None
        assert _part("text", old) == (text,)

    def test_evidence_is_kept_and_read_back(self) -> None:
        played = _ended(Stop(status=AnswerStatus.DONE, data={"a": [1, None]}))
        assert Evidence.model_validate_json(played.model_dump_json()) == played


def test_a_blank_answer_is_none_and_equals_no_expected_text() -> None:
    for blank in ("", " \n"):
        assert _part("text", make_evidence(make_step(0, "shop:/"), answer=blank)) == ()


def test_a_typed_list_reads_data() -> None:
    written = {"how": "answer", "type": "name", "all_of": ["blue", "red"]}
    check = Check.model_validate(
        {"name": "c", "when": "end", "locate": {"by": "answer"}, "match": written}
    )
    for action in (Stop(data=["red", "blue"]), Stop(answer=json.dumps(UPSTREAM))):
        values = check.locate.at_end("c", _ended(action)).values
        assert match(check, values, World.OFFLINE).met
