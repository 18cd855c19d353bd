"""WebArena's actions on ids, with the traps of the original named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_core.actions import (
    Action,
    AskUser,
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
    Stop,
    Type,
)
from orchestrator.agents.action_spaces.parser import Misread
from orchestrator.agents.action_spaces.webarena import WebArenaActions, fenced_action, print_action
from orchestrator.browser.observation import AXTREE, AxTree, Node, Observation, Tab

PARSER = WebArenaActions()
PAGE = Observation(
    step=0,
    url="http://shop.test/",
    title="Shop",
    tabs=(
        Tab(0, "Shop", "http://shop.test/", is_current=True),
        Tab(1, "Wiki", "", is_current=False),
    ),
    parts={AXTREE: AxTree(tuple(Node(id=n, depth=0, role="link", name="a") for n in range(1, 99)))},
)


def read(action: str) -> Action | Misread:
    return PARSER.parse(f"Let me think. ```{action}```", PAGE)


def typed(element: int, text: str, *, submit: bool) -> Type:
    return Type(element=element, text=text, submit=submit, clear=False)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("click [12]", Click(element=12)),
        ("click[12]", Click(element=12)),
        ("\nclick [12]\n", Click(element=12)),
        ("hover [7]", Hover(element=7)),
        ("type [7] [red kettle] [0]", typed(7, "red kettle", submit=False)),
        ("type [7] [red kettle] [1]", typed(7, "red kettle", submit=True)),
        ("press [Enter]", Press(keys="Enter")),
        ("scroll [down]", Scroll(direction=ScrollDirection.DOWN)),
        ("scroll up", Scroll(direction=ScrollDirection.UP)),
        ("new_tab", NewTab()),
        ("tab_focus [1]", FocusTab(index=1)),
        ("close_tab", CloseTab()),
        ("goto [http://shop.test/a]", Goto(url="http://shop.test/a")),
        ("go_back", Back()),
        ("go_forward", Forward()),
        ("ask_user [Which [one]?]", AskUser(question="Which [one]?")),
        ("stop [19.99]", Stop(answer="19.99")),
    ],
)
def test_every_action_is_read(said: str, meant: Action) -> None:
    assert read(said) == meant


def test_enter_is_pressed_where_a_typed_text_does_not_say_so() -> None:
    assert read("type [7] [red kettle]") == typed(7, "red kettle", submit=True)
    # Only 0 and 1 at the very end say so: of another number the text is a part of what is typed.
    assert read("type [7] [kettle] [2]") == typed(7, "kettle] [2", submit=True)


def test_what_stood_in_a_field_stays_as_nothing_is_cleared_upstream() -> None:
    action = read("type [7] [x] [0]")
    assert isinstance(action, Type)
    assert not action.clear


def test_brackets_in_a_text_belong_to_it() -> None:
    assert read("type [7] [see [1] and [2]] [0]") == typed(7, "see [1] and [2]", submit=False)
    assert read("stop [a [b] c]") == Stop(answer="a [b] c")
    assert read("goto [http://shop.test/?f[]=1]") == Goto(url="http://shop.test/?f[]=1")
    # A number in brackets at the very end is taken for the flag, as it is upstream.
    assert isinstance(read("type [7] [item [1]"), Misread)


def test_of_several_fenced_actions_the_first_is_the_action() -> None:
    said = "I could ```click [1]``` but rather ```click [2]```."
    assert PARSER.parse(said, PAGE) == Click(element=1)


def test_what_follows_an_action_between_the_fences_is_not_looked_at() -> None:
    assert read("click [12] then click [13]") == Click(element=12)
    assert read("go_back to the list") == Back()


@pytest.mark.parametrize(
    "said",
    [
        "click 12",
        "click [ 12 ]",
        "click [link 12]",
        "Click [12]",
        "please click [12]",
        "click\n[12]",
        "python\nclick [12]",
        "click [12345678901234567890]",
        "type [7] []",
        "type [7] [] [0]",
        "type [7] [two\nlines] [0]",
        "type [red kettle]",
        "scroll [direction=down]",
        "scroll [left]",
        "press Enter",
        "goto http://shop.test/",
        "tab_focus 1",
        "page_focus [1]",
        "select [7] [x]",
        "",
        "  ",
    ],
)
def test_what_upstream_refuses_is_refused(said: str) -> None:
    assert isinstance(read(said), Misread)


@pytest.mark.parametrize("said", ["click [12]", "```click [12]", "", "`click [12]`"])
def test_without_two_fences_there_is_no_action(said: str) -> None:
    assert "fences" in str(PARSER.parse(said, PAGE))


def test_an_element_or_tab_that_is_not_there_is_named() -> None:
    assert read("click [99]") == Misread("there is no element 99 on the current page")
    assert read("tab_focus [7]") == Misread("there is no tab 7")


def test_cannot_be_done_is_an_answer_as_webarena_compares_it_with_the_reference() -> None:
    assert read("stop [N/A]") == Stop(answer="N/A")


@pytest.mark.parametrize("said", ["stop", "stop []", "stop now"])
def test_an_end_without_an_answer_has_none(said: str) -> None:
    assert read(said) == Stop(answer=None)


def test_an_answer_over_two_lines_is_kept_whole() -> None:
    """Upstream: no answer at all, and nobody is told."""
    assert read("stop [19.99\n24.99]") == Stop(answer="19.99\n24.99")


def test_letters_that_crash_upstream_are_typed() -> None:
    assert read("type [7] [茶 – “Kessel”™ 🫖] [0]") == typed(7, "茶 – “Kessel”™ 🫖", submit=False)


@pytest.mark.parametrize(
    ("said", "keys"),
    [("Ctrl+v", "Control+v"), ("Meta+a", "Control+a"), ("cmd+c", "Control+c"), ("+", "+")],
)
def test_the_prompts_own_names_of_keys_are_the_browsers(said: str, keys: str) -> None:
    assert read(f"press [{said}]") == Press(keys=keys)


def test_a_verb_that_is_only_quoted_later_is_not_played() -> None:
    """Upstream searches the whole text for the first place that fits the verb."""
    assert isinstance(read("click  [the button] not click [5]"), Misread)
    assert isinstance(read("type  [1] [say type [2] [y] [0]"), Misread)


def test_a_reply_that_is_too_long_is_refused() -> None:
    assert isinstance(fenced_action("```click [1]```" + "x" * 20_000), Misread)


_TEXT = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters="`[]\x85"),
    min_size=1,
).filter(lambda text: text == text.strip())
_ID = st.integers(1, 98)
WRITABLE = st.one_of(
    st.builds(Click, element=_ID),
    st.builds(Hover, element=_ID),
    st.builds(typed, _ID, _TEXT, submit=st.booleans()),
    st.builds(Press, keys=st.sampled_from(["Enter", "Control+a", "PageDown", "+"])),
    st.builds(Scroll, direction=st.sampled_from([ScrollDirection.UP, ScrollDirection.DOWN])),
    st.builds(Goto, url=_TEXT),
    st.builds(FocusTab, index=st.sampled_from([0, 1])),
    st.builds(Stop, answer=_TEXT | st.none()),
    st.sampled_from([NewTab(), CloseTab(), Back(), Forward()]),
)


@given(WRITABLE, st.text().filter(lambda text: "`" not in text))
def test_what_is_printed_is_read_back_whatever_stands_around_it(
    action: Action, around: str
) -> None:
    printed = print_action(action)
    assert printed is not None
    assert PARSER.parse(f"{around}```{printed}```{around}", PAGE) == action


_WORDS = "``` click type stop scroll press goto [ ] 12 [1] up N/A tab_focus go_back new_tab ٣ '"
_SCRAPS = st.lists(
    st.sampled_from([*_WORDS.split(), " ", "\n", "9" * 5_000, "\x00", "\ud800"])
).map("".join)


@given(st.text() | _SCRAPS | _SCRAPS.map(lambda text: f"```{text}```"))
def test_no_text_makes_it_raise_or_do_what_was_not_said(said: str) -> None:
    read = PARSER.parse(said, PAGE)
    if isinstance(read, Misread):
        assert read.why
        assert "\n" not in read.why
        return
    fenced = said.split("```")[1].strip()
    verb = (print_action(read) or "").split(" ")[0]
    assert fenced.startswith(verb)
    for value in read.model_dump(exclude={"kind", "submit", "clear"}).values():
        if isinstance(value, str | int) and not isinstance(value, bool) and verb != "press":
            assert str(value) in said or verb in {"click", "hover"}
