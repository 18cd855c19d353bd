"""Agents that begin in the middle of an episode, and are told what was done before."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import pytest
from quick_cases import SLOW
from support.agents.scripted_model import Calls, ChatRequest, Says, Script, ScriptedModel
from support.worlds.seen_pages import seen

from arena_core.actions import Scroll, ScrollDirection
from orchestrator.agents.choice import make_agent
from orchestrator.agents.interface import (
    Agent,
    AgentMaker,
    Assignment,
    PastTurn,
    Recalls,
    Reference,
)
from orchestrator.browser.observation import AXTREE, SOM, AxTree, Observation, PrunedHtml

StartModel = Callable[[Script], ScriptedModel]
NewAgent = Callable[[str, ScriptedModel], Agent]
SAYS = {
    "chat": Says('{"thought": "look", "action": {"kind": "click", "element": 11}}'),
    "webarena": Says("In summary, the next action I will perform is ```click [11]```"),
    "autowebglm": Says("click(A)"),
}


@pytest.fixture
async def new_agent(assignment: Assignment) -> AsyncIterator[NewAgent]:
    made: list[AgentMaker] = []

    def make(name: str, model: ScriptedModel) -> Agent:
        made.append(make_agent(name, {"model": "scripted", "model_url": model.url}))
        return made[-1](assignment, Reference((), str))

    yield make
    for one in made:
        await one.close()


def page(name: str, step: int) -> Observation:
    match name:
        case "autowebglm":
            shown = PrunedHtml("<a[A]| Kettles >", {"A": 11}, {"A": "<a[A]| Kettles >"}, (0, 1))
            parts: dict[str, object] = {"pruned_html@viewport": shown}
            return Observation(step=step, url="", title="", tabs=(), parts=parts)
        case "webarena":
            found = seen(AXTREE, step=step)
            parts = {"axtree@viewport": found.parts[AXTREE]}
            return Observation(step=step, url="", title="", tabs=(), parts=parts)
        case "vision":
            return seen(SOM, step=step)
        case _:
            return seen(AXTREE, step=step)


def told(request: ChatRequest) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in request.messages]


def recalling(agent: Agent, *past: PastTurn) -> Agent:
    assert isinstance(agent, Recalls)
    agent.recall(past)
    return agent


@SLOW
@pytest.mark.parametrize("name", SAYS)
async def test_an_agent_is_asked_as_if_it_had_done_it_itself(
    name: str, scripted_model: StartModel, new_agent: NewAgent
) -> None:
    model = scripted_model([SAYS[name]] * 3)
    whole = new_agent(name, model)
    done = await whole.decide(page(name, 0))
    await whole.decide(page(name, 1))
    past = PastTurn(page(name, 0), done.action, done.thought, None)
    await recalling(new_agent(name, model), past).decide(page(name, 1))
    first, own, recalled = map(told, model.requests)
    assert recalled == own != first


@pytest.mark.parametrize("name", ["tools", "vision"])
async def test_a_conversation_begins_with_what_was_done_in_words(
    name: str, scripted_model: StartModel, new_agent: NewAgent
) -> None:
    model = scripted_model([Calls.one("click", element=11)] * 2)
    scroll = Scroll(direction=ScrollDirection.DOWN)
    turns = (
        PastTurn(page(name, 0), scroll, "look below", None),
        PastTurn(page(name, 1), scroll, None, "the page is at its end"),
    )
    agent = recalling(new_agent(name, model), *turns)
    await agent.decide(page(name, 2))
    await agent.decide(page(name, 3))
    first, second = map(told, model.requests)
    assert [role for role, _ in first] == ["system", "user"]
    done = first[1][1]
    assert "Done so far:\n- step 1: look below → " in done
    assert "FAILED: the page is at its end" in done
    assert "Step 3 of" in done
    assert str(second).count("Done so far") == 1


async def test_a_long_page_is_shown_as_far_down_as_it_was_scrolled(
    scripted_model: StartModel, new_agent: NewAgent
) -> None:
    model = scripted_model([Calls.one("back")])
    long = AxTree((), "\n".join(f"line {number} {'x' * 90}" for number in range(1_000)))
    shown = Observation(step=0, url="u", title="", tabs=(), parts={AXTREE: long})
    scroll = PastTurn(shown, Scroll(direction=ScrollDirection.DOWN), None, None)
    agent = recalling(new_agent("tools", model), scroll)
    await agent.decide(shown)
    assert "this is part 2 of" in told(model.requests[0])[1][1]
