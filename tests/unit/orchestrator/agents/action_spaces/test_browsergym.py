from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.worlds.seen_pages import seen

from arena_core.actions import (
    Action,
    AskUser,
    Back,
    Clear,
    Click,
    CloseTab,
    Drag,
    Focus,
    FocusTab,
    Forward,
    Goto,
    Hover,
    Infeasible,
    KeyDown,
    KeyUp,
    MouseClick,
    MouseDown,
    MouseDrag,
    MouseMove,
    MouseUp,
    MouseWheel,
    NewTab,
    Point,
    Press,
    Scroll,
    ScrollDirection,
    Select,
    Stop,
    Type,
    Upload,
    Wait,
    Write,
)
from orchestrator.agents.action_spaces.browsergym import BrowserGymCalls
from orchestrator.agents.action_spaces.parser import ACTION, Misread
from orchestrator.browser.observation import AXTREE, SCREENSHOT, Picture

PARSER = BrowserGymCalls()
PAGE = seen(AXTREE)

SAID: Mapping[str, Action] = {
    "ask_user('Which one?')": AskUser(question="Which one?"),
    "click('12')": Click(element=12),
    "click('a12')": Click(element=12),
    "click('e12')": Click(element=12),
    "click(12)": Click(element=12),
    "click(bid='12', button='right')": Click(element=12, button="right"),
    "click('12', 'middle', ['Shift'])": Click(element=12, button="middle", modifiers=("Shift",)),
    "click('12', modifiers=['ControlOrMeta'])": Click(element=12, modifiers=("Control",)),
    "dblclick('12')": Click(element=12, count=2),
    "dblclick('12', modifiers=['Alt', 'Meta'])": Click(
        element=12, count=2, modifiers=("Alt", "Meta")
    ),
    "fill('2', \"it's tea\")": Type(element=2, text="it's tea"),
    "fill('2', 'a' 'b')": Type(element=2, text="ab"),
    "fill('2', 'kettle', True)": Type(element=2, text="kettle"),
    r"fill('2', 'two\nlines \d')": Type(element=2, text="two\nlines \\d"),
    "fill('2', '''two\nlines''')": Type(element=2, text="two\nlines"),
    "fill('2', '# no comment')  # a comment": Type(element=2, text="# no comment"),
    "fill('2', 'click(\"12\")')": Type(element=2, text='click("12")'),
    "clear('2')": Clear(element=2),
    "focus('2')": Focus(element=2),
    "hover('11')": Hover(element=11),
    "select_option('4', 'Price')": Select(element=4, option="Price"),
    "select_option('4', ['Price', 'Name'])": Select(element=4, option=("Price", "Name")),
    "check('8')": Click(element=8),
    "check('7')": Wait(seconds=0),
    "uncheck('7')": Click(element=7),
    "uncheck('8')": Wait(seconds=0),
    "drag_and_drop('11', '14')": Drag(element=11, to=14),
    "scroll(0, 200)": MouseWheel(x=640, y=360, dx=0, dy=200),
    "scroll(-50.2, -100.5)": MouseWheel(x=640, y=360, dx=-50.2, dy=-100.5),
    "scroll_at(50, 100, -50, -100)": MouseWheel(x=50, y=100, dx=-50, dy=-100),
    'scroll("down")': Scroll(direction=ScrollDirection.DOWN),
    "mouse_move(65.2, 158.5)": MouseMove(x=65.2, y=158.5),
    "mouse_up(250, 120)": MouseUp(x=250, y=120),
    "mouse_down(140.2, 580.1, 'middle')": MouseDown(x=140.2, y=580.1, button="middle"),
    "mouse_click(887.2, 68, button='right')": MouseClick(x=887.2, y=68, button="right"),
    "mouse_dblclick(5, 236)": MouseClick(x=5, y=236, count=2),
    "mouse_drag_and_drop(10.7, 325, 235.6, 24.54)": MouseDrag(
        path=(Point(x=10.7, y=325), Point(x=235.6, y=24.54))
    ),
    "keyboard_press('ControlOrMeta+a')": Press(keys="ControlOrMeta+a"),
    "keyboard_down('Shift')": KeyDown(key="Shift"),
    "keyboard_up('Shift')": KeyUp(key="Shift"),
    "keyboard_type('Hello')": Write(text="Hello"),
    "keyboard_insert_text('Hello')": Write(text="Hello"),
    "send_keys('Hello')": Write(text="Hello"),
    "upload_file('3', 'cat.png')": Upload(element=3, files=("cat.png",)),
    "upload_file('3', ['cat.png', 'dog.png'])": Upload(element=3, files=("cat.png", "dog.png")),
    "goto('http://shop.test/')": Goto(url="http://shop.test/"),
    "go_back()": Back(),
    "go_forward()": Forward(),
    "new_tab()": NewTab(),
    "tab_focus(1)": FocusTab(index=1),
    "tab_close()": CloseTab(),
    "send_msg_to_user('19.99')": Stop(answer="19.99"),
    "report_infeasible('no such kettle')": Infeasible(reason="no such kettle"),
    "noop()": Wait(seconds=1),
    "noop(500)": Wait(seconds=0.5),
    "  noop(wait_ms=0)\n": Wait(seconds=0),
    "```python\ngo_back()\n```": Back(),
    "```\n  go_back()\n```": Back(),
}


@pytest.mark.parametrize("said", list(SAID))
def test_a_call_stands_for_its_action(said: str) -> None:
    assert PARSER.parse(said, PAGE) == SAID[said]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("", "no call"),
        ("# only a comment", "no call"),
        ("I click on the link.", "cannot be read as a call"),
        ("click('12'", "cannot be read as a call"),
        ("fill('2', 'it's tea')", "line 1 cannot be read as a call"),
        ("fly('12')", "there is no call 'fly'; there are: ask_user, check, clear"),
        ("click()", "missing a required argument: 'bid'"),
        ("click('12', 'left', [], 4)", "too many positional arguments"),
        ("click('12', speed=3)", "unexpected keyword argument 'speed'"),
        ("click('12', bid='11')", "multiple values"),
        ("click('12', button='left', button='right')", "once"),
        ("click(*['12'])", "only texts, numbers"),
        ("click(**{'bid': '12'})", "only texts, numbers"),
        ("click(bid)", "only texts, numbers"),
        ("click(str(12))", "only texts, numbers"),
        ("click(f'{12}')", "only texts, numbers"),
        ("click('1' + '2')", "only texts, numbers"),
        ("click(b'12')", "only texts, numbers"),
        ("click(...)", "only texts, numbers"),
        ("click(-'12')", "only texts, numbers"),
        ("click('b12')", "'b12' is no id"),
        ("click('12x')", "no id"),
        ("click('" + "x" * 15_000 + "')", "'xxx"),
        ("x" * 15_000 + "()", "no call 'xxx"),
        ("click(True)", "True is no id"),
        ("click(12.0)", "12.0 is no id"),
        ("click('404')", "no element 404"),
        ("click('12', 'both')", "'left', 'middle' or 'right'"),
        ("click('12', modifiers=['Hyper'])", "modifiers"),
        ("tab_focus(7)", "no tab 7"),
        ("tab_focus(True)", "True is no number"),
        ("tab_focus(0.5)", "index"),
        ("mouse_click('5', 5)", "'5' is no number"),
        ("mouse_click(-5, 5)", "greater than or equal to 0"),
        ("mouse_click(1e999, 5)", "mouse_click: "),
        ("scroll('sideways')", "one direction"),
        ("noop(60000)", "less than or equal to 30"),
        ("select_option('4', [])", "option"),
        ("check(12)", ""),
        ("__import__('os').system('true')", "no call of the form"),
        ("page.click('12')", "no call of the form"),
        ("import os", "only calls"),
        ("x = click('12')", "only calls"),
        ("for _ in range(3): go_back()", "only calls"),
        ("lambda: click('12')", "no call of the form"),
        ("click('12') if True else go_back()", "no call of the form"),
        ("click('12'), go_back()", "no call of the form"),
        ("'click'", "no call of the form"),
        ("press('2', 'Enter')", "2 actions (focus, press)"),
        ("go_back()\ngo_forward()", "2 actions (back, forward)"),
        ("fill('2', '" + "x" * 200_000 + "')", "longer than"),
        ("click('\x00')", "cannot be read"),
        ("click('\ud800')", "cannot be read"),
    ],
)
def test_what_is_no_call_is_named(said: str, why: str) -> None:
    if said.startswith("check"):
        assert PARSER.parse(said, seen(SCREENSHOT)) == Misread(
            "whether 12 is checked is not in what you see: use click"
        )
        return
    read = PARSER.parse(said, PAGE)
    assert isinstance(read, Misread)
    assert why in read.why
    assert "\n" not in read.why
    assert len(read.why) <= 1_000


@pytest.mark.parametrize(
    "said",
    [
        "(" * 9_000,
        "-" * 19_000 + "1",
        "not " * 4_900 + "1",
        "a" + ".a" * 9_000,
        "a" + "()" * 9_000,
        "a" + "[0]" * 6_000,
        "lambda:" * 2_800,
        "1" + "+1" * 9_000,
        "1" + "**1" * 6_000,
        "click(" * 3_000 + ")" * 3_000,
        "click(" + "[" * 150 + "]" * 150 + ")",
        "click(" + "-" * 15_000 + "1)",
        "click('12'" + ".a" * 9_000 + ")",
        "f'" + "{f'" * 2_000,
        "if 1:\n" * 90,
        "click(" + "9" * 15_000 + ")",
        "x if " * 3_900,
        "{" * 9_000,
        "\\\n" * 9_000,
        "'''" + "x\n" * 9_000,
    ],
)
def test_what_nests_or_drags_on_is_named_and_not_raised(said: str) -> None:
    assert isinstance(PARSER.parse(said, PAGE), Misread)


def test_lines_and_the_press_of_an_element_stand_for_several_actions() -> None:
    assert PARSER.script("fill('2', 'tea')\n\npress('2', 'Enter')\ntab_focus(5)", PAGE) == (
        Type(element=2, text="tea"),
        Focus(element=2),
        Press(keys="Enter"),
        FocusTab(index=5),
    )


def test_only_what_comes_first_must_be_there_already() -> None:
    assert PARSER.script("new_tab()\nclick('404')", PAGE) == (NewTab(), Click(element=404))
    assert PARSER.script("click('404')\nnew_tab()", PAGE) == Misread(
        "there is no element 404 on the current page"
    )
    assert isinstance(PARSER.script("new_tab()\nfly()", PAGE), Misread)


def test_the_wheel_turns_in_the_middle_of_the_viewport_that_was_seen() -> None:
    page = replace(PAGE, parts={SCREENSHOT: Picture(b"", 800, 600)})
    assert PARSER.parse("scroll(0, 10)", page) == MouseWheel(x=400, y=300, dx=0, dy=10)


def test_nothing_that_is_said_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    monkeypatch.setattr("os.system", ran.append)
    for said in ("__import__('os').system('x')", "click(__import__('os').system('x'))"):
        assert isinstance(PARSER.script(said, PAGE), Misread)
    assert ran == []


def printed(action: Action) -> str:  # noqa: PLR0911 - one case per kind
    """Write an action as BrowserGym's documentation does."""
    match action:
        case Click(element=element, button=button, count=count, modifiers=modifiers):
            name = {1: "click", 2: "dblclick"}[count]
            return f"{name}({str(element)!r}, {button!r}, {list(modifiers)!r})"
        case Type(element=element, text=text):
            return f"fill({str(element)!r}, {text!r})"
        case Select(element=element, option=option):
            shown = list(option) if isinstance(option, tuple) else option
            return f"select_option(bid={str(element)!r}, options={shown!r})"
        case Write(text=text):
            return f"keyboard_type({text!r})"
        case Stop(answer=answer):
            return f"send_msg_to_user({answer!r})"
        case Infeasible(reason=reason):
            return f"report_infeasible({reason!r})"
        case MouseWheel(dx=dx, dy=dy):
            return f"scroll({dx!r}, {dy!r})"
        case MouseClick(x=x, y=y, button=button):
            return f"mouse_click({x!r}, {y!r}, button={button!r})"
        case _:
            raise AssertionError(action)


ELEMENTS = st.sampled_from([2, 7, 11, 12])
TEXTS = st.text(st.characters(codec="utf-8"))
BUTTONS: Any = st.sampled_from(["left", "middle", "right"])
HELD: Any = st.lists(st.sampled_from(["Alt", "Control", "Meta", "Shift"]))
PLACES = st.floats(0, 100_000)
DISTANCES = st.floats(-100_000, 100_000)


@given(
    st.builds(
        Click,
        element=ELEMENTS,
        button=BUTTONS,
        count=st.sampled_from([1, 2]),
        modifiers=HELD.map(tuple),
    )
    | st.builds(Type, element=ELEMENTS, text=TEXTS)
    | st.builds(Select, element=ELEMENTS, option=TEXTS | st.lists(TEXTS, min_size=1).map(tuple))
    | st.builds(Write, text=TEXTS)
    | st.builds(Stop, answer=TEXTS | st.none())
    | st.builds(Infeasible, reason=TEXTS)
    | st.builds(MouseWheel, x=st.just(640.0), y=st.just(360.0), dx=DISTANCES, dy=DISTANCES)
    | st.builds(MouseClick, x=PLACES, y=PLACES, button=BUTTONS)
)
def test_what_is_printed_is_read_again(action: Action) -> None:
    assert PARSER.parse(printed(action), PAGE) == action


@given(
    st.text()
    | st.text(alphabet="click('12,\")[]-.x\n#{}=*: \\")
    | st.lists(st.sampled_from([*SAID, "press('2', 'Enter')", "fly()", "(", "\n", ";"])).map(
        "".join
    )
)
def test_no_text_makes_it_raise(text: str) -> None:
    read = PARSER.script(text, PAGE)
    if not isinstance(read, Misread):
        assert all(ACTION.validate_python(action) == action for action in read)
    assert isinstance(PARSER.parse(text, PAGE), Misread) or read == (PARSER.parse(text, PAGE),)
