"""A person's events as actions: what begins one, and what belongs to the one before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from arena_core.actions import Action, MouseClick, MouseDrag, MouseUp, Point, Press, Write
from evaluators.evidence import ElementEvent
from orchestrator.browser.tabs.watcher import EventReport, Hand
from orchestrator.episode.person.steps import begun, goes_on, grown

E = ElementEvent
HERE = Hand(button="left", x=10, y=20)


def event(kind: ElementEvent, path: str = "#a", **more: Any) -> EventReport:
    found = {"tag": "input", "role": "textbox", "name": "", "text": "", "value": None, "url": "u"}
    return EventReport.model_validate(
        {**found, "event": kind, "path": path, "hand": HERE if kind is E.CLICK else None, **more}
    )


def actions(*events: EventReport) -> Sequence[Action]:
    found: list[Action] = []
    last = None
    for one in events:
        if goes_on(last, one):
            found[-1] = grown(found[-1], one)
        else:
            found.append(begun(one))
        last = one
    return found


def test_a_field_that_is_clicked_into_and_filled_is_one_action() -> None:
    letters = [event(E.INPUT, value=text) for text in ("t", "ti", "tin")]
    assert actions(event(E.CLICK), *letters, event(E.CHANGE, value="tin")) == [Write(text="tin")]


def test_two_fields_are_two_actions_though_the_first_says_its_change_late() -> None:
    first = [event(E.INPUT, value="tin"), event(E.CHANGE, value="tin")]
    assert actions(*first, event(E.CLICK, "#b"), event(E.INPUT, "#b", value="x")) == [
        Write(text="tin"),
        Write(text="x"),
    ]


def test_the_same_field_of_another_page_is_another_action() -> None:
    assert len(actions(event(E.INPUT, value="a"), event(E.INPUT, value="b", url="v"))) == 2


def test_nothing_of_a_secret_field_is_in_an_action() -> None:
    assert actions(event(E.CLICK), event(E.INPUT), event(E.INPUT)) == [MouseClick(x=10, y=20)]
    assert actions(event(E.INPUT)) == [Write(text="")]


def test_a_label_and_its_box_are_one_click() -> None:
    label = event(E.CLICK, "#label", tag="label", role="label", name="I agree")
    box = {"role": "checkbox", "name": "I agree", "value": "true"}
    ticked = [event(E.CLICK, hand=None, **box), event(E.INPUT, **box), event(E.CHANGE, **box)]
    assert actions(label, *ticked) == [MouseClick(x=10, y=20)]
    other = event(E.CLICK, "#b", **{**box, "name": "Another"})
    assert len(actions(label, other)) == 2


def test_enter_in_a_form_is_one_key_whether_it_has_a_button_or_not() -> None:
    typed, sent = event(E.INPUT, value="tin"), event(E.SUBMIT, "form", tag="form")
    by_button = event(E.CLICK, "#send", tag="button", role="button", hand=None)
    assert actions(typed, by_button, sent) == [Write(text="tin"), Press(keys="Enter")]
    assert actions(typed, sent) == [Write(text="tin"), Press(keys="Enter")]
    assert actions(event(E.CLICK, "#send", tag="button"), sent) == [MouseClick(x=10, y=20)]


def test_two_clicks_are_two_actions_though_they_are_on_one_element() -> None:
    assert len(actions(event(E.CLICK), event(E.CLICK))) == 2


def test_a_drag_is_one_action_with_the_click_that_the_browser_makes_of_it() -> None:
    there = Hand(button="left", x=30, y=40)
    drag, drop = event(E.DRAG, hand=HERE), event(E.DROP, "#b", hand=there)
    assert actions(drag, drop, event(E.CLICK, "body")) == [
        MouseDrag(path=(Point(x=10, y=20), Point(x=30, y=40)))
    ]


@pytest.mark.parametrize(
    ("more", "action"),
    [
        ({"hand": Hand(button="middle", x=1, y=2)}, MouseClick(x=1, y=2, button="middle")),
        ({"hand": Hand(button="left", x=-5, y=1e9)}, MouseClick(x=0, y=100_000)),
        ({"hand": Hand(button="left", x=None, y=None)}, MouseUp()),
        ({"hand": None}, Press(keys="Enter")),
    ],
)
def test_a_click_is_where_the_mouse_was_or_a_key(more: dict[str, Any], action: Action) -> None:
    assert actions(event(E.CLICK, **more)) == [action]


def test_what_a_field_holds_is_bounded() -> None:
    (action,) = actions(event(E.INPUT, value="x" * 2_000_000))
    assert isinstance(action, Write)
    assert len(action.text) == 100_000
