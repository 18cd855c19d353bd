from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.worlds.seen_pages import NODES, seen

from arena_core.actions import (
    Action,
    AskUser,
    Back,
    Clear,
    Click,
    CloseTab,
    Focus,
    FocusTab,
    Forward,
    Goto,
    Hover,
    KeyDown,
    MouseClick,
    MouseMove,
    NewTab,
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
from orchestrator.agents.action_spaces.parser import ACTION, Misread
from orchestrator.agents.action_spaces.playwright_calls import PlaywrightCalls
from orchestrator.browser.observation import AXTREE, SOM, AxTree, Node

PARSER = PlaywrightCalls()
PAGE = seen(AXTREE)

SAID: Mapping[str, Action] = {
    'ask_user("Which one?")': AskUser(question="Which one?"),
    'page.get_by_role("link", name="Red kettle").click()': Click(element=11),
    'await page.get_by_role("link", name="red").click()': Click(element=11),
    'page.get_by_role("link", name="Red kettle", exact=True).dblclick()': Click(
        element=11, count=2
    ),
    'page.get_by_role("button", name="Search").click(button="right", modifiers=["Shift"])': Click(
        element=3, button="right", modifiers=("Shift",)
    ),
    'page.get_by_role("button", name="Search").click(modifiers=["ControlOrMeta"])': Click(
        element=3, modifiers=("Control",)
    ),
    'page.get_by_role("list").get_by_role("link").last.click()': Click(element=14),
    'page.get_by_role("link").nth(1).dclick()': Click(element=14, count=2),
    'page.get_by_role("link").nth(-2).hover()': Hover(element=11),
    'page.get_by_role("listitem").filter(has_text="Steel").get_by_role("button").click()': Click(
        element=15
    ),
    'page.get_by_role("listitem").filter(has_not_text="Steel").get_by_role("button").click()': (
        Click(element=12)
    ),
    'page.get_by_role("button", name="Add to cart").first.click()': Click(element=12),
    'page.get_by_role("checkbox", checked=True).click()': Click(element=7),
    'page.get_by_text("Steel kettle").click()': Click(element=14),
    'page.get_by_text("kettles", exact=False).hover()': Hover(element=1),
    'page.get_by_label("search").fill("it\'s tea")': Type(element=2, text="it's tea"),
    'page.get_by_placeholder("Search the shop").type("pot")': Type(
        element=2, text="pot", clear=False
    ),
    'page.get_by_role("searchbox").press_sequentially("pot")': Type(
        element=2, text="pot", clear=False
    ),
    'page.get_by_role("searchbox").clear()': Clear(element=2),
    'page.get_by_role("searchbox").focus()': Focus(element=2),
    'page.get_by_label("Sort by").select_option("Price")': Select(element=4, option="Price"),
    'page.get_by_label("Sort by").select_option(label=["Price"])': Select(
        element=4, option=("Price",)
    ),
    'page.get_by_label("On sale").check()': Click(element=8),
    'page.get_by_label("In stock").check()': Wait(seconds=0),
    'page.get_by_label("In stock").uncheck()': Click(element=7),
    'page.get_by_role("button", name="Search").set_input_files("cat.png")': Upload(
        element=3, files=("cat.png",)
    ),
    'page.goto("http://shop.test/")': Goto(url="http://shop.test/"),
    "page.go_back()": Back(),
    "go_back()": Back(),
    "page.go_forward()": Forward(),
    'page.press("Enter")': Press(keys="Enter"),
    'page.keyboard.press("Control+A")': Press(keys="Control+A"),
    'page.keyboard.type("tea")': Write(text="tea"),
    'page.keyboard.down("Shift")': KeyDown(key="Shift"),
    "page.mouse.click(3, 4.5, click_count=2)": MouseClick(x=3, y=4.5, count=2),
    "page.mouse.move(3, 4)": MouseMove(x=3, y=4),
    'page.scroll("down")': Scroll(direction=ScrollDirection.DOWN),
    "page.scroll(up)": Scroll(direction=ScrollDirection.UP),
    "scroll(down)": Scroll(direction=ScrollDirection.DOWN),
    "browser.new_tab()": NewTab(),
    "page_focus(1)": FocusTab(index=1),
    "page.page_close()": CloseTab(),
    "page.close()": CloseTab(),
    'stop("19.99")': Stop(answer="19.99"),
    'page.stop("19.99")': Stop(answer="19.99"),
    "page.wait_for_timeout(500)": Wait(seconds=0.5),
    '```python\npage.get_by_role("heading").hover()\n```': Hover(element=1),
}


@pytest.mark.parametrize("said", list(SAID))
def test_a_call_stands_for_its_action(said: str) -> None:
    assert PARSER.parse(said, PAGE) == SAID[said]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("", "no call"),
        ("I click the link", "cannot be read"),
        ('page.get_by_role("link").click()', "2 elements match; narrow it"),
        ('page.get_by_role("link", name="Blue").click()', "0 elements match"),
        ('page.get_by_role("link").nth(2).click()', "0 elements match"),
        ('page.get_by_role("link").nth(True).click()', "whole number"),
        ('page.get_by_role("link", name="red", exact=True).click()', "0 elements match"),
        ('page.get_by_role("link", level=2).click()', "level is not known"),
        ("page.get_by_role(link).click()", "only texts"),
        ('page.get_by_role("link", name=re.compile("R.*")).click()', "only texts"),
        ('page.get_by_role("link")', "there is no call 'get_by_role' here"),
        ('page.get_by_role("link", name="Red").evaluate("alert(1)")', "no call 'evaluate'"),
        ('page.get_by_label("Kettles").click()', "0 elements match"),
        ("page.get_by_role.click()", "missing a required argument"),
        ('page.get_by_title("Red").click()', "get_by_title is nothing that the tree can tell"),
        ('page.get_by_test_id("x").click()', "get_by_test_id is nothing"),
        ('page.locator("css=a").click()', "locator is nothing"),
        ('page.frame_locator("iframe").get_by_role("link").click()', "frame_locator is nothing"),
        ("page.first.click()", "first follows a locator"),
        ('page.evaluate("alert(1)")', "no call 'evaluate'"),
        ('page.click("css=a")', "there is no call 'click' here"),
        ('page.press("css=a", "Enter")', "too many positional"),
        ('page.get_by_role("searchbox").fill()', "missing a required argument"),
        ('page.get_by_role("searchbox").fill("x", element=3)', "multiple values"),
        ('page.get_by_role("searchbox").fill(5)', "text: "),
        ('page.get_by_label("Sort by").select_option()', "a value or a label"),
        ('page.get_by_label("Sort by").check(force=True)', "there is no call 'check'"),
        ('page.get_by_role("searchbox").press("Enter")', "2 actions (focus, press)"),
        ("page_focus(9)", "no tab 9"),
        ("page", "no call of the form"),
        ("page()", "there is no call 'page' here"),
        ("page.first", "no call of the form"),
        ("os.system('x')", "no call of the form"),
        ("page['x'].click()", "no call of the form"),
        ("x = page.go_back()", "only calls"),
        ("page" + ".first" * 30 + ".click()", "no call of the form"),
        ("page" + ".first" * 3_000 + ".click()", "nests too deeply"),
        ("page.goto(" + "[" * 150 + "]" * 150 + ")", "only texts"),
        ("page.goto('" + "x" * 200_000 + "')", "longer than"),
    ],
)
def test_what_cannot_be_resolved_is_named(said: str, why: str) -> None:
    read = PARSER.parse(said, PAGE)
    assert isinstance(read, Misread)
    assert why in read.why


def test_the_smallest_element_with_a_text_is_meant() -> None:
    nodes = (
        Node(id=1, depth=0, role="main", name="All of Tea pot"),
        Node(id=2, depth=1, role="link", name="Tea pot"),
        Node(id=3, depth=0, role="link", name="Coffee"),
    )
    page = replace(PAGE, parts={AXTREE: AxTree(nodes)})
    assert PARSER.parse('page.get_by_text("tea").click()', page) == Click(element=2)


def test_what_lies_in_two_nested_elements_is_found_once() -> None:
    nodes = (
        Node(id=1, depth=0, role="listitem", name=""),
        Node(id=2, depth=1, role="listitem", name=""),
        Node(id=3, depth=2, role="link", name="Tea pot"),
    )
    page = replace(PAGE, parts={AXTREE: AxTree(nodes)})
    said = 'page.get_by_role("listitem").get_by_role("link").click()'
    assert PARSER.parse(said, page) == Click(element=3)


def test_without_a_tree_no_locator_finds_anything() -> None:
    read = PARSER.parse('page.get_by_role("link").click()', seen(SOM))
    assert isinstance(read, Misread)
    assert "axtree" in read.why
    assert PARSER.parse("page.go_back()", seen(SOM)) == Back()


def test_lines_stand_for_several_actions() -> None:
    said = 'page.get_by_role("searchbox").fill("tea")\npage.get_by_role("searchbox").press("Enter")'
    assert PARSER.script(said, PAGE) == (
        Type(element=2, text="tea"),
        Focus(element=2),
        Press(keys="Enter"),
    )


@given(
    st.sampled_from([node for node in NODES if node.name]), st.text(st.characters(codec="utf-8"))
)
def test_what_is_printed_is_read_again(node: Node, text: str) -> None:
    alike = [one for one in NODES if (one.role, one.name) == (node.role, node.name)]
    locator = f"page.get_by_role({node.role!r}, name={node.name!r}, exact=True)"
    chosen = f"{locator}.nth({alike.index(node)})"
    assert PARSER.parse(f"{chosen}.fill({text!r})", PAGE) == Type(element=node.id, text=text)
    assert PARSER.parse(f"page.goto({text!r})", PAGE) == Goto(url=text)


@given(
    st.text()
    | st.text(alphabet="page.get_by_role('link')[]-\n#{}=*: \\")
    | st.lists(st.sampled_from([*SAID, "page", ".first", ".click()", "(", "\n", ";"])).map("".join)
)
def test_no_text_makes_it_raise(text: str) -> None:
    read = PARSER.script(text, PAGE)
    if not isinstance(read, Misread):
        assert all(ACTION.validate_python(action) == action for action in read)
