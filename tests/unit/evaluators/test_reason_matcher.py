"""A reason names what was found or missing; the intent repeated is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from quick_cases import ONE_QUICK

from arena_core.worlds import World
from evaluators.locators.answer import AnswerLocator, AnswerPart
from evaluators.matchers.reason import ReasonMatcher
from tasks.lint.blind_answers import repeated_reasons
from tasks.loader import load_suite
from tasks.schema import Suite, Task

RIGHT = {
    "cms-approve-as-an-author": (
        "Authors may only moderate comments on their own articles.",
        "There is no Approve action for this comment.",
        "I lack the permission to approve it.",
        "The article is by Beatrice Quigley, so this account has no right to its comments.",
        "An author cannot approve comments on other people's posts.",
    ),
    "cross-book-that-no-shop-of-ours-sells": (
        "Harbour & Pine sells no books.",
        "The shop does not stock A Field Guide to Fog.",
        "I searched for it: no book is offered there.",
    ),
    "forge-approve-a-merge-request": (
        "The forge does not have merge requests.",
        "No pull requests exist in Waypost.",
        "I couldn't find any merge requests: the project only tracks issues and commits.",
    ),
    "forum-helmet-poll": (
        "There is no such poll.",
        "Posts here are links and texts; nobody can vote on them.",
        "I could not find a poll in /f/cycling.",
        "The forum doesn't support polls.",
    ),
    "map-telephone-of-the-bandstand": (
        "No phone number is given for the Bandstand.",
        "The map has its address but not its telephone number.",
        "The entry lists no contact details.",
        "The phone number isn't listed on the map.",
    ),
    "shop-guarantee-of-a-turntable": (
        "No warranty is mentioned on the product page.",
        "The page does not say how long the turntable is guaranteed.",
        "The guarantee is not stated anywhere.",
        "Its description lacks any guarantee.",
    ),
    "shop-courier-of-an-order": (
        "The order page shows no tracking number.",
        "Tracking information isn't available for this order.",
        "The order was shipped, but the courier is never named.",
        "No tracking number could be found.",
    ),
    "wiki-head-of-the-kettle-museum": (
        "The article names nobody who works there.",
        "No director is mentioned.",
        "The encyclopedia does not say who the director is.",
        "The name of the director is missing from the article.",
    ),
}
NOTHING = (
    "",
    "-",
    "N/A",
    "It is impossible.",
    "This task cannot be completed with the given site.",
    "The information is not available.",
    "I do not know.",
    "No.",
    "Not found.",
)


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load_suite("arena-120")


def reason_of(suite: Suite, task: str) -> tuple[Task, ReasonMatcher]:
    [found] = [one for one in suite.tasks if one.id == task]
    [matcher] = [
        check.match
        for check in found.checks
        if isinstance(check.locate, AnswerLocator) and check.locate.part is AnswerPart.REASON
    ]
    assert isinstance(matcher, ReasonMatcher)
    return found, matcher


def met(matcher: ReasonMatcher, reason: str) -> bool:
    return matcher.match((reason,), World.OFFLINE).met


@ONE_QUICK
@pytest.mark.parametrize("task", RIGHT)
def test_a_plain_right_reason_is_taken(task: str, suite: Suite) -> None:
    _, matcher = reason_of(suite, task)
    refused = [one for one in RIGHT[task] if not met(matcher, one)]
    assert not refused


@pytest.mark.parametrize("task", RIGHT)
def test_a_reason_that_names_nothing_is_none(task: str, suite: Suite) -> None:
    found, matcher = reason_of(suite, task)
    attacks = [one.reason for one in repeated_reasons(found.intent)]
    assert [one for one in (*NOTHING, *attacks) if met(matcher, one)] == []


@pytest.mark.parametrize("task", RIGHT)
def test_a_reason_of_another_task_is_none(task: str, suite: Suite) -> None:
    _, matcher = reason_of(suite, task)
    others = [one for other, said in RIGHT.items() if other != task for one in said]
    passing = [one for one in others if met(matcher, one)]
    # "names nobody", "no phone number is given": words that two tasks share.
    assert len(passing) <= len(others) // 8, passing


@pytest.mark.parametrize(
    ("said", "is_met"),
    [
        ("no lid", True),
        ("The lid is missing", True),
        ("It has handles. It has no lid", True),
        ("I cannot find a lid", True),
        ("I cannot order a lid", False),
        ("Nothing can be done: order a lid", False),
        ("a lid", False),
        ("no solid base", False),
        ("it comes bare", True),
    ],
)
def test_what_is_missing_counts_only_where_it_is_said_to_be(said: str, *, is_met: bool) -> None:
    assert met(ReasonMatcher(missing=("lid",), found=("bare",)), said) is is_met


@pytest.mark.parametrize("given", [{}, {"missing": [" "]}, {"found": []}])
def test_a_reason_must_be_asked_for(given: dict[str, list[str]]) -> None:
    with pytest.raises(ValidationError, match="must name something"):
        ReasonMatcher.model_validate(given)


@given(st.text(max_size=200))
def test_no_text_makes_it_raise(text: str) -> None:
    met(ReasonMatcher(missing=("lid",), found=("bare",)), text)
