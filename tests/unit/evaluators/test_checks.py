from __future__ import annotations

import pytest
from pydantic import ValidationError
from support.runs.make_evidence import ANSWER, DB, PAGE, URL, make_check

ELEMENT = {"by": "element", "event": "click"}


@pytest.mark.parametrize(
    "value", ["", "  ", "\u200b", [], ["tea", ""], {"offline": "a", "online": ""}]
)
def test_an_include_that_everything_holds_is_refused(value: object) -> None:
    with pytest.raises(ValidationError, match="must ask for something"):
        make_check(ANSWER, value, how="include")


@pytest.mark.parametrize("value", [True, [False], {"offline": True, "online": "yes"}])
def test_a_bare_yes_is_refused_instead_of_becoming_one(value: object) -> None:
    with pytest.raises(ValidationError, match="put the text in quotes"):
        make_check(ANSWER, value)


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), {"offline": 1, "online": float("nan")}]
)
def test_numbers_that_are_none_are_refused(value: object) -> None:
    with pytest.raises(ValidationError, match="finite"):
        make_check(ANSWER, value, how="number")
    with pytest.raises(ValidationError):
        make_check(ANSWER, value)


@pytest.mark.parametrize("locate", [ANSWER, DB, {**PAGE, "at": "shop:/basket"}])
def test_a_key_node_looks_at_what_happens_at_a_step(locate: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        make_check(locate, "x", when="step")


def test_an_element_is_acted_on_at_a_step() -> None:
    make_check(ELEMENT, "x", when="step")
    with pytest.raises(ValidationError, match="needs `when: step`"):
        make_check(ELEMENT, "x", when="end")


@pytest.mark.parametrize("locate", [{**URL, "part": "query"}, {**URL, "key": "q"}])
def test_a_query_part_and_its_key_stand_together(locate: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="`key` names the parameter"):
        make_check(locate, "x")
