"""What an episode does with a question to the user: it is a step, answered and written down."""

from __future__ import annotations

from typing import Any

from support.runs.played_episode import ANSWER, RIGHT, episode
from support.worlds.fake_world import FakeWorld

from arena_core.actions import AnswerStatus, AskUser, Goto, Stop
from evaluators.user import MOST_QUESTIONS
from orchestrator.episode.record import seen_line

QUESTION = AskUser(question="Which kettle do you mean?")
USER: dict[str, Any] = {
    "which": {
        "type": "text",
        "says": ["which"],
        "value": "the copper one",
        "asks": ["Which?", "Which one?"],
    },
    "size": {"type": "number", "says": ["size"], "value": 3, "asks": ["Size?", "Its size?"]},
}
ASKED = {
    "name": "asked",
    "when": "end",
    "locate": {"by": "user", "slot": "which"},
    "match": {"how": "exact", "value": "first"},
}


async def test_the_answer_is_seen_next_and_stands_in_the_evidence() -> None:
    world = FakeWorld()
    async with episode(world, user=USER, checks=[ANSWER, ASKED]) as one:
        await one.reset()
        assert one.assignment.can_ask
        seen = (await one.step(QUESTION)).observation
        assert (seen.reply, seen.last_error) == ("It is the copper one.", None)
        assert seen_line(seen)["reply"] == seen.reply
        assert (await one.step(Goto(url="http://wiki.arena.test/"))).observation.reply is None
        await one.step(RIGHT)
        assert str((await one.score()).outcome) == "success"
        [reply] = [step.reply for step in one.evidence().steps if step.reply]
    assert (reply.slot, reply.text) == ("which", "It is the copper one.")


async def test_a_right_answer_fails_where_nobody_was_asked() -> None:
    async with episode(FakeWorld(), user=USER, checks=[ANSWER, ASKED]) as one:
        await one.reset()
        await one.step(RIGHT)
        assert str((await one.score()).outcome) == "failure"


async def test_the_sixth_question_is_not_answered() -> None:
    async with episode(FakeWorld(), user=USER) as one:
        await one.reset()
        replies = [(await one.step(QUESTION)).observation.reply for _ in range(MOST_QUESTIONS + 1)]
    assert set(replies[:-1]) == {"It is the copper one."}
    assert replies[-1] == "I answer no more questions."


async def test_without_a_user_nobody_is_there_and_it_costs_no_score() -> None:
    async with episode(FakeWorld()) as one:
        await one.reset()
        assert not one.assignment.can_ask
        assert (await one.step(QUESTION)).observation.reply == "Nobody is there to answer."
        await one.step(RIGHT)
        scored = await one.score()
    assert (str(scored.outcome), scored.questions) == ("success", 1)


async def test_an_agent_that_needs_input_gave_no_answer() -> None:
    async with episode(FakeWorld(), user=USER) as one:
        await one.reset()
        stop = Stop(status=AnswerStatus.NEEDS_INPUT, answer="1891", reason="who knows which")
        await one.step(stop)
        assert str((await one.score()).outcome) == "failure"
