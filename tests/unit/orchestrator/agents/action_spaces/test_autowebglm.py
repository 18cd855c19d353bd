"""AutoWebGLM's calls: read as data, with the traps of the original named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_core.actions import (
    Action,
    AskUser,
    Back,
    Click,
    FocusTab,
    Forward,
    Goto,
    Hover,
    NewTab,
    Scroll,
    ScrollDirection,
    Select,
    Stop,
    Type,
)
from orchestrator.agents.action_spaces.autowebglm import AutoWebGlmActions, print_command
from orchestrator.agents.action_spaces.parser import Misread
from orchestrator.browser.observation import PRUNED_HTML, Observation, PrunedHtml, Tab

PARSER = AutoWebGlmActions()
PAGE = Observation(
    step=0,
    url="http://shop.test/",
    title="Shop",
    tabs=(
        Tab(3, "Shop", "http://shop.test/", is_current=True),
        Tab(5, "Wiki", "http://wiki.test/", is_current=False),
    ),
    parts={PRUNED_HTML: PrunedHtml("<button[A]|Buy >", {"A": 12, "AB": 7, "C": 9})},
)


def read(said: str) -> Action | Misread:
    return PARSER.parse(said, PAGE)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("click(A)", Click(element=12)),
        ("click('AB')", Click(element=7)),
        ("click(id=A)", Click(element=12)),
        ("hover(C)", Hover(element=9)),
        ('select(AB, "Price, low to high")', Select(element=7, option="Price, low to high")),
        ('type_string(A, "x", True)', Type(element=12, text="x", submit=True)),
        ("type_string(A, 'it\\'s (so)', False)", Type(element=12, text="it's (so)")),
        ("scroll_page('down')", Scroll(direction=ScrollDirection.DOWN)),
        ("go('backward')", Back()),
        ("go('forward')", Forward()),
        ('jump_to("http://wiki.test/", False)', Goto(url="http://wiki.test/")),
        ('jump_to(url="http://wiki.test/", new_tab=True)', NewTab(url="http://wiki.test/")),
        ("finish()", Stop()),
        ('finish("19.90")', Stop(answer="19.90")),
        ("finish(answer=None)", Stop()),
        ("click(A) # not click(C), which sells it", Click(element=12)),
        ("```python\nclick(A)\n```", Click(element=12)),
    ],
)
def test_every_command_is_read(said: str, meant: Action) -> None:
    assert read(said) == meant


def test_tabs_are_counted_as_the_prompt_lists_them() -> None:
    """Upstream's pattern catches no number, so the command never worked there."""
    assert read("switch_tab(2)") == FocusTab(index=5)
    assert isinstance(read("switch_tab(0)"), Misread)
    assert isinstance(read("switch_tab(3)"), Misread)
    assert isinstance(read("switch_tab(True)"), Misread)


@pytest.mark.parametrize("flag", ["'False'", "0", "None", "false"])
def test_enter_is_pressed_by_true_alone(flag: str) -> None:
    """Upstream on MiniWoB++ takes the word 'False' for yes."""
    assert isinstance(read(f'type_string(A, "x", {flag})'), Misread)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "I would click(A).",
        "click(A)\nclick(C)",
        "click(A), click(C)",
        "click(Z)",
        "click(12)",
        "click()",
        "click(A, C)",
        "click[A]",
        "a.click(A)",
        "click(A)(C)",
        "click(*A)",
        "click(**{'id': 'A'})",
        "x = click(A)",
        "type_string(A, C, True)",
        "type_string(A, 'x')",
        "type_string(A, f'{1}', True)",
        "type_string(A, __import__('os').name, True)",
        "finish(19.90)",
        "finish(1 + 1)",
        "go('up')",
        "scroll_page('left')",
        "jump_to('http://a.test/')",
        "record('a note')",
        "eval('1')",
        "__import__('os').system('true')",
    ],
)
def test_what_is_no_command_of_the_paper_is_refused(said: str) -> None:
    assert isinstance(read(said), Misread)


def test_a_question_to_the_user_is_one() -> None:
    assert read('user_input("Which colour?")') == AskUser(question="Which colour?")


def test_a_command_in_a_comment_is_not_played() -> None:
    """Upstream takes the first place that fits a pattern, also in the reasons for another."""
    assert read("scroll_page('up') # then click(A)") == Scroll(direction=ScrollDirection.UP)
    assert isinstance(read("# click(A)"), Misread)


_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
_ELEMENT = st.sampled_from([12, 7, 9])
WRITABLE = st.one_of(
    st.builds(Click, element=_ELEMENT),
    st.builds(Hover, element=_ELEMENT),
    st.builds(Type, element=_ELEMENT, text=_TEXT, submit=st.booleans()),
    st.builds(Select, element=_ELEMENT, option=_TEXT),
    st.builds(Scroll, direction=st.sampled_from([ScrollDirection.UP, ScrollDirection.DOWN])),
    st.builds(Goto, url=_TEXT),
    st.builds(NewTab, url=_TEXT),
    st.builds(FocusTab, index=st.sampled_from([3, 5])),
    st.builds(Stop, answer=_TEXT | st.none()),
    st.sampled_from([Back(), Forward()]),
)


@given(WRITABLE, st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"])))
def test_what_is_printed_is_read_back_whatever_the_comment(action: Action, comment: str) -> None:
    printed = print_command(action, PAGE)
    assert printed is not None
    assert read(printed) == action
    assert read(f"{printed}  # {comment}") == action


_WORDS = """click type_string finish go jump_to switch_tab ( ) A AB , ' " # True None [ { * = id
\\ lambda: 1e999 - f' await"""
_SCRAPS = st.lists(
    st.sampled_from([*_WORDS.split(), " ", "\n", "9" * 5_000, "(" * 300, "\x00", "\ud800"])
).map("".join)


@given(st.text() | _SCRAPS | _SCRAPS.map(lambda text: f"click({text})"))
def test_no_text_makes_it_raise_or_do_what_was_not_said(said: str) -> None:
    action = read(said)
    if isinstance(action, Misread):
        assert action.why
        return
    printed = print_command(action, PAGE)
    assert printed is not None
    assert printed.partition("(")[0] in said
    assert read(printed) == action
