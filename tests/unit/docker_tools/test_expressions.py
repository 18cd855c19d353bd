"""The calculator's own parser: what it understands, and that nothing else gets through."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

expressions = import_module("desk.expressions")
functions = import_module("desk.functions")
calculate = expressions.calculate


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2+3*4", "14"),
        ("(2+3)*4", "20"),
        ("2(3+4)", "14"),
        ("10 - 4 - 3", "3"),
        ("2^3^2", "512"),
        ("-2^2", "-4"),
        ("2^-1", "0.5"),
        ("7 mod 3", "1"),
        ("-7 mod 3", "2"),
        ("0.1 + 0.2", "0.3"),
        ("1/3", "0.333333333333"),
        ("5!", "120"),
        ("3!!", "720"),
        ("2 × 3 ÷ 4 \N{MINUS SIGN} 1", "0.5"),
        ("√16", "4"),
        ("sqrt(2)^2", "2"),
        ("2 pi", "6.28318530718"),
        ("round(2.345, 2)", "2.35"),
        ("mean(84.5, 86, 81.25, 87.75)", "84.875"),
        ("log(1000)", "3"),
        ("log(8, 2)", "3"),
        ("1e3 + 1", "1001"),
        ("1/7*7", "1"),
        ("10^20", "1 × 10^20"),
        ("1.5/10^12", "1.5 × 10^-12"),
        ("1200000", "1200000"),
    ],
)
def test_an_expression_has_the_value_that_arithmetic_gives_it(text: str, value: str) -> None:
    assert calculate(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [("80 - 15%", "68"), ("200 + 10%", "220"), ("200 * 10%", "20"), ("50%", "0.5"),
     ("100 + 10% + 10%", "121"), ("100 - (5%)", "99.95")],
)  # fmt: skip
def test_a_percentage_added_is_one_of_what_stands_before_it(text: str, value: str) -> None:
    assert calculate(text) == value


@pytest.mark.parametrize(
    ("text", "angle", "value"),
    [("sin(30)", "degrees", "0.5"), ("sin(pi/2)", "radians", "1"), ("cos 90", "degrees", "0"),
     ("tan(45)", "degrees", "1"), ("asin(1)", "degrees", "90"), ("sin(360*10^9)", "degrees", "0")],
)  # fmt: skip
def test_angles_are_taken_as_asked(text: str, angle: str, value: str) -> None:
    assert calculate(text, expressions.Angle(angle)) == value


@pytest.mark.parametrize(
    "text",
    ["", "  ", "1+", "(1", "1)", "1/0", "5 mod 0", "0^0", "sqrt(-1)", "ln(0)", "2.5!", "1000!",
     "9^9^9^9", "10^2000", "tan 90", "asin(2)", "1..2", "1,2", "max()", "sqrt(1,2)", "foo(1)",
     "__import__('os')", "().__class__", "1;2", "a=1", "lambda: 1", "(" * 60 + "1" + ")" * 60,
     "-" * 100 + "1", "1" * 300, "2^" * 60 + "2", "round(1, 1000)"],
)  # fmt: skip
def test_what_has_no_value_is_refused_with_a_reason(text: str) -> None:
    with pytest.raises(functions.CalculationError) as refused:
        calculate(text)
    assert str(refused.value).endswith(".")


@given(st.text(alphabet="0123456789.+-*/^!%(), modsqrtpie√×", max_size=60) | st.text(max_size=60))
def test_any_text_has_a_value_or_a_reason_why_not(text: str) -> None:
    try:
        value = calculate(text)
    except functions.CalculationError as refused:
        assert str(refused)  # noqa: PT017 - both ways are right
    else:
        assert Decimal(value.replace(" × 10^", "e")).is_finite()


TREES = st.recursive(
    st.integers(0, 99).map(lambda number: (str(number), Fraction(number))),
    lambda inner: st.tuples(inner, st.sampled_from("+-*"), inner).map(
        lambda parts: (
            f"({parts[0][0]}{parts[1]}{parts[2][0]})",
            {"+": Fraction.__add__, "-": Fraction.__sub__, "*": Fraction.__mul__}[parts[1]](
                parts[0][1], parts[2][1]
            ),
        )
    ),
    max_leaves=5,
)


@given(TREES)
def test_sums_and_products_of_whole_numbers_are_exact(tree: tuple[str, Fraction]) -> None:
    text, value = tree
    assert Fraction(calculate(text).replace(" × 10^", "e")) == value
