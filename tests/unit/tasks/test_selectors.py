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
        "a > b ~ c + d, e",
        "a>b~c+d",
        ":is(a, b.c) > d:has(> e, + f)",
        "[data-id='12' i]",
        "li:nth-child(2n+1 of .x)",
        "li:nth-of-type( odd )",
        "a:not(b, c):focus-visible",
        "*|a",
        "é.ü",
        r"\31 23",
        "input:-webkit-autofill",
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
        ("p[[[", "']' is missing"),
        ("p..x", "'..x' names no class or id"),
        ("#1a", "'#1a' names no class or id"),
        ("div >", "must stand before the end"),
        (",a", "must stand before ',a'"),
        ("a,,b", "must stand before ',b'"),
        ("> a", "must stand before '> a'"),
        ("a > > b", "must stand before '> b'"),
        ("a:contains('x')", "browsers do not know ':contains(…)'"),
        ("a:first", "browsers do not know ':first'"),
        ("li:nth-child(foo)", "takes odd, even, or a step"),
        ("[data-id=12]", "values stand in quotes"),
        ("a[href=/p/1]", "values stand in quotes"),
        ("a: hover", "':' must be followed by a name"),
        ("a:not()", "must stand before ')'"),
        ("a|b", "must stand before '|b'"),
    ],
)
def test_what_is_no_css_is_said_to_be_none(selector: str, says: str) -> None:
    assert says in (selector_fault(selector) or "")


@given(st.text())
def test_no_text_makes_it_raise(selector: str) -> None:
    selector_fault(selector)
