"""A thread remembers: answers fit their questions, and nobody says what was said before."""

from __future__ import annotations

import re
from importlib import import_module
from random import Random
from typing import Any

TABLES = [
    {
        "about": "the gate",
        "good": "the gate [shuts|closes] well; nobody can miss the gate",
        "bad": "the gate [squeaks|sticks] in wet weather",
        "ask": "who has the key? > the man at number {number} has it",
    },
    {"if": "pond", "about": "the pond", "good": "there are newts in the pond"},
]


def talking() -> Any:
    return import_module("talking")


def known(text: str) -> str | None:
    """Fill the one gap that the text above has."""
    told = text.replace("{number}", "nine")
    return None if "{" in told else told


def talk(seed: str = "talk") -> Any:
    return talking().Talk(Random(seed), talking().points(TABLES), known)


def test_a_point_whose_gap_is_not_filled_is_not_spoken_of() -> None:
    told = talk()
    for number in range(40):
        assert "pond" not in told.open(f"Reader{number}")[0]


def test_an_answer_belongs_to_the_question_above() -> None:
    asked = talking().Remark("Ada", talking().Kind.ASK, talk()._bank[0], "who has the key?",
                             ("the man at number {number} has it",))  # fmt: skip
    for number in range(20):
        text, remark = talk(str(number)).reply("Ben", asked)
        assert remark.kind is talking().Kind.ANSWER
        assert re.search(r"(?i)the man at number nine has it", text)


def test_who_differs_speaks_of_the_same_point_and_quotes_what_was_written() -> None:
    for number in range(60):
        told = talk(str(number))
        first, remark = told.open("Ada")
        text, answer = told.reply("Ben", remark)
        assert answer.point is remark.point
        if quoted := re.match(r'"([^"…]+)"', text):
            assert quoted[1].lower() in first.lower()


def test_thanks_are_given_for_an_answer_and_by_the_grateful() -> None:
    told = talk()
    kind = talking().Kind
    point = told._bank[0]
    answer = talking().Remark("Ben", kind.ANSWER, point, "the man at number nine has it")
    view = talking().Remark("Ben", kind.GOOD, point, "the gate shuts well")

    assert told.reply("Ada", answer)[1].kind is kind.THANKS
    assert told.reply("Ada", view, is_grateful=True)[1].kind is kind.THANKS
    assert told.reply("Ada", view)[1].kind is not kind.THANKS


def test_no_sentence_is_said_twice_in_a_thread() -> None:
    told = talk()
    texts = [told.open(f"Reader{number}")[0] for number in range(60)]

    assert len(set(texts)) == len(texts)


def test_a_temper_stays() -> None:
    assert talking().temper("Ada") is talking().temper("Ada")
    assert len({talking().temper(f"Reader{number}") for number in range(60)}) == 4


def test_what_is_said_of_goods_holds_for_their_kind() -> None:
    goods = import_module("goods")
    abouts = {one.about for one in goods.points("Kettles", "gooseneck | steel")}

    assert "the spout" in abouts
    assert "the whistle" not in abouts
    assert all("[" not in clause for one in goods.points("Kettles", "") for clause in one.good)
