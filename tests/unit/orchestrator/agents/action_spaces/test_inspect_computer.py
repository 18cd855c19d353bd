from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.worlds.seen_pages import seen

from arena_core.actions import Action, Back, Forward, Goto, MouseClick, Press, Wait, Write
from orchestrator.agents.action_spaces.inspect_computer import read_computer
from orchestrator.agents.action_spaces.parser import Misread
from orchestrator.browser.observation import SCREENSHOT

PAGE = seen(SCREENSHOT)


@pytest.mark.parametrize(
    ("said", "actions"),
    [
        (
            {"action": "left_click", "coordinate": [5, 6], "text": None},
            (MouseClick(x=5, y=6),),
        ),
        (
            {"action": "type", "text": "tea", "coordinate": [5, 6], "press_enter": True},
            (MouseClick(x=5, y=6), Write(text="tea"), Press(keys="Enter")),
        ),
        ({"action": "type", "text": "tea", "press_enter": False}, (Write(text="tea"),)),
        ({"action": "key", "text": "Tab", "repeat": 3}, (Press(keys="Tab"),) * 3),
        ({"action": "navigate", "text": "http://a.test/"}, (Goto(url="http://a.test/"),)),
        ({"action": "back_click", "coordinate": [5, 6]}, (Back(),)),
        ({"action": "forward_click"}, (Forward(),)),
        ({"action": "open_web_browser"}, (Wait(seconds=0),)),
    ],
)
def test_a_call_is_read(said: dict[str, Any], actions: tuple[Action, ...]) -> None:
    assert read_computer(said, PAGE) == actions


@pytest.mark.parametrize(
    "said",
    [
        {"action": "key", "text": "Tab", "repeat": 101},
        {"action": "key", "text": "Tab", "repeat": "3"},
        {"action": "left_click", "coordinate": [100_000, 6]},
        {"action": "navigate"},
        {"action": "zoom", "region": [0, 0, 5, 5]},
        {"action": "explode"},
        {},
        "left_click",
    ],
)
def test_what_cannot_be_read_says_why(said: object) -> None:
    assert isinstance(read_computer(said, PAGE), Misread)


WORDS = st.sampled_from(["key", "type", "navigate", "left_click", "scroll"]) | st.text()
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner) | st.dictionaries(WORDS, inner),
    max_leaves=5,
)
NAMES = st.sampled_from(["action", "text", "coordinate", "repeat", "press_enter", "region"])


@given(ANYTHING | st.dictionaries(NAMES, ANYTHING))
def test_nothing_that_is_said_makes_it_raise(said: object) -> None:
    read = read_computer(said, PAGE)
    assert isinstance(read, Misread | tuple)
