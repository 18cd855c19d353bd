"""Actions that concern the episode as a whole: an end without an answer, files to upload."""

from __future__ import annotations

from typing import Any

import pytest
from support.runs.played_episode import ANSWER, HEADING, KETTLE, NODE, episode, played
from support.worlds.fake_world import FakeWorld

from arena_core.actions import AnswerStatus, Goto, Infeasible, Stop
from evaluators.evidence import AgentResponse, Ended, Evidence

CANNOT = Infeasible(reason="no such\n article")


async def test_it_ends_the_episode_with_its_reason_and_without_an_answer() -> None:
    one = episode(FakeWorld())
    score = await played(one, Goto(url=KETTLE), CANNOT)
    evidence = Evidence.model_validate_json(one.evidence().model_dump_json())
    assert (evidence.ended, evidence.answer) == (Ended.INFEASIBLE, None)
    assert evidence.ended_because == "the agent says that it cannot be done: no such article"
    assert evidence.steps[-1].action == CANNOT
    assert score.steps == 2


async def test_an_end_with_status_and_data_stands_in_the_evidence() -> None:
    one = episode(FakeWorld())
    await played(one, Stop(data=["a", "b"]))
    evidence = Evidence.model_validate_json(one.evidence().model_dump_json())
    assert (evidence.ended, evidence.answer) == (Ended.STOPPED, '["a", "b"]')
    assert evidence.response == AgentResponse(data=["a", "b"])


async def test_an_end_as_infeasible_is_one_by_either_action() -> None:
    one = episode(FakeWorld())
    await played(one, Stop(status=AnswerStatus.INFEASIBLE, reason="no such article"))
    evidence = one.evidence()
    assert (evidence.ended, evidence.answer) == (Ended.INFEASIBLE, None)
    assert evidence.ended_because == "the agent says that it cannot be done: no such article"
    assert evidence.response == AgentResponse(
        status=AnswerStatus.INFEASIBLE, reason="no such article"
    )


@pytest.mark.parametrize(
    ("match", "reason"),
    [
        ({"how": "exact", "value": "N/A"}, "N/A"),
        ({"how": "exact", "value": ""}, ""),
        ({"how": "include", "value": "discontinued"}, "it is discontinued"),
        ({"how": "number", "value": 1891}, "1891"),
        ({"how": "number", "value": 0}, ""),
    ],
)
async def test_no_reason_meets_a_check_of_the_answer(match: dict[str, Any], reason: str) -> None:
    one = episode(FakeWorld(), checks=[{**ANSWER, "match": match}])
    score = await played(one, Infeasible(reason=reason))
    assert str(score.outcome) == "failure"
    assert "no answer" in score.because


async def test_what_may_be_uploaded_is_known_by_its_names() -> None:
    file = {"name": "a.txt", "content": "YWxwaGE="}
    async with episode(FakeWorld(), files=[file]) as one:
        await one.reset()
        assert one.assignment.files == ("a.txt",)


async def test_what_was_done_before_counts_as_it_stands() -> None:
    done = await played(episode(FakeWorld(), checks=[NODE, HEADING]), Goto(url=KETTLE), CANNOT)
    assert done.completion == 1
    assert done.alignment == 1
    half = await played(episode(FakeWorld(), checks=[{**NODE, "required": True}]), CANNOT)
    assert (str(half.outcome), half.completion, half.alignment) == ("failure", 0, 0)


async def test_a_key_node_on_the_page_is_not_unknown_at_the_last_step() -> None:
    node = {**HEADING, "name": "seen", "when": "step", "required": True}
    score = await played(episode(FakeWorld(), checks=[node]), CANNOT)
    assert str(score.outcome) == "failure"
