"""What a client makes of a run's replies in place of its model's: the reply, or an error."""

from __future__ import annotations

import json

import pytest

from arena_core.errors import ModelError, ReplayMissError
from orchestrator.agents.model.client import ModelClient
from orchestrator.agents.model.messages import ChatRole, Message, Question
from orchestrator.agents.model.options import ModelOptions
from orchestrator.agents.model_exchange import ExchangeCollector, ModelExchange, collecting
from orchestrator.episode.jsonl_files import KeptExchange
from orchestrator.runs.store.recording import Recording

EPISODE = "offline-kettle-r0"
OPTIONS = ModelOptions(name="m", url="http://127.0.0.1:9/v1", is_replay=True)


def completion(text: str) -> str:
    return json.dumps({"choices": [{"message": {"content": text}}]})


def asked(text: str) -> list[Message]:
    return [Message(ChatRole.USER, text)]


def kept(text: str, reply: str | None, error: str | None = None) -> KeptExchange:
    question = Question.of(OPTIONS, asked(text), (), 0)
    exchange = ModelExchange(request=question.body, reply=reply, error=error)
    return KeptExchange(step=1, number=0, sha256=question.sha256, exchange=exchange)


async def replayed(text: str, *lines: KeptExchange) -> str:
    collector = ExchangeCollector(episode=EPISODE, answers=Recording("run", {EPISODE: lines}))
    client = ModelClient(OPTIONS)
    try:
        with collecting(collector):
            return (await client.ask(asked(text), seed=0)).text
    finally:
        await client.close()


async def test_a_question_is_answered_by_its_own_reply_in_whatever_order_they_lie() -> None:
    lines = kept("second", completion("2")), kept("first", completion("1"))
    assert await replayed("first", *lines) == "1"
    assert await replayed("second", *lines) == "2"


async def test_the_reply_to_another_question_is_none() -> None:
    with pytest.raises(ReplayMissError, match="'second' in the run, 'first' now"):
        await replayed("first", kept("second", completion("2")))


@pytest.mark.parametrize(
    "line",
    [
        kept("first", "no JSON"),
        kept("first", "[" * 100_000),
        kept("first", '{"choices": []}'),
        kept("first", '{"choices": 5}'),
        kept("first", ""),
        kept("first", None),
        kept("first", None, "it is gone"),
    ],
)
async def test_a_reply_that_is_none_ends_the_attempt_alone(line: KeptExchange) -> None:
    """An error that is not for good breaks an attempt off; one for good would end the run."""
    with pytest.raises(ModelError) as caught:
        await replayed("first", line)
    assert not caught.value.is_permanent
