"""Readers of the newspaper speak of the article, answer each other, and hardly repeat anybody."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from quick_cases import SLOW

pytestmark = SLOW

WHERE = re.compile(r"(?<=[.!?]) ")


def masked(text: str) -> str:
    """Return a sentence without its numbers and names."""
    bare = re.sub(r"£?\d[\d.,]*", "#", text)
    return re.sub(r"(?<=[^.!?:] )[A-Z][\w'&]+(?: [A-Z][\w'&]+)*", "@", bare).lower()


@pytest.fixture(scope="module")
def comments(edition: SimpleNamespace) -> list[Any]:
    return [one for one in edition.comments if one.approved != "spam"]


def threads(comments: list[Any]) -> Iterator[list[Any]]:
    held = defaultdict(list)
    for one in comments:
        held[one.story.id].append(one)
    yield from held.values()


def test_hardly_anybody_says_what_another_has_said(comments: list[Any]) -> None:
    sentences = [masked(one) for comment in comments for one in WHERE.split(comment.text)]

    assert len(sentences) > 10_000
    assert len(set(sentences)) / len(sentences) > 0.8


def test_nobody_repeats_a_sentence_below_the_same_article(comments: list[Any]) -> None:
    for thread in threads(comments):
        texts = [one.text for one in thread]
        assert len(set(texts)) == len(texts)


def test_an_answer_is_one_to_the_question_above_it(comments: list[Any]) -> None:
    kind = import_module("talking").Kind
    answers = [one for one in comments if one.remark.kind is kind.ANSWER]

    assert len(answers) > 300
    for one in answers:
        assert one.parent.remark.kind is kind.ASK
        assert one.remark.point == one.parent.remark.point


def test_who_replies_speaks_of_the_same_point_and_not_to_oneself(comments: list[Any]) -> None:
    for one in comments:
        if one.parent:
            assert one.remark.point == one.parent.remark.point
            assert one.reader != one.parent.reader


def test_what_is_quoted_was_written(comments: list[Any]) -> None:
    quoted = 0
    for one in comments:
        if one.parent and (found := re.match(r'"(.{12,}?)(?: …)?"[?:,]? ', one.text)):
            quoted += 1
            assert found[1].lower() in one.parent.text.lower()
    assert quoted > 50


def test_comments_are_whole_sentences_without_gaps(comments: list[Any]) -> None:
    for one in comments:
        assert not re.search(r"[{}\[\]|]|  |\.\.|None| ,|\?\.", one.text), one.text
        assert re.match(r"[A-Z\d\"£]", one.text), one.text


def test_a_story_is_not_spoken_of_with_what_it_does_not_tell(comments: list[Any]) -> None:
    told = [one for one in comments if "Recipes" in one.story.tags]
    assert told
    for one in told:
        text = one.text.lower()
        if "crumble" in one.story.title:
            assert "onion" not in text
            assert "book at" not in text
        if "Mussels" in one.story.title:
            assert not re.search("oven|walnut|crumble|pastry", text)


def test_the_comments_that_tasks_ask_for_stand_where_they_say(comments: list[Any]) -> None:
    by_title = {thread[0].story.title: thread for thread in threads(comments)}

    first = by_title["Letter from Cape Town"][0]
    (waiting,) = [one for one in comments if one.name == "Ada P." and one.approved == "0"]
    assert first.name == "Rosie Y."
    assert waiting.id == 7976
    assert waiting.reader.email == "reader238@example.org"
    assert waiting.story.comments == 7
