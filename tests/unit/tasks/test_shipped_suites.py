"""The suites that travel with Arena: nothing without content passes, and right answers do."""

from __future__ import annotations

import re
from functools import cache

import pytest
from quick_cases import SLOW

from arena_core.actions import Infeasible, Stop
from arena_core.worlds import World
from evaluators.checks import Check, match
from evaluators.evidence import Evidence, UrlVisit
from evaluators.locators.base import LookingLocator, Subject
from evaluators.scores import score
from tasks.lint.blind_answers import attacked, reason_of
from tasks.lint.reference_rules import ended_at_once
from tasks.loader import load_source
from tasks.schema import Family, Task
from tasks.sources import SuiteSource

# Right, in another form than the reference's.
RIGHT = {
    "arena-120": {
        "cms-evening-tide": ["7:30 pm", "7.30 p.m.", "At 19:30.", "7:30"],
        "cms-mail-of-ada": ["Her address is reader238@example.org."],
        "cms-busier-beatrice": ["Beatrice Navarro, with 78 posts.", "Beatrice Navarro (78)"],
        "cms-first-comment-1": ["The first comment was written by Rosie Y."],
        "cross-dice-city-people": ["515,543 people"],
        "cross-posted-price-in-stock-1": ["51", "There are 51 in stock."],
        "forge-hours-on-the-station-list": ["9 hours", "9.00 hours"],
        "forge-release-day-1": ["Wednesdays at 16.30", "On Wednesdays at 4:30 pm"],
        "forum-best-of-all-time-1": ['"Lockwood80"', "**Lockwood80**"],
        "map-telephone-of-a-cafe": ["01632 960315", "+441632960315"],
        "map-opening-of-the-clock-museum": ["12:00", "noon", "12 pm"],
        "map-how-far-3": ["13", "13.0 km"],
        "shop-day-of-shipping-1": ["27 May 2026", "May 27, 2026"],
        "shop-refund-of-the-camera": ["390.50", "390.50 GBP"],
        "tools-potatoes-of-the-chowder": ["450 g haddock, 600 g potatoes and 40 g butter"],
        "wiki-delivery-by-the-handbook": ["£3.95 and £9.95", "standard £3.95, express £9.95"],
        "wiki-distance-of-the-loneliest-island": ["17", "17 kilometres"],
    },
    "demo": {
        "shop-latest-order-total": ["44.95", "It cost £44.95 in all."],
        "shop-backgammon-set": ["Krakow", "Kraków, Poland"],
        "both-people-of-the-tablecloths-city": ["252687", "252,687 inhabitants"],
    },
}
WRONG = {
    "arena-120": {
        "cms-evening-tide": ["07:30", "between 19:00 and 20:00"],
        "cms-busier-beatrice": ["78 and 77", "Beatrice Navarro, 77", "Beatrice Quigley, 78"],
        "forge-hours-on-the-station-list": ["9 minutes", "about 9", "90"],
        "forge-release-day-1": ["Wednesday", "16:30", "Wednesday or Thursday, 16:30"],
        "map-telephone-of-a-cafe": ["960315", "+44 1632 960316"],
        "shop-day-of-shipping-1": ["27 May 2027", "May 2026"],
        "tools-potatoes-of-the-chowder": ["600, 450, 40", "450, 600", "450, 600, 40, 2"],
        "wiki-delivery-by-the-handbook": ["£9.95, £3.95", "£3.95"],
    },
    "demo": {
        "shop-latest-order-total": ["$44.95", "£44.95 or £45"],
        "shop-backgammon-set": ["Poland", "not Kraków"],
    },
}


@cache
def source_of(suite: str) -> SuiteSource:
    """Read a suite once for all tests: long ones take half a second."""
    return load_source(suite)


def answer_check(suite: str, task: str) -> Check:
    [found] = [one for one in source_of(suite).suite.tasks if one.id == task]
    [check] = [one for one in found.checks if one.locate.subject is Subject.ANSWER]
    return check


@SLOW
@pytest.mark.parametrize("suite", RIGHT)
def test_a_right_answer_in_another_form_is_right(suite: str) -> None:
    for task, answers in RIGHT[suite].items():
        check = answer_check(suite, task)
        for answer in answers:
            assert match(check, (answer,), World.OFFLINE).met, (task, answer)


@pytest.mark.parametrize("suite", WRONG)
def test_a_wrong_answer_near_the_right_one_is_wrong(suite: str) -> None:
    for task, answers in WRONG[suite].items():
        check = answer_check(suite, task)
        for answer in answers:
            assert not match(check, (answer,), World.OFFLINE).met, (task, answer)


@SLOW
@pytest.mark.parametrize("suite", ["demo", "arena-120", "miniwob", "miniwob-56"])
def test_no_answer_without_content_passes(suite: str) -> None:
    source = source_of(suite)
    assert [str(one) for one in attacked(source.suite, source)] == []


@pytest.mark.parametrize("suite", ["demo", "arena-120"])
def test_every_answer_is_read_as_a_type(suite: str) -> None:
    for task in source_of(suite).suite.tasks:
        for check in task.checks:
            if check.locate.subject is Subject.ANSWER and task.family is not Family.UNACHIEVABLE:
                assert check.match.how == "answer", task.id


@pytest.mark.parametrize("suite", ["demo", "arena-120"])
def test_what_cannot_be_done_is_asked_like_what_can(suite: str) -> None:
    words = re.compile(r"N/A|cannot|not possible|does not say", re.IGNORECASE)
    tasks = [one for one in source_of(suite).suite.tasks if one.family is Family.UNACHIEVABLE]
    assert len(tasks) == (1 if suite == "demo" else 8)
    for task in tasks:
        assert words.search(task.intent) is None, task.id


def gives_up(suite: str) -> list[tuple[Task, str]]:
    reasons = ((one, reason_of(one, World.OFFLINE)) for one in source_of(suite).suite.tasks)
    return [(task, reason) for task, reason in reasons if reason is not None]


def outcome(task: Task, evidence: Evidence) -> str:
    """Score what is judged from the path and the ending; nothing else was looked at here."""
    reading = [one for one in task.checks if not isinstance(one.locate, LookingLocator)]
    return str(score(reading, evidence).outcome)


@pytest.mark.parametrize("suite", ["demo", "arena-120"])
def test_what_cannot_be_done_passes_who_looked_and_says_why(suite: str) -> None:
    for task, reason in gives_up(suite):
        seen = [str(getattr(one.match, "value", "")) for one in task.key_nodes if one.required]
        assert seen, task.id
        for ending, passes in (
            (Infeasible(reason=reason), "success"),
            (Stop(answer=f"N/A: {reason}"), "success"),
            (Stop(answer="N/A"), "failure"),
            (Stop(answer=reason), "failure"),
        ):
            left = ended_at_once(task, World.OFFLINE, ending)
            visits = tuple(UrlVisit(tab=0, url="", logical=page, status=200) for page in seen)
            last = left.steps[1].model_copy(update={"visits": visits})
            looked = left.model_copy(update={"steps": (left.steps[0], last)})
            assert outcome(task, looked) == passes, (task.id, ending)
            assert outcome(task, left) == "failure", (task.id, ending)
