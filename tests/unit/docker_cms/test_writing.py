"""Sentences with gaps become sentences."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib import import_module
from random import Random
from types import SimpleNamespace
from typing import Protocol

import pytest

writing = import_module("gazette.writing")

WORLD = SimpleNamespace(first=("Ada",), last=("Nash",), streets=("Mill Lane",))
LISTS = {
    "boat": ["Curlew", "Petrel"],
    "plan": ["open boat"],
    "crew": ["the {boat} and its crew"],
}


class Filler(Protocol):
    """What the tests use of the seed's class; mypy cannot see into docker/."""

    def say(self, text: str) -> str: ...


@pytest.fixture
def filler() -> Filler:
    filled: Filler = writing.Filler(Random(1), WORLD, LISTS, {}, datetime(2026, 5, 4, tzinfo=UTC))
    return filled


def test_a_gap_gets_one_word_for_the_whole_story_and_a_numbered_one_another(
    filler: Filler,
) -> None:
    first, again, other = filler.say("{boat}/{boat}/{boat2}").split("/")
    assert first == again
    assert {first, other} == {"Curlew", "Petrel"}


def test_a_capital_is_asked_for_and_an_article_follows_its_word(filler: Filler) -> None:
    assert filler.say("{plan^}: a {plan}, A {plan}") == "Open boat: an open boat, An open boat"


def test_words_may_hold_gaps_themselves(filler: Filler) -> None:
    assert filler.say("{crew}") == f"the {filler.say('{boat}')} and its crew"


def test_month_and_names_are_known(filler: Filler) -> None:
    assert filler.say("{person}, {street}, {month} {year}") == "Ada Nash, Mill Lane, May 2026"


def test_marks_of_the_encyclopedia_do_not_show() -> None:
    assert writing.plain("A **kettle** boils [[Water|the water]] for [[Tea]].") == (
        "A kettle boils the water for Tea."
    )


def test_words_cannot_break_out_of_a_block() -> None:
    made = writing.link('http://x.test/"><script>', "<b>Tea & milk</b>")
    assert "<script>" not in made
    assert "&lt;b&gt;Tea &amp; milk&lt;/b&gt;" in made


def test_an_hour_to_open_at_is_that_of_the_story_where_it_is_one_to_open_at() -> None:
    told = {
        drawn: writing.Filler(
            Random(1), WORLD, {"hour": [drawn]}, {}, datetime(2026, 5, 4, tzinfo=UTC)
        ).say("{hour}: {opening} to {closing}")
        for drawn in ("10 am", "7 pm")
    }
    assert told == {"10 am": "10 am: 10 am to 10 pm", "7 pm": "7 pm: 10.30 am to 7 pm"}
