from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.worlds.seen_pages import FORMS, VIEWPORT, seen

from arena_core.actions import (
    Action,
    Back,
    Goto,
    KeyDown,
    KeyUp,
    MouseClick,
    MouseDown,
    MouseDrag,
    MouseMove,
    MouseUp,
    MouseWheel,
    Point,
    Press,
    Scroll,
    ScrollDirection,
    Wait,
    Write,
)
from orchestrator.agents.action_spaces.anthropic_computer import AnthropicComputer
from orchestrator.agents.action_spaces.computer_use import PointerTools, Shown, Size
from orchestrator.agents.action_spaces.gemini_computer import GeminiComputer
from orchestrator.agents.action_spaces.openai_computer import OpenAiComputer
from orchestrator.agents.action_spaces.parser import Misread
from orchestrator.browser.observation import AXTREE, SCREENSHOT, SOM

PAGE = seen(SCREENSHOT)
# The picture is half as large as the viewport.
HALF = Size(640, 360)
WIDE = Size(*VIEWPORT)


def openai(*actions: dict[str, Any], most: Size | None = None) -> tuple[Action, ...] | Misread:
    said = json.dumps({"actions": actions})
    return OpenAiComputer(most).read("computer", said, PAGE)


def anthropic(most: Size | None = None, **said: Any) -> tuple[Action, ...] | Misread:
    return AnthropicComputer(most).read("computer", json.dumps(said), PAGE)


def gemini(name: str, **said: Any) -> tuple[Action, ...] | Misread:
    return GeminiComputer().read(name, json.dumps(said), PAGE)


@pytest.mark.parametrize(
    ("said", "action"),
    [
        ({"type": "click", "x": 5, "y": 6.5}, MouseClick(x=5, y=6.5)),
        (
            {"type": "click", "x": 5, "y": 6, "button": "right"},
            MouseClick(x=5, y=6, button="right"),
        ),
        (
            {"type": "click", "x": 5, "y": 6, "button": "wheel"},
            MouseClick(x=5, y=6, button="middle"),
        ),
        ({"type": "click", "x": 5, "y": 6, "button": "back"}, Back()),
        (
            {"type": "click", "x": 5, "y": 6, "keys": ["CTRL", "SHIFT"]},
            MouseClick(x=5, y=6, modifiers=("Control", "Shift")),
        ),
        ({"type": "double_click", "x": 5, "y": 6}, MouseClick(x=5, y=6, count=2)),
        ({"type": "move", "x": 5, "y": 6}, MouseMove(x=5, y=6)),
        (
            {"type": "drag", "path": [{"x": 1, "y": 2}, {"x": 3, "y": 4}]},
            MouseDrag(path=(Point(x=1, y=2), Point(x=3, y=4))),
        ),
        (
            {"type": "scroll", "x": 5, "y": 6, "scroll_x": 0, "scroll_y": -300},
            MouseWheel(x=5, y=6, dx=0, dy=-300),
        ),
        ({"type": "type", "text": "tea\n"}, Write(text="tea\n")),
        ({"type": "keypress", "keys": ["ENTER"]}, Press(keys="Enter")),
        ({"type": "keypress", "keys": ["CTRL", "A"]}, Press(keys="Control+A")),
        ({"type": "keypress", "keys": ["ARROWDOWN"]}, Press(keys="ArrowDown")),
        ({"type": "keypress", "keys": [" "]}, Press(keys="Space")),
        ({"type": "wait"}, Wait(seconds=1)),
        ({"type": "screenshot"}, Wait(seconds=0)),
    ],
)
def test_openais_actions(said: dict[str, Any], action: Action) -> None:
    assert openai(said) == (action,)


def test_openais_batch_is_played_in_order_and_looks_only_at_its_end() -> None:
    look = {"type": "screenshot"}
    click = {"type": "click", "x": 5, "y": 6}
    assert openai(look, click, look, {"type": "type", "text": "tea"}) == (
        MouseClick(x=5, y=6),
        Write(text="tea"),
    )
    assert openai(look, look) == (Wait(seconds=0),)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"type": "fly"}, "'fly'"),
        ({"type": "click"}, "x: Field required"),
        ({"type": "click", "x": "5", "y": 6}, "x: Input should be a valid number"),
        ({"type": "click", "x": True, "y": 6}, "x: Input should be a valid number"),
        ({"type": "click", "x": 5, "y": 6, "speed": 1}, "speed: Extra inputs"),
        (
            {"type": "click", "x": 1280, "y": 6},
            "(1280, 6) is outside of the picture, which is 1280x720",
        ),
        ({"type": "click", "x": -1, "y": 6}, "outside"),
        ({"type": "click", "x": 5, "y": 6, "keys": ["A"]}, "no key to hold"),
        ({"type": "drag", "path": [{"x": 1, "y": 2}]}, "path"),
        ({"type": "drag", "path": [{"x": 1, "y": 2}, {"x": 9_999, "y": 2}]}, "outside"),
        ({"type": "scroll", "x": 5, "y": 6, "scroll_y": 1e9}, "less than or equal"),
        ({"type": "keypress", "keys": []}, "no key is named"),
        ({"type": "keypress", "keys": ["HYPER"]}, "no key 'HYPER'"),
    ],
)
def test_what_openais_vocabulary_does_not_have_is_named(said: dict[str, Any], why: str) -> None:
    read = openai({"type": "wait"}, said)
    assert isinstance(read, Misread)
    assert why in read.why


def test_a_batch_is_bounded() -> None:
    assert isinstance(openai(), Misread)
    assert isinstance(openai(*[{"type": "wait"}] * 51), Misread)


@pytest.mark.parametrize(
    ("said", "actions"),
    [
        ({"action": "left_click", "coordinate": [5, 6]}, [MouseClick(x=5, y=6)]),
        ({"action": "right_click", "coordinate": [5, 6]}, [MouseClick(x=5, y=6, button="right")]),
        ({"action": "middle_click", "coordinate": [5, 6]}, [MouseClick(x=5, y=6, button="middle")]),
        ({"action": "double_click", "coordinate": [5, 6]}, [MouseClick(x=5, y=6, count=2)]),
        ({"action": "triple_click", "coordinate": [5, 6]}, [MouseClick(x=5, y=6, count=3)]),
        (
            {"action": "left_click", "coordinate": [5, 6], "text": "ctrl+shift"},
            [MouseClick(x=5, y=6, modifiers=("Control", "Shift"))],
        ),
        ({"action": "left_click"}, [MouseDown(), MouseUp()]),
        ({"action": "right_click"}, [MouseDown(button="right"), MouseUp(button="right")]),
        ({"action": "left_mouse_down"}, [MouseDown()]),
        ({"action": "left_mouse_up"}, [MouseUp()]),
        ({"action": "mouse_move", "coordinate": [5, 6]}, [MouseMove(x=5, y=6)]),
        (
            {"action": "left_click_drag", "start_coordinate": [1, 2], "coordinate": [3, 4]},
            [MouseDrag(path=(Point(x=1, y=2), Point(x=3, y=4)))],
        ),
        ({"action": "key", "text": "Return"}, [Press(keys="Enter")]),
        ({"action": "key", "text": "ctrl+a"}, [Press(keys="Control+a")]),
        ({"action": "key", "text": "ctrl++"}, [Press(keys="Control++")]),
        ({"action": "key", "text": "ctrl+plus"}, [Press(keys="Control++")]),
        ({"action": "key", "text": "Page_Down"}, [Press(keys="PageDown")]),
        ({"action": "key", "text": "super"}, [Press(keys="Meta")]),
        ({"action": "key", "text": "Tab Tab"}, [Press(keys="Tab"), Press(keys="Tab")]),
        ({"action": "key", "text": " "}, [Press(keys="Space")]),
        ({"action": "type", "text": "it's tea"}, [Write(text="it's tea")]),
        (
            {
                "action": "scroll",
                "coordinate": [5, 6],
                "scroll_direction": "down",
                "scroll_amount": 3,
            },
            [MouseWheel(x=5, y=6, dx=0, dy=360)],
        ),
        (
            {"action": "scroll", "scroll_direction": "left", "scroll_amount": 1, "text": "shift"},
            [KeyDown(key="Shift"), MouseWheel(x=640, y=360, dx=-120, dy=0), KeyUp(key="Shift")],
        ),
        (
            {"action": "hold_key", "text": "shift", "duration": 0.5},
            [KeyDown(key="Shift"), Wait(seconds=0.5), KeyUp(key="Shift")],
        ),
        ({"action": "wait", "duration": 2}, [Wait(seconds=2)]),
        ({"action": "screenshot"}, [Wait(seconds=0)]),
    ],
)
def test_anthropics_actions(said: dict[str, Any], actions: list[Action]) -> None:
    assert anthropic(**said) == tuple(actions)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({}, "action"),
        ({"action": "fly"}, "'fly'"),
        ({"action": "zoom", "region": [0, 0, 10, 10]}, "zoom is not available"),
        ({"action": "cursor_position"}, "cursor_position is not available"),
        ({"action": "left_click", "coordinate": [5]}, "coordinate"),
        ({"action": "left_click", "coordinate": "5, 6"}, "coordinate"),
        ({"action": "left_click", "coordinate": [5, 720]}, "outside"),
        ({"action": "double_click"}, "needs a coordinate"),
        ({"action": "left_click", "text": "ctrl"}, "needs a coordinate"),
        ({"action": "mouse_move"}, "coordinate: Field required"),
        ({"action": "key", "text": "Hyper_L"}, "no key 'Hyper_L'"),
        ({"action": "key", "text": ""}, "no key ''"),
        ({"action": "key", "text": "a " * 30}, "30 keys"),
        ({"action": "wait", "duration": 100}, "less than or equal to 30"),
        ({"action": "scroll", "scroll_direction": "down", "scroll_amount": 1.5}, "scroll_amount"),
        ({"action": "type", "text": "x", "coordinate": [5, 6]}, "coordinate: Extra inputs"),
    ],
)
def test_what_anthropics_vocabulary_does_not_have_is_named(said: dict[str, Any], why: str) -> None:
    read = anthropic(**said)
    assert isinstance(read, Misread)
    assert why in read.why


@pytest.mark.parametrize(
    ("name", "said", "actions"),
    [
        ("click", {"x": 500, "y": 500}, [MouseClick(x=640, y=360)]),
        ("click_at", {"x": 0, "y": 999}, [MouseClick(x=0, y=719)]),
        ("click", {"x": 1000, "y": 1000}, [MouseClick(x=1279, y=719)]),
        ("double_click", {"x": 500, "y": 500}, [MouseClick(x=640, y=360, count=2)]),
        ("triple_click", {"x": 500, "y": 500}, [MouseClick(x=640, y=360, count=3)]),
        ("right_click", {"x": 500, "y": 500}, [MouseClick(x=640, y=360, button="right")]),
        ("hover_at", {"x": 500, "y": 500}, [MouseMove(x=640, y=360)]),
        ("move", {"x": 500, "y": 500}, [MouseMove(x=640, y=360)]),
        ("mouse_down", {"x": 500, "y": 500}, [MouseDown(x=640, y=360)]),
        ("mouse_up", {"x": 500, "y": 500}, [MouseUp(x=640, y=360)]),
        ("type", {"text": "tea"}, [Write(text="tea")]),
        ("type", {"text": "tea", "press_enter": True}, [Write(text="tea\n")]),
        (
            "type_text_at",
            {"x": 500, "y": 500, "text": "tea"},
            [MouseClick(x=640, y=360), Press(keys="Control+a"), Write(text="tea\n")],
        ),
        (
            "type_text_at",
            {"x": 500, "y": 500, "text": "", "press_enter": False},
            [MouseClick(x=640, y=360), Press(keys="Control+a"), Press(keys="Backspace")],
        ),
        (
            "type_text_at",
            {
                "x": 500,
                "y": 500,
                "text": "tea",
                "press_enter": False,
                "clear_before_typing": False,
            },
            [MouseClick(x=640, y=360), Write(text="tea")],
        ),
        ("press_key", {"key": "Enter"}, [Press(keys="Enter")]),
        ("key_down", {"key": "shift"}, [KeyDown(key="Shift")]),
        ("key_up", {"key": "shift"}, [KeyUp(key="Shift")]),
        ("hotkey", {"keys": ["control", "c"]}, [Press(keys="Control+c")]),
        ("key_combination", {"keys": "Control+C"}, [Press(keys="Control+C")]),
        (
            "scroll",
            {"x": 500, "y": 500, "direction": "down"},
            [MouseWheel(x=640, y=360, dx=0, dy=576)],
        ),
        (
            "scroll_at",
            {"x": 500, "y": 500, "direction": "left", "magnitude": 100},
            [MouseWheel(x=640, y=360, dx=-128, dy=0)],
        ),
        ("scroll_document", {"direction": "up"}, [Scroll(direction=ScrollDirection.UP)]),
        (
            "drag_and_drop",
            {"x": 0, "y": 0, "destination_x": 500, "destination_y": 500},
            [MouseDrag(path=(Point(x=0, y=0), Point(x=640, y=360)))],
        ),
        ("wait", {"seconds": 2}, [Wait(seconds=2)]),
        ("wait_5_seconds", {}, [Wait(seconds=5)]),
        ("take_screenshot", {}, [Wait(seconds=0)]),
        ("open_web_browser", {}, [Wait(seconds=0)]),
        ("navigate", {"url": "http://shop.test/"}, [Goto(url="http://shop.test/")]),
        ("go_back", {}, [Back()]),
    ],
)
def test_geminis_functions_of_both_sets(
    name: str, said: dict[str, Any], actions: list[Action]
) -> None:
    assert gemini(name, **said) == tuple(actions)


@pytest.mark.parametrize(
    ("name", "said", "why"),
    [
        ("click", {"x": 1001, "y": 5}, "outside of the picture, which is 1000x1000"),
        ("click", {"x": 5}, "y: Field required"),
        ("search", {}, "no search engine"),
        ("fly", {}, "no function 'fly'"),
    ],
)
def test_what_geminis_vocabulary_does_not_have_is_named(
    name: str, said: dict[str, Any], why: str
) -> None:
    read = gemini(name, **said)
    assert isinstance(read, Misread)
    assert why in read.why


@pytest.mark.parametrize(
    "space", [OpenAiComputer(), AnthropicComputer(), GeminiComputer(), PointerTools()]
)
def test_without_a_picture_no_place_is_known(space: Any) -> None:
    said = {
        "OpenAiComputer": ("computer", {"actions": [{"type": "click", "x": 1, "y": 1}]}),
        "AnthropicComputer": ("computer", {"action": "left_click", "coordinate": [1, 1]}),
        "GeminiComputer": ("click", {"x": 1, "y": 1}),
        "PointerTools": ("mouse_click", {"x": 1, "y": 1}),
    }
    name, arguments = said[type(space).__name__]
    assert space.read(name, json.dumps(arguments), seen(AXTREE)) == Misread(
        "there is no picture to name a place in"
    )
    assert not isinstance(space.read(name, json.dumps(arguments), seen(SOM)), Misread)


def test_places_and_ways_are_scaled_from_the_picture_that_was_sent() -> None:
    assert openai({"type": "click", "x": 100, "y": 50}, most=HALF) == (MouseClick(x=200, y=100),)
    assert anthropic(most=HALF, action="mouse_move", coordinate=[639, 359]) == (
        MouseMove(x=1278, y=718),
    )
    assert isinstance(openai({"type": "click", "x": 640, "y": 50}, most=HALF), Misread)
    generic = PointerTools(HALF)
    said = {"x": 100, "y": 50, "dx": 0, "dy": 30}
    assert generic.read("mouse_wheel", json.dumps(said), PAGE) == (
        MouseWheel(x=200, y=100, dx=0, dy=60),
    )
    path = {"path": [{"x": 1, "y": 2}, {"x": 3, "y": 4}], "button": "right"}
    assert generic.read("mouse_drag", json.dumps(path), PAGE) == (
        MouseDrag(path=(Point(x=2, y=4), Point(x=6, y=8)), button="right"),
    )
    assert generic.read("mouse_down", "{}", PAGE) == (MouseDown(),)
    assert generic.read("write", '{"text": "tea"}', PAGE) == (Write(text="tea"),)
    assert isinstance(generic.read("mouse_move", '{"x": 700, "y": 5}', PAGE), Misread)


@pytest.mark.parametrize(
    ("viewport", "most", "sent"),
    [
        (Size(1280, 720), None, Size(1280, 720)),
        (Size(1280, 720), Size(1280, 800), Size(1280, 720)),
        (Size(1280, 720), Size(1024, 768), Size(1024, 576)),
        (Size(800, 2000), Size(1024, 768), Size(307, 768)),
        (Size(800, 600), Size(1600, 1200), Size(800, 600)),
    ],
)
def test_a_picture_keeps_its_shape_and_is_never_enlarged(
    viewport: Size, most: Size | None, sent: Size
) -> None:
    assert viewport.within(most) == sent


SIZES = st.builds(Size, st.integers(1, 4000), st.integers(1, 4000))


@given(SIZES, SIZES, st.data())
def test_every_pixel_of_a_picture_is_a_place_in_the_viewport(
    viewport: Size, most: Size, data: st.DataObject
) -> None:
    sent = viewport.within(most)
    shown = Shown(viewport, sent)
    x = data.draw(st.integers(0, sent.width - 1))
    y = data.draw(st.integers(0, sent.height - 1))
    point = shown.point(x, y)
    assert not isinstance(point, Misread)
    assert 0 <= point[0] <= viewport.width - 1
    assert 0 <= point[1] <= viewport.height - 1
    # Printed again on the picture's scale, it is the pixel that was said, or the edge's.
    back = (point[0] * sent.width / viewport.width, point[1] * sent.height / viewport.height)
    assert round(back[0]) in {x, x - 1}
    assert round(back[1]) in {y, y - 1}


def test_the_picture_of_marks_is_a_picture_too() -> None:
    page = replace(PAGE, parts={SOM: FORMS[SOM]})
    assert Size.of(page) == WIDE
