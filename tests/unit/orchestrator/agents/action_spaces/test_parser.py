from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quick_cases import SLOW
from support.worlds.seen_pages import ABSENT, FORMS, seen

from arena_core.actions import Click, FocusTab, Type
from orchestrator.agents.action_spaces.parser import ACTION, Misread, build
from orchestrator.browser.observation import ARIA, AXTREE, BOXES, HTML, PRUNED_HTML, SCREENSHOT, SOM

NAMING = (AXTREE, ARIA, HTML, PRUNED_HTML, SOM, BOXES)


@pytest.mark.parametrize("form", NAMING)
def test_an_element_that_a_form_showed_can_be_named_and_no_other(form: str) -> None:
    assert build(seen(form), "click", element=11) == Click(element=11)
    assert build(seen(form), "click", element=ABSENT) == Misread(
        "there is no element 404 on the current page"
    )
    assert build(seen(f"{form}"), "focus_tab", index=1) == FocusTab(index=1)
    assert build(seen(form), "focus_tab", index=7) == Misread("there is no tab 7")


def test_every_form_is_looked_at() -> None:
    assert set(FORMS) == {*NAMING, SCREENSHOT}


def test_an_element_that_no_form_could_show_is_for_the_browser_to_find() -> None:
    assert build(seen(SCREENSHOT), "click", element=ABSENT) == Click(element=ABSENT)


@pytest.mark.parametrize(
    ("kind", "fields", "why"),
    [
        ("fly", {}, "'fly'"),
        ("click", {}, "element: Field required"),
        ("click", {"element": 11, "speed": 3}, "speed: Extra inputs"),
        ("click", {"element": 1.5}, "element: "),
        ("click", {"element": float("nan")}, "click: "),
        ("click", {"element": object()}, "click: "),
        ("type", {"element": 2, "text": "\ud800"}, "hex escape"),
        ("type", {"element": 2, "text": b"x"}, "type: "),
    ],
)
def test_what_is_no_action_is_named(kind: str, fields: dict[str, object], why: str) -> None:
    read = build(seen(AXTREE), kind, **fields)
    assert isinstance(read, Misread)
    assert why in read.why


@given(st.text(st.characters(codec="utf-8")))
def test_a_text_stays_as_it_was_said(text: str) -> None:
    assert build(seen(AXTREE), "type", element=2, text=text) == Type(element=2, text=text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@SLOW
@given(st.text() | st.sampled_from(["click", "type", "stop"]), JSON, JSON)
def test_no_field_makes_it_raise(kind: str, element: object, text: object) -> None:
    read = build(seen(AXTREE), kind, element=element, text=text)
    assert isinstance(read, Misread) or ACTION.validate_python(read) == read
