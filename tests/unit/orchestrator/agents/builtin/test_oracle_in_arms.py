"""The oracle gets past what an arm puts in its way, in that arm alone and as the arm says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest
from pydantic import TypeAdapter

from arena_core.actions import Action, Back, Click, Stop
from arena_core.errors import AgentError
from arena_core.worlds import World
from orchestrator.agents.builtin.oracle import OracleAgent
from orchestrator.agents.interface import Reference
from orchestrator.browser.observation import Observation
from orchestrator.gateway.variations import variations_of
from tasks.reference import ReferenceAction

Page = Callable[..., Observation]

_ACTIONS: Final[TypeAdapter[tuple[ReferenceAction, ...]]] = TypeAdapter(tuple[ReferenceAction, ...])
ACCOUNT: Final[dict[str, object]] = {"do": "click", "role": "link", "name": "Account"}
NARROW: Final = """
navigation ""
  button "Toggle navigation" {first}
  button "Sort by" expanded=false
  button "Main menu" {second}
"""
WALL: Final = """
dialog "Before you continue"
  heading "Before you continue"
  button "Accept all"
  button "Reject all"
"""
CLOSED, OPEN = "expanded=false", "expanded=true"


def oracle(*actions: dict[str, object], vary: tuple[str, ...] = ()) -> OracleAgent:
    reference = Reference(
        _ACTIONS.validate_python([*actions, {"do": "stop"}]), str, vary=variations_of(vary)
    )
    return OracleAgent(reference, World.OFFLINE)


async def done(agent: OracleAgent, *pages: Observation) -> list[Action]:
    return [(await agent.decide(one)).action for one in pages]


async def test_closed_menus_of_a_narrow_page_are_opened_where_the_element_is_missing(
    page: Page,
) -> None:
    agent = oracle(ACCOUNT, vary=("look=mobile",))
    found = page(NARROW.format(first=OPEN, second=OPEN) + 'link "Account"\n')
    assert await done(
        agent,
        page(NARROW.format(first=CLOSED, second=CLOSED)),
        page(NARROW.format(first=OPEN, second=CLOSED)),
        found,
        found,
    ) == [Click(element=2), Click(element=4), Click(element=5), Stop()]


async def test_no_menu_is_opened_where_the_element_is_there(page: Page) -> None:
    agent = oracle(ACCOUNT, vary=("look=mobile",))
    shown = page(NARROW.format(first=CLOSED, second=CLOSED) + 'link "Account"\n')
    assert await done(agent, shown) == [Click(element=5)]


@pytest.mark.parametrize("vary", [(), ("look=dark", "network=slow")])
async def test_in_other_arms_and_the_clean_one_nothing_is_done_besides(
    page: Page, vary: tuple[str, ...]
) -> None:
    with pytest.raises(AgentError, match="finds no such element"):
        await oracle(ACCOUNT, vary=vary).decide(page(NARROW.format(first=CLOSED, second=CLOSED)))


async def test_what_all_menus_lack_is_missing(page: Page) -> None:
    agent = oracle(ACCOUNT, vary=("look=mobile",))
    with pytest.raises(AgentError, match="finds no such element"):
        await agent.decide(page(NARROW.format(first=OPEN, second=OPEN)))


async def test_a_menu_that_never_opens_ends_the_play(page: Page) -> None:
    agent = oracle(ACCOUNT, vary=("look=mobile",))
    stuck = page(NARROW.format(first=CLOSED, second=CLOSED))
    with pytest.raises(AgentError, match="leads nowhere: 10 in a row"):
        await done(agent, *[stuck] * 11)


async def test_a_detour_that_fails_is_named(page: Page) -> None:
    agent = oracle(ACCOUNT, vary=("look=mobile",))
    await agent.decide(page(NARROW.format(first=CLOSED, second=CLOSED)))
    with pytest.raises(AgentError) as caught:
        await agent.decide(page(NARROW.format(first=CLOSED, second=CLOSED), last_error="no"))
    said = "the arm's detour (click button 'Toggle navigation') could not be done: no"
    assert caught.value.message == said


async def test_a_wall_is_dismissed_before_the_next_action_whatever_that_is(page: Page) -> None:
    back: dict[str, object] = {"do": "back"}
    for action in (ACCOUNT, back):
        agent = oracle(action, vary=("page=wall@2",))
        behind = page(WALL + 'link "Account"\n')
        first, second = await done(agent, behind, page('link "Account"'))
        assert first == Click(element=3)
        assert second in {Click(element=1), Back()}
    assert await done(oracle(vary=("page=wall",)), page(WALL), page("")) == [
        Click(element=3),
        Stop(),
    ]


async def test_a_sites_own_button_of_that_name_is_left_alone(page: Page) -> None:
    agent = oracle(ACCOUNT, vary=("page=wall",))
    shown = page('dialog "Cookies"\n  button "Accept all"\nlink "Account"\n')
    assert await done(agent, shown) == [Click(element=3)]


async def test_a_refused_page_is_asked_for_again_before_anything_else(page: Page) -> None:
    refused = page('heading "Service unavailable"\nparagraph ""\n  link "Try again"\n')
    agent = oracle(ACCOUNT, vary=("network=flaky",))
    shown = page('link "Account"')
    assert await done(agent, refused, refused, shown, refused, shown) == [
        Click(element=3),
        Click(element=3),
        Click(element=1),
        Click(element=3),  # the end too: a check of the address must not be left on a refusal
        Stop(),
    ]
    with pytest.raises(AgentError, match="finds no such element"):
        await oracle(ACCOUNT).decide(refused)


LABELS: Final = {"Account": "Konto", "Menu": "Auswahl", "Add": "Hinzufügen"}


def translated(
    *actions: dict[str, object], labels: dict[str, str] = LABELS, more: tuple[str, ...] = ()
) -> OracleAgent:
    reference = Reference(
        _ACTIONS.validate_python([*actions, {"do": "stop"}]),
        str,
        vary=variations_of(("labels=mine", *more)),
        labels=labels,
    )
    return OracleAgent(reference, World.OFFLINE)


async def test_an_element_is_known_by_the_name_that_the_arm_gave_it(page: Page) -> None:
    assert await done(translated(ACCOUNT), page('link "Konto"')) == [Click(element=1)]
    with pytest.raises(AgentError, match="finds no such element"):
        await oracle(ACCOUNT).decide(page('link "Konto"'))


async def test_the_renamed_one_comes_before_one_that_the_site_itself_calls_so(page: Page) -> None:
    shown = page('link "Account"\nlink "Konto"\n')
    assert await done(translated(ACCOUNT), shown) == [Click(element=2)]
    assert await done(translated(ACCOUNT), page('link "Account"')) == [Click(element=1)]


async def test_names_of_several_labels_and_of_what_is_around_are_followed_too(page: Page) -> None:
    inside: dict[str, object] = {**ACCOUNT, "name": "Add 3", "within": "Menu"}
    shown = page('link "Hinzufügen 3"\nnavigation "Auswahl"\n  link "Hinzufügen 3"\n')
    assert await done(translated(inside), shown) == [Click(element=3)]


async def test_a_menu_of_another_name_is_opened_where_the_element_is_missing(page: Page) -> None:
    shut = page(f'button "Auswahl" {CLOSED}\nbutton "Menu" {OPEN}\n')
    assert await done(translated(ACCOUNT, more=("look=mobile",)), shut) == [Click(element=1)]
    with pytest.raises(AgentError, match="finds no such element"):
        await done(translated(ACCOUNT), shut)


async def test_what_the_table_does_not_name_is_missing_as_ever(page: Page) -> None:
    with pytest.raises(AgentError, match="finds no such element"):
        await translated(ACCOUNT, labels={"Menu": "Auswahl"}).decide(page('link "Konto"'))
