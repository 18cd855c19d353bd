from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.selectors import selector_fault


@pytest.mark.parametrize(
    "selector",
    [
        "h1",
        "#total .price",
        'a[href^="/p/12"]',
        "li:nth-child(2) > a:not([rel='x(']):hover",
        r"#cdr-id\:1 \[x",
        "*",
        "::before",
        "[name='it\"s']",
    ],
)
def test_css_is_sound(selector: str) -> None:
    assert selector_fault(selector) is None


@pytest.mark.parametrize(
    ("selector", "says"),
    [
        ("", "is empty"),
        ("  ", "is empty"),
        ("//div[@id='x']", "does not begin with '/'"),
        ("/html/body", "does not begin with '/'"),
        ("xpath=//a", "does not begin with 'xpath='"),
        ("text=Buy", "does not begin with 'text='"),
        ("a:has-text('Buy')", "browsers do not know ':has-text('"),
        ("form >> input", "browsers do not know '>>'"),
        ("[name=x", "']' is missing"),
        ("a:not(.x", "')' is missing"),
        ("a)", "')' closes nothing"),
        ("a[b)]", "')' closes nothing"),
        ("[a='x]", "''' is missing"),
    ],
)
def test_what_is_no_css_is_said_to_be_none(selector: str, says: str) -> None:
    assert says in (selector_fault(selector) or "")


@given(st.text())
def test_no_text_makes_it_raise(selector: str) -> None:
    selector_fault(selector)
