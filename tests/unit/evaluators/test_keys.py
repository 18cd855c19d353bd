from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_core.actions import key_fault


@pytest.mark.parametrize(
    "keys",
    ["Enter", "a", "A", "+", " ", "ctrl+a", "Control+Shift+T", "Control++", "F12", "NumpadEnter"],
)
def test_keys_of_a_keyboard_are_known(keys: str) -> None:
    assert key_fault(keys) is None


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ("Foo+Bar", "no key 'Foo'"),
        ("Control+Bar", "no key 'Bar'"),
        ("enter", "named like Enter"),
        ("", "no key ''"),
        ("F13", "no key 'F13'"),
        ("é", "no key 'é'"),
    ],
)
def test_a_key_that_no_keyboard_has_is_named(keys: str, says: str) -> None:
    assert says in (key_fault(keys) or "")


@given(st.text())
def test_no_text_makes_it_raise(keys: str) -> None:
    key_fault(keys)
