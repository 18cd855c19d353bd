"""What a database or an API gives, as the text that matchers compare."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from evaluators.values.text import as_text, rows_as_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (1, "1"),
        (Decimal("39.90"), "39.90"),
        (3.5, "3.5"),
        ("", ""),
        ("Käthe", "Käthe"),
        (b"K\xc3\xa4the", "Käthe"),
        (b"\xff", "\ufffd"),
        (date(2026, 11, 21), "2026-11-21"),
        ([1, "ä", None], '[1, "ä", null]'),
        ({"b": 1, "a": [True]}, '{"a": [true], "b": 1}'),
    ],
)
def test_a_value_becomes_the_text_a_person_would_write_in_a_check(value: object, text: str) -> None:
    assert as_text(value) == text


def test_a_row_is_one_value_with_its_columns_side_by_side() -> None:
    assert rows_as_text([(1, "kettle"), (None, "pot")]) == ("1 | kettle", "null | pot")


def test_no_rows_are_no_values_and_not_one_empty_one() -> None:
    assert rows_as_text([]) == ()
    assert rows_as_text([("",)]) == ("",)
