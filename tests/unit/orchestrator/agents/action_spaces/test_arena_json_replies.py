from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_core.actions import Back, Click, FocusTab, Stop, Type
from orchestrator.agents.action_spaces.arena_json import NoContent, Reply, Unusable, read_reply
from orchestrator.agents.builtin.prompt import EXAMPLES
from orchestrator.agents.model.completion import Completion
from orchestrator.agents.model.messages import ToolCall
from orchestrator.browser.observation import AXTREE, AxTree, Node, Observation, Tab


def said(text: str = "", **more: Any) -> Completion:
    return Completion(text=text, **more)


CLICK = '{"thought": "go", "action": {"kind": "click", "element": 1}}'
PAGE = Observation(
    step=0,
    url="http://shop.test/",
    title="Shop",
    tabs=(Tab(0, "Shop", "http://shop.test/", is_current=True),),
    parts={
        AXTREE: AxTree(
            tuple(Node(id=number, depth=0, role="link", name="x") for number in (1, 7, 9, 12))
        )
    },
)


@pytest.mark.parametrize(
    "text",
    [
        CLICK,
        f"```json\n{CLICK}\n```",
        f"Thought: I go.\n{CLICK}\nThat is it.",
        f"Braces like {{this}} are prose. {CLICK}",
        f'<think>maybe {{"action": {{"kind": "back"}}}}?</think>{CLICK}',
        f"half a thought</think>{CLICK}",
        CLICK.replace('"thought"', '"observation": "a page", "thought"'),
        CLICK.replace(": 1}", ': "1"}'),
        CLICK.replace(": 1}", ': 1, "button": "left", "reason": "cheap"}'),
        '{"thought": "go", "kind": "click", "element": 1}',
        '{"thought": "go", "action": "click", "element": 1}',
        f'I could {{"kind": "back"}}, but no: {CLICK}',
    ],
)
def test_an_action_is_read_wherever_the_model_puts_it(text: str) -> None:
    assert read_reply(said(text), PAGE) == Reply(thought="go", action=Click(element=1))


def test_a_thought_is_not_needed() -> None:
    reply = read_reply(said('{"action": {"kind": "stop", "answer": "42"}}'), PAGE)
    assert reply == Reply(thought="", action=Stop(answer="42"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("I would click on Kettles.", "no JSON object"),
        ("[1, 2]", "no JSON object"),
        (CLICK[:-1], "Expecting ',' delimiter"),
        ('{"kind": "fly", "element": 1}', "no JSON object with an `action`"),
        ('{"kind": "back"} {"kind": "forward"}', "2 actions"),
        (CLICK + CLICK, "2 actions"),
        ('{"action": "click"}', "element: Field required"),
        ('{"rejected": {"kind": "back"}, "action": {"kind": "forw', "no JSON object"),
        ('{"action": {"kind": "fly"}}', "'fly'"),
        ('{"action": {"kind": "click"}}', "element: Field required"),
        ('{"action": {"kind": "click", "element": "the link"}}', "element: "),
        ('{"action": {"kind": "click", "element": 1.5}}', "element: "),
        ('{"action": {"kind": "scroll", "direction": "in"}}', "'left' or 'right'"),
        ('{"action": {"kind": "type", "element": 1, "text": "\\ud800"}}', "hex escape"),
        ('{"action": {"kind": "click", "element": 404}}', "no element 404"),
        ('{"action": {"kind": "hover", "element": 404}}', "no element 404"),
        ('{"action": {"kind": "drag", "element": 1, "to": 404}}', "no element 404"),
        ('{"action": {"kind": "scroll", "direction": "up", "element": 404}}', "no element 404"),
        ('{"action": {"kind": "mouse_click", "x": 1e999, "y": 2}}', "finite"),
        ('{"action": {"kind": "mouse_click", "x": -1, "y": 2}}', "greater than or equal to 0"),
        ('{"action": {"kind": "mouse_down", "x": 1}}', "go together"),
        ('{"action": {"kind": "mouse_drag", "path": [{"x": 1, "y": 2}]}}', "at least 2"),
        ('{"action": {"kind": "wait", "seconds": 31}}', "less than or equal to 30"),
        ('{"action": {"kind": "click", "element": 1, "count": 4}}', "less than or equal to 3"),
        ('{"action": {"kind": "type", "element": 404, "text": ""}}', "no element 404"),
        ('{"action": {"kind": "select", "element": 404, "option": ""}}', "no element 404"),
        ('{"action": {"kind": "focus_tab", "index": 3}}', "no tab 3"),
        ('{"action": __import__("os").system("true")}', "no JSON object"),
        ('{"a":' * 3000, "no JSON object"),
        ('{"action": {"kind": "click", "element": ' + "9" * 5000 + "}}", ""),
        ("{" * 30_000, "longer than"),
    ],
)
def test_nonsense_is_named_in_words_for_the_model(text: str, problem: str) -> None:
    reply = read_reply(said(text), PAGE)
    assert isinstance(reply, Unusable)
    assert problem in "; ".join(reply.problems)


def test_each_example_that_the_model_is_shown_is_valid() -> None:
    for action, _ in EXAMPLES:
        text = json.dumps({"thought": "t", "action": action.model_dump(mode="json")})
        assert read_reply(said(text), PAGE) == Reply(thought="t", action=action)


@given(st.text(alphabet=st.characters(codec="utf-8", categories=["L", "N", "P", "Z"])), st.text())
def test_any_text_typed_arrives_as_it_was_said(text: str, prose: str) -> None:
    typed = {"thought": text, "action": {"kind": "type", "element": 7, "text": text}}
    around = prose.replace("{", "")
    reply = read_reply(said(f"{around}{json.dumps(typed)}"), PAGE)
    expected = Reply(thought=text, action=Type(element=7, text=text))
    # Beside prose the end of thinking is a mark of its own, even inside a string.
    assert reply == expected or "think" in text + prose


@given(st.text() | st.text(alphabet='{}[]":,aceiknot \\1'))
def test_no_text_breaks_the_reader(text: str) -> None:
    assert isinstance(read_reply(said(text), PAGE), Reply | Unusable | NoContent)
    apart = ToolCall("c1", "click", text)
    assert isinstance(read_reply(said("", tool_calls=(apart,)), PAGE), Reply | Unusable)
    assert isinstance(read_reply(said("", thinking=text), PAGE), Reply | Unusable | NoContent)


def test_a_tab_that_is_open_can_be_focused(page: Callable[..., Observation]) -> None:
    reply = read_reply(said('{"action": {"kind": "focus_tab", "index": 0}}'), page(""))
    assert reply == Reply(thought="", action=FocusTab(index=0))


def call(name: str, **arguments: object) -> ToolCall:
    return ToolCall("c1", name, json.dumps(arguments))


@pytest.mark.parametrize(
    "called",
    [
        call("click", element=1),
        call("click", element=1, reason="cheap"),
        call("act", action={"kind": "click", "element": 1}),
        call("browser", kind="click", element=1),
        call("browser", action="click", element=1),
    ],
)
def test_an_action_is_read_out_of_a_tool_call(called: ToolCall) -> None:
    assert read_reply(said(tool_calls=(called,)), PAGE) == Reply(action=Click(element=1))


def test_a_tool_call_that_repeats_the_content_is_the_same_action() -> None:
    reply = read_reply(said(CLICK, tool_calls=(call("click", element=1),)), PAGE)
    assert reply == Reply(thought="go", action=Click(element=1))


@pytest.mark.parametrize(
    ("called", "problem"),
    [
        ((call("search", query="kettle"),), "no function 'search'"),
        ((ToolCall("c1", "click", "element 1"),), "'click' are no JSON"),
        ((call("click"),), "element: Field required"),
        ((call("click", element=404),), "no element 404"),
        ((call("click", element=1), call("back")), "2 actions"),
        (
            (ToolCall("c1", "type", json.dumps({"element": 1, "text": "x" * 20_000})),),
            "longer than",
        ),
    ],
)
def test_a_tool_call_that_is_no_action_is_named(called: tuple[ToolCall, ...], problem: str) -> None:
    reply = read_reply(said(tool_calls=called), PAGE)
    assert isinstance(reply, Unusable)
    assert problem in "; ".join(reply.problems)


LONG = 'Perhaps {"action": {"kind": "back"}} or {this}? ' * 3_000


@pytest.mark.parametrize(
    "text",
    [
        f"<think>{LONG}</think>{CLICK}",
        f"{LONG}</think>\n{CLICK}",
        f"<think>{LONG}</think> so <think>{LONG}</think>{CLICK}",
        f"<think>one <think>two</think> {LONG}</think>{CLICK}",
        f"{CLICK}<think>{LONG}",
        f"<THINKING>{LONG}</THINKING>{CLICK}",
    ],
    ids=["closed", "opened by the template", "twice", "nested", "never closed", "capitals"],
)
def test_thinking_of_any_length_is_put_aside_with_the_actions_it_quotes(text: str) -> None:
    assert read_reply(said(text), PAGE) == Reply(thought="go", action=Click(element=1))


def test_a_tag_inside_a_reply_is_text() -> None:
    text = '{"thought": "</think> and <think>", "action": {"kind": "back"}}'
    assert read_reply(said(text), PAGE) == Reply(thought="</think> and <think>", action=Back())


@pytest.mark.parametrize(
    "reply",
    [said(thinking=f"{LONG} So: {CLICK}\n```"), said(f"<think>{LONG} So: {CLICK}")],
    ids=["apart", "never closed"],
)
def test_an_action_that_ends_the_thinking_counts_where_nothing_else_was_said(
    reply: Completion,
) -> None:
    assert read_reply(reply, PAGE) == Reply(thought="go", action=Click(element=1))


@pytest.mark.parametrize("text", ["I go back.", "{}", '{"action": "fly"}'])
def test_an_action_in_the_thinking_is_not_played_where_something_was_said(text: str) -> None:
    assert isinstance(read_reply(said(text, thinking=CLICK), PAGE), Unusable)
    assert isinstance(read_reply(said(f"<think>{CLICK}</think>{text}"), PAGE), Unusable)


@pytest.mark.parametrize(
    "reply",
    [
        said(),
        said(" \n"),
        said(thinking=f"{CLICK} No, rather"),
        said(f"<think>{CLICK} No, rather</think>"),
    ],
)
def test_where_nothing_is_said_there_is_no_content(reply: Completion) -> None:
    assert read_reply(reply, PAGE) == NoContent()


@pytest.mark.parametrize("reply", [said(is_cut=True), said(thinking=CLICK, is_cut=True)])
def test_a_reply_that_the_length_limit_ended_was_too_long_not_empty(reply: Completion) -> None:
    assert isinstance(read_reply(reply, PAGE), Unusable)
