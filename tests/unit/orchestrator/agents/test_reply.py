from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.actions import Click, FocusTab, Stop, Type
from orchestrator.agents.prompt import EXAMPLES
from orchestrator.agents.reply import Reply, Unusable, read_reply
from orchestrator.observation import Node, Observation, Tab

CLICK = '{"thought": "go", "action": {"kind": "click", "element": 1}}'
PAGE = Observation(
    step=0,
    url="http://shop.test/",
    title="Shop",
    tabs=(Tab(0, "Shop", "http://shop.test/", is_current=True),),
    nodes=tuple(Node(id=number, depth=0, role="link", name="x") for number in (1, 7, 9, 12)),
    text="",
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
    ],
)
def test_an_action_is_read_wherever_the_model_puts_it(text: str) -> None:
    assert read_reply(text, PAGE) == Reply(thought="go", action=Click(element=1))


def test_a_thought_is_not_needed() -> None:
    reply = read_reply('{"action": {"kind": "stop", "answer": "42"}}', PAGE)
    assert reply == Reply(thought="", action=Stop(answer="42"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no JSON object"),
        ("I would click on Kettles.", "no JSON object"),
        ("[1, 2]", "no JSON object"),
        (CLICK[:-1], "Expecting ',' delimiter"),
        ('{"kind": "click", "element": 1}', "no JSON object with an `action`"),
        (CLICK + CLICK, "2 actions"),
        ('{"action": "click"}', "action: "),
        ('{"action": {"kind": "fly"}}', "'fly'"),
        ('{"action": {"kind": "click"}}', "element: Field required"),
        ('{"action": {"kind": "click", "element": "the link"}}', "element: "),
        ('{"action": {"kind": "click", "element": 1, "button": "left"}}', "button: Extra"),
        ('{"action": {"kind": "click", "element": 1.5}}', "element: "),
        ('{"action": {"kind": "scroll", "direction": "left"}}', "'up' or 'down'"),
        ('{"action": {"kind": "type", "element": 1, "text": "\\ud800"}}', "hex escape"),
        ('{"action": {"kind": "click", "element": 404}}', "no element 404"),
        ('{"action": {"kind": "hover", "element": 404}}', "no element 404"),
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
    reply = read_reply(text, PAGE)
    assert isinstance(reply, Unusable)
    assert problem in "; ".join(reply.problems)


def test_each_example_that_the_model_is_shown_is_valid() -> None:
    for action, _ in EXAMPLES:
        text = json.dumps({"thought": "t", "action": action.model_dump(mode="json")})
        assert read_reply(text, PAGE) == Reply(thought="t", action=action)


@given(st.text(alphabet=st.characters(codec="utf-8", categories=["L", "N", "P", "Z"])), st.text())
def test_any_text_typed_arrives_as_it_was_said(text: str, prose: str) -> None:
    said = {"thought": text, "action": {"kind": "type", "element": 7, "text": text}}
    around = prose.replace("{", "").replace("</think>", "")
    reply = read_reply(f"{around}{json.dumps(said)}", PAGE)
    expected = Reply(thought=text, action=Type(element=7, text=text))
    # The end of thinking is a mark of its own, even inside a string.
    assert reply == expected or "</think>" in text


@given(st.text() | st.text(alphabet='{}[]":,aceiknot \\1'))
def test_no_text_breaks_the_reader(text: str) -> None:
    assert isinstance(read_reply(text, PAGE), Reply | Unusable)


def test_a_tab_that_is_open_can_be_focused(page: Callable[..., Observation]) -> None:
    reply = read_reply('{"action": {"kind": "focus_tab", "index": 0}}', page(""))
    assert reply == Reply(thought="", action=FocusTab(index=0))
