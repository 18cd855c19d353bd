"""AutoWebGLM's agent against a scripted endpoint: prompt, commands, and where it ends."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from quick_cases import SLOW
from support.agents.scripted_model import ChatRequest, Says, Script, ScriptedModel

from arena_core.actions import Click, Scroll, ScrollDirection, Stop, Type, Wait
from arena_core.errors import AgentError, UsageError
from orchestrator.agents.choice import find_agent, open_agent
from orchestrator.agents.interface import Agent
from orchestrator.browser.observation import Observation, PrunedHtml, Tab

StartModel = Callable[[Script], ScriptedModel]
Begin = Callable[..., Agent]
NOTHING = Wait(seconds=0)
SEGMENTS = {"A": "<input[A]| Search\n >", "B": "<a[B]| Kettles >"}


@pytest.fixture
def begin(begin_as: Callable[..., Agent]) -> Begin:
    return partial(begin_as, "autowebglm")


def shop(step: int = 0, text: str = "<input[A]| Search > <a[B]| Kettles >") -> Observation:
    page = PrunedHtml(text, {"A": 11, "B": 12}, SEGMENTS, (0.0, 5.8))
    tabs = (Tab(2, "Wiki", "", is_current=False), Tab(4, "Shop", "", is_current=True))
    return Observation(
        step=step, url="", title="Shop", tabs=tabs, parts={"pruned_html@viewport": page}
    )


def asked(request: ChatRequest) -> str:
    assert [message.role for message in request.messages] == ["user"]
    return request.messages[0].content


@SLOW
async def test_an_episode_goes_on_with_previous_commands_and_their_html(
    scripted_model: StartModel, begin: Begin
) -> None:
    model = scripted_model(
        [
            Says('type_string(A, "red kettle", True)  # search first'),
            Says("scroll_page('down')"),
            Says("click(B)"),
            Says('finish("19.99")'),
        ]
    )
    agent = begin(model)
    actions = [(await agent.decide(shop(step))).action for step in range(4)]
    assert actions == [
        Type(element=11, text="red kettle", submit=True),
        Scroll(direction=ScrollDirection.DOWN),
        Click(element=12),
        Stop(answer="19.99"),
    ]
    first, *_, last = map(asked, model.requests)
    assert "#Previous commands:\nNone\n" in first
    assert (
        "#Previous commands:\n"
        "type_string(A, 'red kettle', True) #HTML Segment: <input[A]| Search >\n"
        "scroll_page('down')\n"
        "click(B) #HTML Segment: <a[B]| Kettles >\n"
    ) in last


async def test_the_prompts_parts_stand_in_the_papers_order(
    scripted_model: StartModel, begin: Begin
) -> None:
    model = scripted_model([Says("finish()")])
    await begin(model).decide(shop(text="<a[B]| costs $task >"))
    told = asked(model.requests[0])
    parts = [
        "<html> <a[B]| costs $task > </html>",
        "#Provided functions:",
        "def click(id):",
        "def finish(answer=None):",
        "#Previous commands:\nNone",
        "#Window tabs:\n1. Wiki\n2. Shop <-- current tab",
        "#Current viewport (pages): 0 / 5.8",
        "#Task: Find the cheapest kettle in the shop",
    ]
    places = [told.find(part) for part in parts]
    assert -1 not in places
    assert places == sorted(places)
    assert told.count("\ndef ") == 10


async def test_chatglm3_is_asked_as_it_was_trained(
    scripted_model: StartModel, begin: Begin
) -> None:
    model = scripted_model([Says("finish()")])
    await begin(model, layout="chatglm3").decide(shop())
    told = model.requests[0].messages[0].content
    assert told.startswith("Q: <html>")
    assert told.endswith("\n\nA: ")


async def test_a_reply_that_is_no_command_is_a_step_and_three_end_the_episode(
    scripted_model: StartModel, begin: Begin
) -> None:
    model = scripted_model(lambda _: Says("I would click(B)."))
    agent = begin(model)
    for step in range(3):
        assert (await agent.decide(shop(step))).action == NOTHING
    assert "I would click(B). #Not done: " in asked(model.requests[1])
    with pytest.raises(AgentError, match="early stop: no action in 3 replies in a row"):
        await agent.decide(shop(3))


async def test_the_same_command_three_times_ends_the_episode(
    scripted_model: StartModel, begin: Begin
) -> None:
    agent = begin(scripted_model(lambda _: Says("click(B)")))
    for step in range(3):
        assert (await agent.decide(shop(step))).action == Click(element=12)
    with pytest.raises(AgentError, match="early stop: the same action 3 times"):
        await agent.decide(shop(3))


def test_what_the_viewport_shows_is_labelled_unless_all_is_asked_for() -> None:
    given: dict[str, object] = {"model": "m", "model_url": "http://127.0.0.1:9/v1"}
    found = find_agent("autowebglm")
    assert open_agent(found, given).maker.observations == {"pruned_html@viewport"}
    assert open_agent(found, {**given, "viewport": False}).maker.observations == {"pruned_html"}
    as_xml = {**given, "style": "xml"}
    assert open_agent(found, as_xml).maker.observations == {"pruned_html_xml@viewport"}
    with pytest.raises(UsageError, match="layout"):
        open_agent(found, {**given, "layout": "essay"})
