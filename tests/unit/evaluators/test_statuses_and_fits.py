"""Error pages are no visits, and elements are known by selectors and ancestors."""

from __future__ import annotations

from typing import Any

import pytest
from support.runs.make_evidence import key_node, make_check, make_evidence, make_step

from evaluators.checks import Check
from evaluators.evidence import (
    ActedElement,
    ElementEvent,
    Evidence,
    SelectorFit,
    StepEvidence,
    UrlVisit,
)
from evaluators.verdicts import CheckStatus, verdicts


def status(check: Check, *steps: StepEvidence) -> CheckStatus:
    evidence: Evidence = make_evidence(make_step(0), *steps)
    [verdict] = verdicts((check,), evidence)
    return verdict.status


def visit(answered: int | None) -> StepEvidence:
    gone = UrlVisit(tab=0, url="", logical="shop:/order/7", status=answered)
    return make_step(1).model_copy(
        update={"visits": (gone,), "logical": gone.logical, "status": answered}
    )


@pytest.mark.parametrize(
    ("asked", "answered", "met"),
    [
        (None, 200, True),
        (None, 304, True),
        (None, 404, False),
        (None, 500, False),
        (None, None, True),
        ("any", 404, True),
        (404, 404, True),
        ([403, 404], 404, True),
        (404, 200, False),
        (404, None, False),
    ],
)
def test_an_error_page_at_the_right_address_is_no_visit(
    asked: Any, answered: int | None, *, met: bool
) -> None:
    locate: dict[str, Any] = {"by": "url"} | ({} if asked is None else {"status": asked})
    node = key_node("shop:/order/7", locate=locate)
    assert (status(node, visit(answered)) is CheckStatus.MET) is met
    end = make_check(locate, "shop:/order/7")
    assert (status(end, visit(answered)) is CheckStatus.MET) is met


@pytest.mark.parametrize(
    ("known", "met"),
    [
        ({}, True),
        ({"trusted": True}, True),
        ({"trusted": False}, False),
        ({"trusted": False, "confirmed": True}, True),
    ],
)
def test_an_address_that_a_script_of_the_agents_set_is_no_visit(
    known: dict[str, bool], *, met: bool
) -> None:
    """Evidence that says nothing of it is from before, and read as it was."""
    said = {"tab": 0, "url": "", "logical": "shop:/order/7", "same_document": True, **known}
    moved = UrlVisit.model_validate(said)
    assert moved.model_dump(exclude_none=True) == {**said, **known} or known == {"trusted": True}
    step = visit(200).model_copy(update={"visits": (moved,), "is_forged": not met})
    assert (status(key_node("shop:/order/7"), step) is CheckStatus.MET) is met
    end = make_check({"by": "url"}, "shop:/order/7")
    assert (status(end, step) is CheckStatus.MET) is met


def click(*fits: SelectorFit, logical: str = "shop:/") -> StepEvidence:
    acted = ActedElement(
        event=ElementEvent.CLICK,
        path="a",
        tag="a",
        role="link",
        name="Buy",
        text="Buy",
        value=None,
        logical=logical,
        fits=fits,
    )
    return make_step(1).model_copy(update={"acted": (acted,)})


@pytest.mark.parametrize(
    ("distance", "ancestors", "met"),
    [(0, 0, True), (1, 0, False), (3, 3, True), (4, 3, False), (None, 20, False)],
)
def test_an_element_or_one_of_its_nearest_ancestors(
    distance: int | None, ancestors: int, *, met: bool
) -> None:
    locate = {"by": "element", "event": "click", "selector": ".buy", "ancestors": ancestors}
    fit = SelectorFit(selector=".buy", distance=distance, first=None)
    assert (status(key_node("Buy", locate=locate), click(fit)) is CheckStatus.MET) is met


def test_evidence_that_knows_nothing_of_a_selector_is_no_failure() -> None:
    locate = {"by": "element", "event": "click", "selector": ".buy"}
    other = SelectorFit(selector=".other", distance=0, first=0)
    assert status(key_node("Buy", locate=locate), click(other)) is CheckStatus.UNKNOWN


def test_an_element_of_another_site_does_not_count() -> None:
    locate = {"by": "element", "event": "click", "site": "shop"}
    assert status(key_node("Buy", locate=locate), click()) is CheckStatus.MET
    elsewhere = click(logical="forum:/")
    assert status(key_node("Buy", locate=locate), elsewhere) is CheckStatus.UNMET


def test_ancestors_of_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="selector"):
        key_node("Buy", locate={"by": "element", "event": "click", "ancestors": 2})
