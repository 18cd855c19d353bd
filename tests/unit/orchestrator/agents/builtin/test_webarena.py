"""WebArena's prompting agent against a scripted endpoint: prompts, actions, and where it ends."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from quick_cases import SLOW
from support.agents.scripted_model import ChatRequest, Says, Script, ScriptedModel
from support.runs.played_episode import episode, played
from support.worlds.fake_world import FakeWorld

from arena_core.actions import Click, Scroll, ScrollDirection, Stop, Type, Wait
from arena_core.errors import AgentError, UsageError
from evaluators.verdicts import OutcomeKind
from orchestrator.agents.builtin.webarena import page_text
from orchestrator.agents.choice import find_agent, make_agent, open_agent
from orchestrator.agents.interface import Agent
from orchestrator.browser.observation import AXTREE, AxTree, Node, Observation, Tab

Page = Callable[..., Observation]
StartModel = Callable[[Script], ScriptedModel]
Begin = Callable[..., Agent]
HOME = 'searchbox "Search"\nlink "Kettles"'
NOTHING = Wait(seconds=0)


@pytest.fixture
def begin(begin_as: Callable[..., Agent]) -> Begin:
    return partial(begin_as, "webarena")


def asked(request: ChatRequest) -> str:
    return request.messages[-1].content


def fenced(action: str) -> Says:
    return Says(f"I see. In summary, the next action I will perform is ```{action}```")


async def test_an_episode_goes_from_page_to_page_to_the_answer(
    scripted_model: StartModel, begin: Begin, page: Page
) -> None:
    model = scripted_model(
        [fenced("type [1] [kettle] [1]"), fenced("click [1]"), fenced("stop [19.99]")]
    )
    agent = begin(model)
    decisions = [
        await agent.decide(page(HOME)),
        await agent.decide(page('link "Red kettle"', step=1, url="http://shop.test/s?q=k")),
        await agent.decide(page('heading "Red kettle"', step=2)),
    ]
    assert [one.action for one in decisions] == [
        Type(element=1, text="kettle", submit=True, clear=False),
        Click(element=1),
        Stop(answer="19.99"),
    ]
    assert [(one.input_tokens, len(one.exchanges)) for one in decisions] == [(100, 1)] * 3
    assert decisions[1].thought is not None
    assert "I see." in decisions[1].thought
    first, second, third = map(asked, model.requests)
    assert first == (
        "OBSERVATION:\nTab 0 (current): Shop\n\n[1] searchbox 'Search' required: False\n"
        "[2] link 'Kettles'\n"
        "URL: http://shop.test/\nOBJECTIVE: Find the cheapest kettle in the shop\n"
        "PREVIOUS ACTION: None"
    )
    previous = (
        "PREVIOUS ACTION: type [1] [kettle] [1] where [1] is searchbox 'Search' required: False"
    )
    assert second.endswith(previous)
    assert "URL: http://shop.test/s?q=k" in second
    assert third.endswith("PREVIOUS ACTION: click [1] where [1] is link 'Red kettle'")
    assert "[kettle]" not in third, "only the last action is recalled"


@pytest.mark.parametrize("style", ["cot", "direct"])
@pytest.mark.parametrize("hint", [True, False])
async def test_the_prompt_is_of_the_style_with_or_without_the_hint(
    scripted_model: StartModel, begin: Begin, page: Page, style: str, *, hint: bool
) -> None:
    model = scripted_model([fenced("stop")])
    await begin(model, style=style, na_hint=hint).decide(page(HOME))
    rules, *examples, _ = model.requests[0].messages
    assert ("N/A" in rules.content) is hint
    assert "Harbour shop, http://shop.test/" in rules.content
    assert "$" not in rules.content
    assert [message.role for message in examples] == ["user", "assistant"] * 2
    replies = [message.content for message in examples[1::2]]
    phrase = "In summary, the next action I will perform is ```"
    assert [phrase in reply for reply in [rules.content, *replies]] == [style == "cot"] * 3
    assert all(reply.endswith("```") for reply in replies)
    assert [reply.startswith("```") for reply in replies] == [style == "direct"] * 2


async def test_a_reply_without_an_action_is_a_step_and_the_model_is_told(
    scripted_model: StartModel, begin: Begin, page: Page
) -> None:
    model = scripted_model([Says("I would click."), fenced("click [2]")])
    agent = begin(model)
    assert (await agent.decide(page(HOME))).action == NOTHING
    assert (await agent.decide(page(HOME, step=1))).action == Click(element=2)
    told = asked(model.requests[1])
    assert 'You wrote "I would click.", which cannot be read as an action' in told


async def test_three_replies_in_a_row_without_an_action_end_the_episode_without_an_answer(
    scripted_model: StartModel, begin: Begin, page: Page
) -> None:
    model = scripted_model(lambda _: Says("I would rather not."))
    agent = begin(model)
    for step in range(3):
        assert (await agent.decide(page(HOME, step=step))).action == NOTHING
    with pytest.raises(AgentError, match="early stop: no action in 3 replies in a row"):
        await agent.decide(page(HOME, step=3))
    assert len(model.requests) == 3


async def test_an_element_that_is_not_there_is_an_action_that_had_no_effect_not_a_parse_failure(
    scripted_model: StartModel, begin: Begin, page: Page
) -> None:
    said = [fenced(f"click [{element}]") for element in (97, 98, 99)]
    model = scripted_model([*said, fenced("click [1]")])
    agent = begin(model)
    for step in range(3):
        assert (await agent.decide(page(HOME, step=step))).action == NOTHING
    assert (await agent.decide(page(HOME, step=3))).action == Click(element=1)
    assert "there is no element 97" in asked(model.requests[1])


async def test_the_same_action_three_times_ends_the_episode(
    scripted_model: StartModel, begin: Begin, page: Page
) -> None:
    model = scripted_model(lambda _: fenced("scroll [down]"))
    agent = begin(model)
    for step in range(3):
        decision = await agent.decide(page(HOME, step=step))
        assert decision.action == Scroll(direction=ScrollDirection.DOWN)
    with pytest.raises(AgentError, match="early stop: the same action 3 times"):
        await agent.decide(page(HOME, step=3))


async def test_thresholds_are_options(scripted_model: StartModel, begin: Begin, page: Page) -> None:
    model = scripted_model(lambda _: fenced("scroll [down]"))
    agent = begin(model, repeats=5, parse_failures=1)
    for step in range(5):
        await agent.decide(page(HOME, step=step))
    with pytest.raises(AgentError, match="the same action 5 times"):
        await agent.decide(page(HOME, step=5))
    stubborn = begin(scripted_model([Says("no")]), parse_failures=1)
    await stubborn.decide(page(HOME))
    with pytest.raises(AgentError, match="no action in 1 replies"):
        await stubborn.decide(page(HOME, step=1))


async def test_cannot_be_done_is_the_answer_that_unachievable_tasks_compare(
    scripted_model: StartModel, begin: Begin, page: Page
) -> None:
    model = scripted_model([fenced("stop [N/A]")])
    assert (await begin(model).decide(page(HOME))).action == Stop(answer="N/A")


async def test_a_long_page_loses_its_end_and_can_be_shown_whole(
    scripted_model: StartModel, begin: Begin, page: Page
) -> None:
    long = "\n".join(f'link "Kettle number {number}"' for number in range(2_000))
    model = scripted_model(lambda _: fenced("stop"))
    await begin(model).decide(page(long))
    await begin(model, max_obs_length="null").decide(page(long))
    cut, whole = map(asked, model.requests)
    assert "number 1999" in whole
    assert "number 1999" not in cut
    assert 1920 * 4 < len(cut) < 1920 * 4 + 200


def test_the_viewport_is_shown_unless_the_whole_page_is_asked_for() -> None:
    given: dict[str, object] = {"model": "m", "model_url": "http://127.0.0.1:9/v1"}
    found = find_agent("webarena")
    assert open_agent(found, given).maker.observations == {"axtree@viewport"}
    assert open_agent(found, {**given, "viewport": "false"}).maker.observations == {"axtree"}


@pytest.mark.parametrize(
    ("option", "value"),
    [("style", "poetic"), ("repeats", "0"), ("parse_failures", "-1"), ("max_obs_length", "many")],
)
def test_a_value_that_an_option_does_not_take_is_refused(option: str, value: str) -> None:
    given: dict[str, Any] = {"model": "m", "model_url": "http://127.0.0.1:9/v1", option: value}
    with pytest.raises(UsageError, match=option):
        make_agent("webarena", given)


def test_a_page_is_printed_as_webarena_prints_it() -> None:
    nodes = (
        Node(id=4, depth=0, role="main", name=""),
        Node(id=5, depth=1, role="heading", name="Kettles'"),
        Node(id=6, depth=2, role="StaticText", name="Kettles'"),
        Node(id=7, depth=1, role="textbox", name="Name", value="Ada", states=("focused",)),
        Node(id=8, depth=1, role="checkbox", name="Red", states=("checked=false", "required")),
        Node(id=9, depth=1, role="button", name="More", states=("expanded=false",)),
        Node(id=10, depth=1, role="StaticText", name="Kettles'"),
    )
    tabs = (Tab(0, "Shop", "", is_current=False), Tab(1, "Wiki", "", is_current=True))
    observation = Observation(
        step=0, url="", title="", tabs=tabs, parts={f"{AXTREE}@viewport": AxTree(nodes)}
    )
    assert page_text(observation, None).splitlines() == [
        "Tab 0: Shop | Tab 1 (current): Wiki",
        "",
        "[4] main ''",
        '\t[5] heading "Kettles\'"',
        "\t[7] textbox 'Name' value: 'Ada' focused: True required: False",
        "\t[8] checkbox 'Red' checked: false required: True",
        "\t[9] button 'More' expanded: False",
        '\t[10] StaticText "Kettles\'"',
    ]


def test_what_webarena_hides_is_not_printed_and_what_is_in_it_moves_up() -> None:
    nodes = (
        Node(id=1, depth=0, role="banner", name=""),
        Node(id=2, depth=1, role="navigation", name=" "),
        Node(id=3, depth=2, role="list", name=""),
        Node(id=4, depth=3, role="listitem", name="", states=("focused",)),
        Node(id=5, depth=4, role="link", name="Kettles"),
        Node(id=6, depth=5, role="image", name=""),
        Node(id=7, depth=0, role="navigation", name="Pages"),
        Node(id=8, depth=1, role="paragraph", name=""),
        Node(id=9, depth=2, role="StaticText", name="Page 2"),
        Node(id=10, depth=1, role="list", name="", states=("focused",)),
        Node(id=11, depth=2, role="listitem", name="third"),
        Node(id=12, depth=0, role="main", name=""),
        Node(id=13, depth=1, role="table", name=""),
    )
    parts = {f"{AXTREE}@viewport": AxTree(nodes)}
    observation = Observation(step=0, url="", title="", tabs=(), parts=parts)
    assert page_text(observation, None).splitlines()[2:] == [
        "[5] link 'Kettles'",
        "[7] navigation 'Pages'",
        "\t[9] StaticText 'Page 2'",
        "\t[10] list '' focused: True",
        "\t\t[11] listitem 'third'",
        "[12] main ''",
        "\t[13] table ''",
    ]


async def test_the_examples_are_printed_as_every_page_is(
    scripted_model: StartModel, begin: Begin, page: Page
) -> None:
    model = scripted_model([fenced("stop")])
    await begin(model).decide(page(HOME))
    shown = [message.content for message in model.requests[0].messages[1:5:2]]
    for text in shown:
        lines = text.partition("\n\n")[2].partition("\nURL: ")[0].splitlines()
        found = [
            re.fullmatch(r"\t*\[(\d+)\] (\w+) '(.*?)'(?: required: False)?", one) for one in lines
        ]
        nodes = [Node(id=int(one[1]), depth=0, role=one[2], name=one[3]) for one in found if one]
        observation = Observation(
            step=0, url="", title="", tabs=(), parts={f"{AXTREE}@viewport": AxTree(tuple(nodes))}
        )
        assert page_text(observation, None).splitlines()[2:] == lines


@SLOW
async def test_an_unachievable_task_is_passed_by_saying_so_in_its_own_form_and_not_otherwise(
    scripted_model: StartModel, begin: Begin, page: Page
) -> None:
    check = {
        "name": "not-available",
        "when": "end",
        "locate": {"by": "answer"},
        "match": {"how": "include", "value": "N/A"},
    }
    for said, passes in (("stop [N/A]", True), ("stop []", False), ("stop [no such thing]", False)):
        decision = await begin(scripted_model([fenced(said)])).decide(page(HOME))
        score = await played(episode(FakeWorld(), checks=[check]), decision.action)
        assert (score.outcome.kind is OutcomeKind.SUCCESS) is passes, said
