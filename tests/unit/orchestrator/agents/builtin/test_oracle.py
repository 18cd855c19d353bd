from __future__ import annotations

from collections.abc import Callable

import pytest
from pydantic import TypeAdapter

from arena_core.actions import (
    Action,
    AnswerStatus,
    Back,
    Click,
    CloseTab,
    FocusTab,
    Forward,
    Goto,
    Hover,
    NewTab,
    Press,
    Scroll,
    ScrollDirection,
    Select,
    Stop,
    Type,
)
from arena_core.errors import AgentError
from arena_core.worlds import World
from orchestrator.agents.builtin.oracle import OracleAgent
from orchestrator.agents.interface import Reference
from orchestrator.browser.observation import Observation
from tasks.reference import ReferenceAction

Page = Callable[..., Observation]

SHOP = """
banner "Harbour"
  searchbox "Search"
  button "Search"
main "Kettles"
  combobox "Sort by"
    option "Name"
  list "Kettles"
    listitem "Red kettle"
      link "Red   kettle"
      button "Add to basket"
    listitem "Blue kettle"
      link "Blue kettle"
      button "Add to basket"
  button "NEXT PAGE"
"""
IDS = {"search": 2, "sort": 5, "red": 9, "add red": 10, "blue": 12, "add blue": 13, "next": 14}

_ACTIONS: TypeAdapter[tuple[ReferenceAction, ...]] = TypeAdapter(tuple[ReferenceAction, ...])


def oracle(*actions: dict[str, object], world: World = World.OFFLINE) -> OracleAgent:
    reference = Reference(
        _ACTIONS.validate_python(actions), lambda logical: f"http://{world}.test/{logical}"
    )
    return OracleAgent(reference, world)


async def failure(agent: OracleAgent, observation: Observation) -> str:
    with pytest.raises(AgentError) as caught:
        await agent.decide(observation)
    return caught.value.message


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ({"do": "click", "role": "link", "name": "Blue kettle"}, Click(element=IDS["blue"])),
        ({"do": "hover", "role": "link", "name": "Blue kettle"}, Hover(element=IDS["blue"])),
        (
            {"do": "type", "role": "searchbox", "name": "Search", "text": "tea", "submit": True},
            Type(element=IDS["search"], text="tea", submit=True),
        ),
        (
            {"do": "type", "role": "searchbox", "name": "Search", "text": "tea"},
            Type(element=IDS["search"], text="tea"),
        ),
        (
            {"do": "select", "name": "Sort by", "option": "Name"},
            Select(element=IDS["sort"], option="Name"),
        ),
        ({"do": "press", "keys": "Control+A"}, Press(keys="Control+A")),
        ({"do": "scroll", "direction": "down"}, Scroll(direction=ScrollDirection.DOWN)),
        ({"do": "scroll", "direction": "up"}, Scroll(direction=ScrollDirection.UP)),
        ({"do": "goto", "page": "shop:/basket"}, Goto(url="http://offline.test/shop:/basket")),
        ({"do": "back"}, Back()),
        ({"do": "forward"}, Forward()),
        ({"do": "new_tab"}, NewTab()),
        ({"do": "close_tab"}, CloseTab()),
        ({"do": "focus_tab", "index": 1}, FocusTab(index=1)),
        ({"do": "stop", "answer": "19.99"}, Stop(answer="19.99")),
        ({"do": "stop"}, Stop()),
        ({"do": "stop", "data": ["19.99"]}, Stop(data=["19.99"])),
        (
            {"do": "stop", "status": "not_found", "reason": "it is not sold"},
            Stop(status=AnswerStatus.NOT_FOUND, reason="it is not sold"),
        ),
    ],
)
async def test_each_kind_of_reference_action_is_played(
    page: Page, reference: dict[str, object], expected: Action
) -> None:
    assert (await oracle(reference).decide(page(SHOP))).action == expected


@pytest.mark.parametrize(
    ("target", "element"),
    [
        ({"role": "link", "name": "Red kettle"}, "red"),
        ({"role": "link", "name": " Red\nkettle "}, "red"),
        ({"role": "button", "name": "Add to basket"}, "add red"),
        ({"role": "button", "name": "Add to basket", "nth": 1}, "add blue"),
        ({"role": "button", "name": "Add to basket", "within": "Blue kettle"}, "add blue"),
        ({"role": "button", "name": "Add to basket", "within": "Kettles", "nth": 1}, "add blue"),
        ({"role": "button", "name": "Next page"}, "next"),
    ],
)
async def test_elements_are_found_by_role_name_and_place(
    page: Page, target: dict[str, object], element: str
) -> None:
    decision = await oracle({"do": "click", **target}).decide(page(SHOP))
    assert decision.action == Click(element=IDS[element])


async def test_an_exact_name_comes_before_one_in_other_case(page: Page) -> None:
    agent = oracle({"do": "click", "role": "link", "name": "Tea"})
    assert (await agent.decide(page('link "TEA"\nlink "Tea"'))).action == Click(element=2)


async def test_an_element_inside_two_of_that_name_counts_once(page: Page) -> None:
    outline = 'main "Kettles"\n  list "Kettles"\n    link "a"\n    link "a"\nlink "a"'
    action: dict[str, object] = {"do": "click", "role": "link", "name": "a", "within": "Kettles"}
    assert (await oracle({**action, "nth": 1}).decide(page(outline))).action == Click(element=4)
    assert "only 2 of them" in await failure(oracle({**action, "nth": 2}), page(outline))


@pytest.mark.parametrize(
    ("world", "expected"),
    [
        (World.OFFLINE, [Click(element=1), Stop(answer="1")]),
        (
            World.ONLINE,
            [Goto(url="http://online.test/shop:/b"), Click(element=2), Stop(answer="2")],
        ),
    ],
)
async def test_each_world_has_its_own_actions_and_values(
    page: Page, world: World, expected: list[Action]
) -> None:
    agent = oracle(
        {"do": "goto", "page": {"offline": "shop:/a", "online": "shop:/b"}, "only": "online"},
        {"do": "click", "role": "link", "name": {"offline": "here", "online": "there"}},
        {"do": "stop", "answer": {"offline": "1", "online": "2"}},
        world=world,
    )
    observation = page('link "here"\nlink "there"')
    assert [(await agent.decide(observation)).action for _ in expected] == expected


async def test_a_reference_without_a_stop_ends_in_one(page: Page) -> None:
    agent = oracle({"do": "back"})
    assert [(await agent.decide(page(""))).action for _ in range(3)] == [Back(), Stop(), Stop()]


async def test_a_missing_element_is_named_with_the_nearest_of_its_role(page: Page) -> None:
    agent = oracle({"do": "back"}, {"do": "click", "role": "link", "name": "Red kettles"})
    await agent.decide(page(SHOP))
    message = await failure(agent, page(SHOP))
    assert message.startswith("reference action 2 (click link 'Red kettles') finds no such element")
    assert "on http://shop.test/" in message
    assert message.endswith("the nearest there: link 'Red kettle', 'Blue kettle'")


async def test_actions_are_numbered_as_in_the_file(page: Page) -> None:
    agent = oracle(
        {"do": "back", "only": "online"}, {"do": "click", "role": "link", "name": "none"}
    )
    assert (await failure(agent, page(SHOP))).startswith("reference action 2 (")


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ({"role": "slider", "name": "Price"}, "there is no slider with a name"),
        (
            {"role": "link", "name": "Add to basket"},
            "of that name but another role: button",
        ),
        (
            {"role": "button", "name": "Add to basket", "within": "Basket"},
            "nothing is inside an element called 'Basket'",
        ),
        ({"role": "link", "name": "Red kettle", "within": "Blue kettle"}, "one is outside"),
        ({"role": "button", "name": "Add to basket", "nth": 2}, "only 2 of them, and nth is 2"),
    ],
)
async def test_the_reason_says_what_the_page_has_instead(
    page: Page, target: dict[str, object], reason: str
) -> None:
    assert reason in await failure(oracle({"do": "click", **target}), page(SHOP))


async def test_a_failed_action_ends_the_play_and_is_named(page: Page) -> None:
    agent = oracle({"do": "click", "role": "link", "name": "Blue kettle"}, {"do": "stop"})
    await agent.decide(page(SHOP))
    message = await failure(agent, page(SHOP, last_error="a banner covers it"))
    assert message == (
        "reference action 1 (click link 'Blue kettle') could not be done: a banner covers it"
    )
