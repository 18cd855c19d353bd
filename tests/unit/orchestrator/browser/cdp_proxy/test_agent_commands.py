"""What of a client's commands acts, and what of Arena's vocabulary it is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_core.actions import Action, CloseTab, Goto, MouseClick, MouseWheel, NewTab, Press
from orchestrator.browser.cdp_proxy.agent_commands import Act, Part, act_of


def act(method: str, **params: Any) -> Act | None:
    return act_of(method, params, "T")


@pytest.mark.parametrize(
    ("method", "params", "action"),
    [
        ("Page.navigate", {"url": "http://x/"}, Goto(url="http://x/")),
        ("Page.reload", {}, None),
        ("Page.navigateToHistoryEntry", {"entryId": 3}, None),
        ("Target.createTarget", {"url": "about:blank"}, NewTab()),
        ("Page.close", {}, CloseTab()),
        (
            "Input.dispatchMouseEvent",
            {"type": "mousePressed", "x": 3, "y": 4.5, "button": "right", "clickCount": 2},
            MouseClick(x=3, y=4.5, button="right", count=2),
        ),
        ("Input.dispatchMouseEvent", {"type": "mousePressed", "x": "far", "y": 1}, None),
        (
            "Input.dispatchKeyEvent",
            {"type": "keyDown", "key": "Enter", "text": "\r"},
            Press(keys="Enter"),
        ),
        (
            "Input.dispatchKeyEvent",
            {"type": "rawKeyDown", "key": "a", "modifiers": 2},
            Press(keys="Control+a"),
        ),
        (
            "Input.dispatchKeyEvent",
            {"type": "rawKeyDown", "key": "Control", "modifiers": 2},
            Press(keys="Control"),
        ),
        ("DOM.setFileInputFiles", {"files": ["x"]}, None),
    ],
)
def test_some_commands_are_steps_of_their_own(
    method: str, params: dict[str, Any], action: Action | None
) -> None:
    found = act(method, **params)
    assert found is not None
    assert (found.part, found.action) == (Part.BEGINS, action)


def test_letters_and_wheel_turns_go_on_with_one_another() -> None:
    letter = act("Input.dispatchKeyEvent", type="keyDown", key="a", text="a")
    typed = act("Input.insertText", text="kettle")
    wheel = act("Input.dispatchMouseEvent", type="mouseWheel", x=1, y=2, deltaX=0, deltaY=120)
    assert letter is not None
    assert typed is not None
    assert wheel is not None
    assert [one.part for one in (letter, typed, wheel)] == [Part.CONTINUES] * 3
    assert (letter.text, typed.text) == ("a", "kettle")
    assert wheel.action == MouseWheel(x=1, y=2, dx=0, dy=120)


def _keys(*events: tuple[str, dict[str, Any]]) -> list[tuple[Part, str, str]]:
    found = [act("Input.dispatchKeyEvent", type=kind, **params) for kind, params in events]
    return [(one.part, one.kind, one.text) for one in found if one is not None]


def test_a_letter_that_comes_after_its_key_is_written_once() -> None:
    """browser-use sends a key without its text, and the text by itself."""
    for first in ("keyDown", "rawKeyDown"):
        sent = _keys(
            (first, {"key": "K", "modifiers": 8}), ("char", {"text": "K"}), ("keyUp", {"key": "K"})
        )
        assert sent == [
            (Part.CONTINUES, "write", ""),
            (Part.CONTINUES, "write", "K"),
            (Part.JOINS, "", ""),
        ]
    raw = _keys(("rawKeyDown", {"key": "k", "text": "k"}), ("char", {"key": "k", "text": "k"}))
    assert [text for _, _, text in raw] == ["", "k"]  # as chromedriver sends it
    key = act("Input.dispatchKeyEvent", type="keyDown", key="j")
    assert key is not None
    assert key.action == Press(keys="j")  # where no text follows, as for a page's shortcut


def test_a_chord_is_a_step_and_so_is_a_key_that_is_no_letter() -> None:
    for modifiers in (1, 2, 4, 2 | 8):
        for text in ({}, {"text": "a"}):
            sent = _keys(("keyDown", {"key": "a", "modifiers": modifiers, **text}))
            assert sent == [(Part.BEGINS, "press", "")]
    enter = _keys(("rawKeyDown", {"key": "Enter"}), ("char", {"text": "\r"}))
    assert enter == [(Part.BEGINS, "press", ""), (Part.JOINS, "", "")]


@pytest.mark.parametrize(
    ("method", "kind"),
    [
        ("Input.dispatchMouseEvent", "mouseReleased"),
        ("Input.dispatchMouseEvent", "mouseMoved"),
        ("Input.dispatchKeyEvent", "keyUp"),
        ("Input.dispatchKeyEvent", "char"),
    ],
)
def test_releases_and_moves_are_no_steps(method: str, kind: str) -> None:
    found = act(method, type=kind, x=1, y=1)
    assert found is not None
    assert found.part is Part.JOINS


@pytest.mark.parametrize("method", ["Runtime.evaluate", "DOM.getDocument", "Page.enable", ""])
def test_looking_is_no_step(method: str) -> None:
    assert act(method) is None


@given(
    st.sampled_from(["Input.dispatchMouseEvent", "Input.dispatchKeyEvent", "Page.navigate"]),
    st.dictionaries(
        st.sampled_from(["type", "x", "y", "button", "clickCount", "key", "text", "modifiers"]),
        st.none() | st.integers() | st.floats() | st.text() | st.just("mousePressed"),
    ),
)
def test_no_parameters_break_the_clock(method: str, params: dict[str, Any]) -> None:
    assert act(method, **params) is not None
