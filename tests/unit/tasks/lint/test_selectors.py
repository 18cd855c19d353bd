from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.lint.selectors import selector_fault


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
        "input:user-invalid, p::first-line",
        "a[title='x|y != z']",
        r"a\:valid",
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
        ("[name=x", "malformed attribute selector"),
        ("a:not(.x", "unclosed pseudo-class"),
        ("a)", "unmatched pseudo-class close"),
        ("a[b)]", "malformed attribute selector"),
        ("[a='x]", "malformed attribute selector"),
        ("p[[[", "malformed attribute selector"),
        ("p..x", "a class begins with a letter"),
        ("#1a", "an id begins with a letter"),
        ("div >", "position 3"),
        (",a", "position 0"),
        ("a,,b", "must have a selector before it"),
        ("> a", "position 0"),
        ("a > > b", "must have a selector before it"),
        ("a:contains('x')", "browsers do not know ':contains'"),
        ("a:first", "':first' was detected as a pseudo-class"),
        ("li:nth-child(foo)", "invalid syntax for pseudo class ':nth-child'"),
        ("[data-id=12]", "the value in quotes"),
        ("a[href=/p/1]", "the value in quotes"),
        ("a: hover", "malformed pseudo-class selector"),
        ("a:not()", "expected a selector"),
        ("a|b", "browsers do not know 'a|'"),
        ("[a!=b]", "browsers do not know '!='"),
        ("a:-soup-contains(x)", "browsers do not know ':-soup-contains'"),
    ],
)
def test_what_is_no_css_is_said_to_be_none(selector: str, says: str) -> None:
    assert says in (selector_fault(selector) or "")


@given(st.text())
def test_no_text_makes_it_raise(selector: str) -> None:
    selector_fault(selector)
