"""Calls of Playwright MCP's tools are read into Arena's actions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic.alias_generators import to_camel
from quick_cases import SLOW
from support.agents.foreign_values import CASES, TEXTS, VALUES

from arena_core.actions import (
    Action,
    AskUser,
    Back,
    Click,
    CloseTab,
    Drag,
    FocusTab,
    Goto,
    Hover,
    MouseClick,
    NewTab,
    Press,
    Select,
    Type,
    Wait,
)
from orchestrator.agents.action_spaces.parser import Misread
from orchestrator.serve.mcp_tools import TOOLS, BrowserTool, SubmitAnswer, read_call, schema_of

READ: list[tuple[str, dict[str, Any], tuple[Action, ...]]] = [
    ("browser_navigate", {"url": "http://a/"}, (Goto(url="http://a/"),)),
    ("browser_navigate_back", {}, (Back(),)),
    ("ask_user", {"question": "Which one?"}, (AskUser(question="Which one?"),)),
    ("browser_snapshot", {}, ()),
    ("browser_take_screenshot", {}, ()),
    ("browser_click", {"target": "e12", "element": "the button"}, (Click(element=12),)),
    (
        "browser_click",
        {"target": "12", "doubleClick": True, "button": "right", "modifiers": ["Shift"]},
        (Click(element=12, count=2, button="right", modifiers=("Shift",)),),
    ),
    (
        "browser_type",
        {"target": "e3", "text": "tea", "submit": True},
        (Type(element=3, text="tea", submit=True),),
    ),
    ("browser_select_option", {"target": "e4", "values": ["a"]}, (Select(element=4, option="a"),)),
    (
        "browser_select_option",
        {"target": "e4", "values": ["a", "b"]},
        (Select(element=4, option=("a", "b")),),
    ),
    ("browser_press_key", {"key": "Control+A"}, (Press(keys="Control+A"),)),
    ("browser_hover", {"target": "e5"}, (Hover(element=5),)),
    ("browser_drag", {"startTarget": "e1", "endTarget": "e2"}, (Drag(element=1, to=2),)),
    ("browser_tabs", {"action": "list"}, ()),
    ("browser_tabs", {"action": "new", "url": "http://a/"}, (NewTab(url="http://a/"),)),
    ("browser_tabs", {"action": "select", "index": 2}, (FocusTab(index=2),)),
    ("browser_tabs", {"action": "close"}, (CloseTab(),)),
    ("browser_tabs", {"action": "close", "index": 2}, (FocusTab(index=2), CloseTab())),
    ("browser_wait_for", {"text": "Done"}, (Wait(text="Done"),)),
    ("browser_wait_for", {"textGone": "Busy"}, (Wait(gone="Busy"),)),
    ("browser_wait_for", {"time": 300}, (Wait(seconds=30),)),
    ("browser_mouse_click_xy", {"x": 10, "y": 20.5}, (MouseClick(x=10, y=20.5),)),
    ("submit_answer", {"answer": "47"}, ()),
]


@pytest.mark.parametrize(("name", "arguments", "actions"), READ)
def test_a_call_is_what_playwright_mcp_means_by_it(
    name: str, arguments: dict[str, Any], actions: tuple[Action, ...]
) -> None:
    call = read_call(name, arguments)
    assert isinstance(call, BrowserTool)
    assert call.actions() == actions


def test_every_tool_is_read_in_some_case() -> None:
    assert {name for name, _, _ in READ} == set(TOOLS)


@pytest.mark.parametrize(
    ("name", "arguments", "why"),
    [
        ("browser_evaluate", {"function": "() => 1"}, "there is no tool"),
        ("browser_click", {}, "target"),
        ("browser_click", {"target": "button.save"}, "target"),
        ("browser_click", {"target": "e1", "force": True}, "force"),
        ("browser_tabs", {"action": "select"}, "index"),
        ("browser_wait_for", {"time": float("nan")}, "time"),
        ("browser_mouse_click_xy", {"x": -1, "y": 0}, "x"),
        ("submit_answer", {"status": "perfect"}, "status"),
    ],
)
def test_what_is_wrong_with_a_call_is_said_in_one_line(
    name: str, arguments: dict[str, Any], why: str
) -> None:
    call = read_call(name, arguments)
    assert isinstance(call, Misread)
    assert why in call.why
    assert "\n" not in call.why


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
NAMED = st.sampled_from(
    sorted({key for tool in TOOLS.values() for key in schema_of(tool).get("properties", {})})
)


@given(name=st.sampled_from(sorted(TOOLS)) | st.text(), given=st.dictionaries(NAMED, JSON))
def test_no_call_makes_the_reader_raise(name: str, given: dict[str, Any]) -> None:
    call = read_call(name, given)
    assert isinstance(call, Misread) or all(one.kind for one in call.actions())


def test_schemas_have_the_names_on_the_wire() -> None:
    schema = schema_of(TOOLS["browser_click"])
    assert set(schema["properties"]) == {"target", "element", "doubleClick", "button", "modifiers"}
    assert schema["required"] == ["target"]


_FIELDS = sorted({to_camel(name) for tool in TOOLS.values() for name in tool.model_fields})
_RIGHT = {"ref": "e3", "target": "e3", "action": "select", "index": 1, "x": 1, "status": "done"}
_ARGUMENTS = st.fixed_dictionaries(
    {}, optional={name: st.just(_RIGHT.get(name, "text")) | VALUES for name in [*_FIELDS, "ref"]}
)


@SLOW
@settings(max_examples=CASES)
@example(name="browser_tabs", arguments={"action": "select", "index": 10**400})
@example(name="browser_mouse_click_xy", arguments={"x": 1e300, "y": 1})
@given(name=st.sampled_from(list(TOOLS)) | TEXTS, arguments=_ARGUMENTS)
def test_whatever_a_client_of_mcp_hands_in_is_an_action_or_misread(
    name: str, arguments: dict[str, Any]
) -> None:
    call = read_call(name, arguments)
    if isinstance(call, Misread):
        assert len(call.why.encode()) < 5_000
        return
    for action in call.actions():
        kind = type(action)
        assert kind.model_validate_json(action.model_dump_json()) == action
    if isinstance(call, SubmitAnswer):
        call.model_dump_json()
