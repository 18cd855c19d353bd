from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.worlds.seen_pages import seen

from arena_core.actions import Click, Stop, Type
from orchestrator.agents.action_spaces.arena_json import ArenaJson
from orchestrator.agents.action_spaces.parser import ACTION, Misread
from orchestrator.browser.observation import AXTREE

PARSER = ArenaJson()
PAGE = seen(AXTREE)


@pytest.mark.parametrize(
    "said",
    [
        '{"thought": "go", "action": {"kind": "click", "element": 11}}',
        'I go. ```json\n{"kind": "click", "element": 11}\n```',
        '{"action": "click", "element": 11, "reason": "cheap"}',
    ],
)
def test_an_action_is_read_wherever_it_stands(said: str) -> None:
    assert PARSER.parse(said, PAGE) == Click(element=11)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("", "no JSON object"),
        ("click 11", "no JSON object"),
        ('{"kind": "back"} {"kind": "forward"}', "2 actions"),
        ('{"kind": "click", "element": 404}', "no element 404"),
        ("{" * 30_000, "longer than"),
        (json.dumps({"action": {"kind": "stop", "answer": 7}}), "answer: "),
    ],
)
def test_what_is_no_action_is_named(said: str, why: str) -> None:
    read = PARSER.parse(said, PAGE)
    assert isinstance(read, Misread)
    assert why in read.why


SURE = '{"action": {"kind": "stop", "answer": "47", "confidence": %s}}'


def test_a_confidence_is_read_where_it_was_asked_for() -> None:
    asked = ArenaJson(with_confidence=True)
    assert asked.parse(SURE % 0.8, PAGE) == Stop(answer="47", confidence=0.8)
    assert asked.parse(SURE % "null", PAGE) == Stop(answer="47")


@pytest.mark.parametrize("said", ["1.5", "-1", "NaN", "true", '"high"', "80"])
def test_a_confidence_that_is_none_makes_no_action(said: str) -> None:
    read = ArenaJson(with_confidence=True).parse(SURE % said, PAGE)
    assert isinstance(read, Misread)
    assert "confidence" in read.why


@pytest.mark.parametrize("said", ["0.8", "95", '"high"', "true"])
def test_where_nobody_asked_for_a_confidence_a_models_own_is_left_out(said: str) -> None:
    assert PARSER.parse(SURE % said, PAGE) == Stop(answer="47")


def test_an_action_as_deep_as_json_may_be_is_named_and_not_raised() -> None:
    for depth in range(850, 1000):
        deep = '{"kind": "stop", "answer": ' + "[" * depth + "]" * depth + "}"
        assert isinstance(PARSER.parse(deep, PAGE), Misread)


@given(st.text(st.characters(codec="utf-8")))
def test_what_is_printed_is_read_again(text: str) -> None:
    for action in (Type(element=2, text=text), Stop(answer=text)):
        assert PARSER.parse(ACTION.dump_json(action).decode(), PAGE) == action


@given(st.text() | st.text(alphabet='{}[]":,aceiknot \\1'))
def test_no_text_makes_it_raise(text: str) -> None:
    read = PARSER.parse(text, PAGE)
    assert isinstance(read, Misread) or ACTION.validate_python(read) == read
