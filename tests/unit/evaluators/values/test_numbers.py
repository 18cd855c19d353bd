from __future__ import annotations

import time
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quick_cases import ONE_QUICK

from evaluators.values.numbers import read_numbers

AMOUNTS = st.decimals(
    min_value=-(10**9), max_value=10**9, places=2, allow_nan=False, allow_infinity=False
)


def _values(text: str) -> list[str]:
    return [f"{value:f}" for value in read_numbers(text).values]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("$1,234.50", "1234.50"),
        ("1.234,50 €", "1234.50"),
        ("1.234,5", "1234.5"),
        ("1,234", "1234"),
        ("1.234", "1.234"),
        ("1,5", "1.5"),
        ("0,500", "0.500"),
        ("1234,567", "1234.567"),
        ("1 234", "1234"),
        ("1\u00a0234\u202f567", "1234567"),
        ("1 234,50", "1234.50"),
        ("1'234", "1234"),
        ("1\u2019234", "1234"),
        ("1.234.567", "1234567"),
        ("12,345,678.9", "12345678.9"),
        ("\u22125", "-5"),
        ("\u20135", "-5"),
        ("+5", "5"),
        ("-$5", "-5"),
        ("$-5", "-5"),
        ("$ -5", "-5"),
        ("-EUR 5", "-5"),
        ("-.5", "-0.5"),
        ("(50)", "-50"),
        ("($1,234.50)", "-1234.50"),
        ("$(50)", "-50"),
        ("(50 EUR)", "-50"),
        ("(50%)", "-50"),
        ("the kettle (50)", "50"),
        ("(about 50)", "50"),
        ("12%", "12"),
        ("3 items", "3"),
        ("5km", "5"),
        ("3rd", "3"),
        ("5-star", "5"),
        ("1.5e3", "1500"),
        ("It is 1e5.", "100000"),
        ("It costs 5.", "5"),
        ("EUR5", "5"),
        ("US$5", "5"),
        ("12 m²", "12"),
        ("12 m2", "12"),
        ("1½", "1.5"),
        ("¾", "0.75"),
        ("٣", "3"),
        ("\uff15", "5"),
        ("5, that is 5.0", "5"),
        ("USB-C hub, 7 ports", "7"),
    ],
)
def test_a_number_is_read_as_people_write_it(text: str, number: str) -> None:
    numbers = read_numbers(text)
    assert numbers.values == (Decimal(number),)
    assert numbers.unreadable == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "()",
        "three",
        "NaN",
        "inf",
        "-Infinity",
        "A4",
        "m2",
        "m²",
        "snake_5",
        "a million",
        "٪",
        "$",
    ],
)
def test_text_without_a_number_holds_none(text: str) -> None:
    assert read_numbers(text).values == ()


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("12 or 13", ["12", "13"]),
        ("3-5", ["3", "5"]),
        ("4.5 / 5", ["4.5", "5"]),
        ("12:30", ["12", "30"]),
        ("2024-05-01", ["2024", "5", "1"]),
        ("12 34", ["12", "34"]),
        ("1 234 12", ["1", "234", "12"]),
        ("2024 123", ["2024", "123"]),
        ("12\n345", ["12", "345"]),
        ("12\t345", ["12", "345"]),
        ("10²", ["10", "2"]),
        ("2x4", ["2", "4"]),
        ("5 and -5", ["5", "-5"]),
        ("$3-$5", ["3", "5"]),
        ("10%-20%", ["10", "20"]),
    ],
)
def test_different_numbers_stay_different(text: str, numbers: list[str]) -> None:
    assert _values(text) == numbers


@pytest.mark.parametrize(
    "text",
    [
        "1.2.3",
        "1,2,3",
        "100,20,3",
        "5'11",
        "1,23.4,5",
        "1e999",
        "1e-999",
        "1e99999999999999999999",
        "1.234'5",
        "9" * 400,
        "1.2'3",
    ],
)
def test_what_only_looks_like_a_number_is_said_to_be_unreadable(text: str) -> None:
    numbers = read_numbers(text)
    assert numbers.values == ()
    assert numbers.unreadable


@given(AMOUNTS)
def test_a_number_survives_every_way_of_writing_it(amount: Decimal) -> None:
    sign, size = ("-" if amount < 0 else ""), abs(amount)
    english = f"{size:,.2f}"
    continental = english.translate(str.maketrans(",.", ".,"))
    spaced = english.replace(",", "\u00a0")
    swiss = english.replace(",", "'")
    for text in (
        f"{amount:f}",
        f"{sign}{english}",
        f"{sign}${english}",
        f"${sign}{english}",
        f"{sign}{continental} €",
        f"EUR {sign}{spaced}",
        f"It costs {sign}{swiss} francs.",
        f"{sign}{english}%",
        f"{amount:E}",
    ):
        assert read_numbers(text).values == (amount,), text


@given(st.decimals(min_value=1, max_value=10**6, places=1))
def test_parentheses_alone_make_an_amount_negative(amount: Decimal) -> None:
    assert read_numbers(f"({amount:,f})").values == (-amount,)
    assert read_numbers(f"see ({amount:,f})").values == (amount,)


@given(st.text(st.sampled_from("0123456789.,' -+()$€%eE\n\t½²٣x"), max_size=60))
def test_no_text_makes_reading_raise_or_find_infinity(text: str) -> None:
    assert all(value.is_finite() for value in read_numbers(text).values)


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    numbers = read_numbers(text)
    assert len(set(numbers.values)) == len(numbers.values)


@ONE_QUICK
@pytest.mark.parametrize("piece", ["1", "1 ", "1,", "1.", "-", "1e", "a1", "(", "1'", " 111"])
def test_long_text_is_read_in_time_that_grows_with_its_length(piece: str) -> None:
    started = time.process_time()
    read_numbers(piece * (50_000 // len(piece)))
    assert time.process_time() - started < 5
