from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from quick_cases import SLOW
from support.worlds.seen_pages import seen

from arena_core.actions import (
    Action,
    Click,
    Drag,
    FocusTab,
    Infeasible,
    Scroll,
    ScrollDirection,
    Select,
    Stop,
    Type,
    Wait,
)
from orchestrator.agents.action_spaces.anthropic_computer import AnthropicComputer
from orchestrator.agents.action_spaces.computer_use import PointerTools, Size
from orchestrator.agents.action_spaces.functions import (
    BESIDE_A_COMPUTER,
    ON_ELEMENTS,
    ActionTools,
    Combined,
    UnknownFunction,
)
from orchestrator.agents.action_spaces.gemini_computer import GeminiComputer
from orchestrator.agents.action_spaces.openai_computer import OpenAiComputer
from orchestrator.agents.action_spaces.parser import ACTION, Misread, ToolActions
from orchestrator.browser.observation import AXTREE, SCREENSHOT

ELEMENTS = ActionTools()
BESIDE = ActionTools(BESIDE_A_COMPUTER)
SPACES: Mapping[str, ToolActions] = {
    "elements": ELEMENTS,
    "openai": Combined((OpenAiComputer(Size(640, 480)), BESIDE)),
    "anthropic": Combined((AnthropicComputer(Size(640, 480)), BESIDE)),
    "gemini": Combined((GeminiComputer(), BESIDE)),
    "generic": Combined((PointerTools(Size(640, 480)), BESIDE)),
}
PAGE = seen(AXTREE, SCREENSHOT)


@pytest.mark.parametrize("name", SPACES)
def test_each_function_is_described_by_a_plain_json_schema(name: str) -> None:
    tools = SPACES[name].tools
    assert len({tool.name for tool in tools}) == len(tools)
    for tool in tools:
        assert tool.description
        assert "\n" not in tool.description
        assert "Attributes" not in json.dumps(tool.description)
        jsonschema.Draft202012Validator.check_schema(tool.parameters)
        assert tool.parameters["additionalProperties"] is False
        assert "$ref" not in json.dumps(tool.parameters)


def test_every_action_can_be_called_by_elements_or_by_places() -> None:
    offered = {tool.name for name in ("elements", "generic") for tool in SPACES[name].tools}
    assert offered == set(ACTION.json_schema()["discriminator"]["mapping"])
    assert {tool.name for tool in ELEMENTS.tools} == set(ON_ELEMENTS)


def test_no_function_offers_a_confidence_that_nobody_asked_for() -> None:
    tools = [tool for space in SPACES.values() for tool in space.tools]
    assert "confidence" not in json.dumps([[one.description, one.parameters] for one in tools])


def test_a_parameter_is_described_in_the_words_of_the_action() -> None:
    (tool,) = ActionTools(("wait",)).tools
    shown = json.loads(json.dumps(tool.parameters))["properties"]
    assert shown["gone"]["description"] == "what it shall show no longer."
    assert tool.description.startswith("Wait until the page shows a text")


@pytest.mark.parametrize(
    ("name", "arguments", "action"),
    [
        ("click", {"element": 12, "count": 2}, Click(element=12, count=2)),
        ("click", {"element": "12"}, Click(element=12)),
        ("type", {"element": 2, "text": "tea"}, Type(element=2, text="tea")),
        ("select", {"element": 4, "option": ["Price"]}, Select(element=4, option=("Price",))),
        ("scroll", {"direction": "down"}, Scroll(direction=ScrollDirection.DOWN)),
        ("drag", {"element": 11, "to": 14}, Drag(element=11, to=14)),
        ("focus_tab", {"index": 1}, FocusTab(index=1)),
        ("stop", {}, Stop()),
        ("infeasible", {"reason": "none"}, Infeasible(reason="none")),
        ("wait", {"seconds": 1}, Wait(seconds=1)),
    ],
)
def test_a_call_is_its_action(name: str, arguments: dict[str, Any], action: Action) -> None:
    assert ELEMENTS.read(name, json.dumps(arguments), PAGE) == (action,)


@pytest.mark.parametrize(
    ("name", "arguments", "why"),
    [
        ("fly", "{}", "no function 'fly'; there are: click, hover"),
        ("mouse_click", '{"x": 1, "y": 1}', "no function 'mouse_click'"),
        ("click", "", "element: Field required"),
        ("click", "element 12", "are no JSON"),
        ("click", '{"element": 12', "are no JSON"),
        ("click", "[12]", "no JSON object"),
        ("click", '{"element": 404}', "no element 404"),
        ("drag", '{"element": 11, "to": 404}', "no element 404"),
        ("click", '{"element": true}', "True is no number"),
        ("click", '{"element": NaN}', "Out of range float"),
        ("click", '{"element": 12, "reason": "cheap"}', "reason: Extra inputs"),
        ("stop", '{"answer": "47", "confidence": 0.8}', "stop has no argument 'confidence'"),
        ("click", '{"element": 12, "kind": "stop"}', "no argument 'kind'"),
        ("stop", '{"kind": "click", "element": 12}', "no argument 'kind'"),
        ("stop", '{"observation": 1}', "observation: Extra inputs"),
        ("type", json.dumps({"element": 2, "text": "x" * 200_000}), "longer than 20000"),
        ("type", '{"element": 2, "text": "\\ud800"}', "hex escape"),
        ("type", '{"element": 2, "text": ' + "[" * 9_000, "no JSON"),
        ("type", '{"element": 2, "text": ' + "[" * 950 + "]" * 950 + "}", ""),
    ],
)
def test_a_call_that_is_no_action_is_named(name: str, arguments: str, why: str) -> None:
    read = ELEMENTS.read(name, arguments, PAGE)
    assert isinstance(read, Misread)
    assert why in read.why


def test_of_several_action_spaces_the_one_that_offers_a_function_reads_it() -> None:
    both = SPACES["openai"]
    assert both.read("stop", '{"answer": "19.99"}', PAGE) == (Stop(answer="19.99"),)
    read = both.read("fly", "{}", PAGE)
    assert isinstance(read, UnknownFunction)
    assert "computer" in read.why
    assert "stop" in read.why
    wrong = both.read("computer", "{}", PAGE)
    assert isinstance(wrong, Misread)
    assert not isinstance(wrong, UnknownFunction)


@given(st.text(st.characters(codec="utf-8")), st.sampled_from([2, 11, 12]))
def test_what_is_printed_is_read_again(text: str, element: int) -> None:
    for action in (Type(element=element, text=text, clear=False), Stop(answer=text)):
        printed = action.model_dump_json(exclude={"kind"})
        assert ELEMENTS.read(action.kind, printed, PAGE) == (action,)


NAMES = sorted({tool.name for space in SPACES.values() for tool in space.tools} | {"click_at"})
FIELDS = ["element", "x", "y", "text", "action", "actions", "type", "coordinate", "kind", "keys"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(FIELDS), inner),
)


@SLOW
@pytest.mark.parametrize("name", SPACES)
@given(
    called=st.sampled_from(NAMES) | st.text(),
    said=st.text()
    | st.text(alphabet='{}[]":,aceiknotxy \\1')
    | st.dictionaries(st.sampled_from(FIELDS), JSON).map(json.dumps),
)
def test_no_call_makes_it_raise(name: str, called: str, said: str) -> None:
    read = SPACES[name].read(called, said, PAGE)
    if not isinstance(read, Misread):
        assert read
        assert all(ACTION.validate_python(action) == action for action in read)
