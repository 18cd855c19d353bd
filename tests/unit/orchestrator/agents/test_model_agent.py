"""Questions to a model: what is counted, what is asked again, and whose matter a fault is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Final

import pytest
from support.agents.scripted_model import (
    ChatRequest,
    Fails,
    Says,
    Script,
    ScriptedModel,
    ScriptedReply,
)

from arena_core.actions import Stop
from arena_core.errors import AgentError, ModelError
from orchestrator.agents.model.client import ModelClient
from orchestrator.agents.model.messages import ChatRole, Message
from orchestrator.agents.model.options import ModelOptions
from orchestrator.agents.model_agent import ModelReply, ModelSession

StartModel = Callable[[Script], ScriptedModel]
QUESTION: Final = (Message(ChatRole.USER, "What now?"),)
LEAST: Final = (Message(ChatRole.USER, "least"),)
TOO_LONG: Final = Fails(400, "maximum context length is 9 tokens")


@pytest.fixture
async def ask(scripted_model: StartModel) -> AsyncIterator[Callable[[Script], ModelSession]]:
    clients: list[ModelClient] = []

    def begin(script: Script) -> ModelSession:
        options = ModelOptions.of("scripted", scripted_model(script).url, {})
        clients.append(ModelClient(options))
        return ModelSession(clients[-1], seed=7, least=LEAST)

    yield begin
    for client in clients:
        await client.close()


Begin = Callable[[Script], ModelSession]


async def test_a_decision_has_all_that_was_asked_since_the_last(ask: Begin) -> None:
    session = ask([Says("one"), Says(""), Says("<think>hm</think> two"), Says("three")])
    assert await session.ask(QUESTION) == ModelReply("one")
    assert await session.ask(QUESTION) == ModelReply("two")
    decision = session.decision(Stop(), "done")
    assert (decision.input_tokens, decision.output_tokens) == (300, 30)
    assert len(decision.exchanges) == 3
    await session.ask(QUESTION)
    assert session.decision(Stop()).input_tokens == 100


async def test_a_model_that_says_nothing_three_times_is_unavailable(ask: Begin) -> None:
    with pytest.raises(ModelError, match="3 repl"):
        await ask([Says(""), Says("<think>hm</think>"), Says(" ")]).ask(QUESTION)


async def test_a_reply_that_was_cut_before_anything_was_said_is_the_agents(ask: Begin) -> None:
    said = await ask([Says("<think>well", finish_reason="length")]).ask(QUESTION)
    assert said == ModelReply("", is_cut=True)


async def test_a_prompt_that_is_too_long_is_the_agents_where_a_shorter_one_fits(ask: Begin) -> None:
    def short_only(request: ChatRequest) -> ScriptedReply:
        return Says("yes") if request.prompt == "least" else TOO_LONG

    with pytest.raises(AgentError, match="context window"):
        await ask(short_only).ask(QUESTION)


async def test_a_model_that_nothing_fits_ends_the_run(ask: Begin) -> None:
    with pytest.raises(ModelError) as caught:
        await ask(lambda _: TOO_LONG).ask(QUESTION)
    assert caught.value.is_permanent
