"""Whose matter an exception is that comes out of an agent."""

from __future__ import annotations

import asyncio
import errno
import threading
from collections.abc import Callable
from typing import Any, cast

import pytest

from arena_core.actions import Stop
from arena_core.errors import (
    AgentCrashedError,
    AgentError,
    ModelError,
    TaskError,
    UnknownNameError,
    UsageError,
)
from orchestrator.agents.builtin.baselines import IdleAgent
from orchestrator.agents.interface import Agent, Decision
from orchestrator.browser.observation import Observation
from orchestrator.episode.agent_calls import decide, make_episode_agent

RIGHT = Stop(answer="1891")
SEEN = Observation(step=0, url="", title="", tabs=())


class Plugged:
    """An agent from outside, which raises or returns what it is given."""

    def __init__(self, outcome: object) -> None:
        self.outcome = outcome

    async def decide(self, _: Observation) -> Any:
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


@pytest.mark.parametrize(
    "error", [KeyError("price"), TimeoutError(), UsageError("an error of Arena's, misused")]
)
async def test_an_exception_of_an_agent_from_outside_is_its_crash_with_its_place(
    error: Exception,
) -> None:
    with pytest.raises(AgentCrashedError, match=r"at episode/test_agent_calls\.py:\d+ decide"):
        await decide(Plugged(error), SEEN)


@pytest.mark.parametrize(
    "error",
    [AgentError("no way on"), ModelError("stalls"), OSError(errno.ENOSPC, "No space left")],
    ids=["gives up", "its model", "the machine"],
)
async def test_what_an_agent_may_raise_passes(error: Exception) -> None:
    with pytest.raises(type(error)) as caught:
        await decide(Plugged(error), SEEN)
    assert caught.value is error


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "stop",
        Decision(action=cast("Any", {"kind": "stop"})),
        Decision(action=Stop(), input_tokens=cast("Any", None)),
        Decision(action=Stop(), thought=cast("Any", 7)),
    ],
    ids=["nothing", "a text", "no action", "no tokens", "no text"],
)
async def test_a_decision_that_is_none_is_a_crash_and_no_bug_of_arenas(answer: object) -> None:
    with pytest.raises(AgentCrashedError, match=r"test_agent_calls\.Plugged\.decide: "):
        await decide(Plugged(answer), SEEN)


async def test_a_right_decision_passes() -> None:
    decision = Decision(action=Stop(answer="1891"), thought="because", input_tokens=3)
    assert await decide(Plugged(decision), SEEN) == decision


async def test_an_action_alone_is_a_decision() -> None:
    assert await decide(Plugged(RIGHT), SEEN) == Decision(RIGHT)


class Waiting:
    """An agent whose `decide` is no coroutine function."""

    def __init__(self, outcome: Callable[[], object]) -> None:
        self.outcome = outcome

    def decide(self, _: Observation) -> object:
        return self.outcome()


def waiting(outcome: Callable[[], object]) -> Agent:
    return cast("Agent", Waiting(outcome))


async def test_an_agent_that_blocks_stops_nothing_but_its_own_episode() -> None:
    may_go_on = threading.Event()

    def blocked() -> object:
        return may_go_on.wait(30) and RIGHT

    deciding = asyncio.create_task(decide(waiting(blocked), SEEN))
    await asyncio.sleep(0)  # the loop is free: were it not, nobody could let the agent go on
    may_go_on.set()

    assert (await deciding).action == RIGHT


async def test_an_agent_that_never_returns_is_left_at_its_deadline() -> None:
    never = threading.Event()

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await decide(waiting(never.wait), SEEN)

    never.set()


async def test_an_agent_that_gives_back_a_coroutine_is_awaited() -> None:
    async def later() -> object:
        return RIGHT

    assert (await decide(waiting(later), SEEN)).action == RIGHT


@pytest.mark.parametrize("error", [KeyError("price"), StopIteration()])
async def test_what_a_blocking_agent_raises_is_its_crash_with_its_place(error: Exception) -> None:
    def broken() -> object:
        raise error

    with pytest.raises(AgentCrashedError, match=r"at episode/test_agent_calls\.py:\d+ broken"):
        await decide(waiting(broken), SEEN)


async def test_a_blocking_agent_may_give_up() -> None:
    def gives_up() -> object:
        message = "no way on"
        raise AgentError(message)

    with pytest.raises(AgentError, match="no way on"):
        await decide(waiting(gives_up), SEEN)


async def test_an_exception_of_arenas_own_agent_is_a_bug_and_passes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def broken(_self: IdleAgent, _seen: Observation) -> Decision:
        raise KeyError

    monkeypatch.setattr(IdleAgent, "decide", broken)
    with pytest.raises(KeyError):
        await decide(IdleAgent(), SEEN)


def made_by_factory(error: Exception) -> Agent:
    def factory(*_: object) -> Agent:
        raise error

    return make_episode_agent(cast("Any", factory), cast("Any", None), cast("Any", None))


@pytest.mark.parametrize(
    "error", [LookupError(), UnknownNameError("no site 'Wikipedia'")], ids=["any", "of Arena's"]
)
def test_a_factory_from_outside_that_raises_is_a_crash(error: Exception) -> None:
    where = rf"{type(error).__name__}.* at episode/test_agent_calls\.py"
    with pytest.raises(AgentCrashedError, match=where):
        made_by_factory(error)


@pytest.mark.parametrize("error", [AgentError("no"), ModelError("stalls"), TaskError("no way")])
def test_a_factory_may_refuse(error: Exception) -> None:
    with pytest.raises(type(error)) as caught:
        made_by_factory(error)
    assert caught.value is error
