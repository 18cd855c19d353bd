"""What holds of every value: how it may be wrapped, and what takes it away."""

from __future__ import annotations

import time
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quick_cases import SLOW

from arena_core.worlds import World
from evaluators.matchers.answer import AnswerMatcher

_WRAPS = (
    "{}",
    "{}.",
    " {} ",
    '"{}"',
    "**{}**",
    "`{}`",
    "<b>{}</b>",
    "The answer is {}.",
    "Answer: {}",
    "**Answer:** {}",
    "Sure! It is {}.",
    "Final answer: {}",
    "It is {}.",
    "I looked at the page. It is {}.",
    "{}\n\nI hope this helps!",
    "```\n{}\n```",
)
_SPOILS = (
    "not {}",
    "It is not {}.",
    "It isn't {}",
    "anything but {}",
    "maybe {}",
    "I think it is {}",
    "probably {}",
    "It could be {}.",
    "{}?",
    "Is it {}?",
    "{} or {other}",
    "{other} or {}",
    "either {} or {other}",
    "{}, {other}",
    "{other}, {}",
    "{other}\n{}",
    "{} and {other}",
    "{} or N/A",
    "It used to be {}.",
    "{other}, not {}",
    "{}, however that is wrong",
    "neither {} nor {other}",
    "Except {}",
    "I don't know, {}",
    "If it is right, {}",
    "{}; {other}",
    "^{}$|.*",
)
_NUMBERS = st.decimals(-(10**9), 10**9, places=2, allow_nan=False).map(lambda one: f"{one:f}")
_NAMES = st.sampled_from(
    ("Emma Hartley", "Kraków", "Oswald Hathersage", "Saltings Library", "HumbleEmma", "Port Merrow")
)
_CODES = st.from_regex(r"[A-Z]{2}[0-9]{2}-[0-9]{3}", fullmatch=True)
_TIMES = st.times().map(lambda one: f"{one:%H:%M}")
_DATES = st.dates().filter(lambda one: one.year > 1000).map(lambda one: f"{one.day} {one:%B %Y}")
_LENGTHS = st.integers(1, 10**5).map(lambda one: f"{one} m")
_DURATIONS = st.integers(1, 10**5).map(lambda one: f"{one} min")
_VALUES: Mapping[str, st.SearchStrategy[str]] = {
    "number": _NUMBERS,
    "name": _NAMES,
    "text": _NAMES,
    "code": _CODES,
    "time": _TIMES,
    "date": _DATES,
    "distance": _LENGTHS,
    "duration": _DURATIONS,
    "money": _NUMBERS.map(lambda one: one.lstrip("-")),
    "email": st.from_regex(r"[a-z]{3,8}@[a-z]{3,8}\.org", fullmatch=True),
    "url": st.from_regex(r"https://[a-z]{3,8}\.org/[a-z]{1,8}", fullmatch=True),
    "phone": st.from_regex(r"0[1-9]{3} [1-9]{6}", fullmatch=True),
}
_PAIRS = st.sampled_from(sorted(_VALUES)).flatmap(
    lambda kind: st.tuples(st.just(kind), _VALUES[kind], _VALUES[kind])
)


def _is_met(kind: str, value: object, answer: str, **options: Any) -> bool:
    written = {"how": "answer", "type": kind, "value": value, **options}
    return AnswerMatcher.model_validate(written).match([answer], World.OFFLINE).met


@given(_PAIRS, st.sampled_from(_WRAPS))
def test_a_value_in_plain_words_is_always_right(pair: tuple[str, str, str], wrap: str) -> None:
    kind, value, _ = pair
    assert _is_met(kind, value, wrap.format(value))


@given(_PAIRS, st.sampled_from(_SPOILS))
def test_a_value_that_is_denied_hedged_or_one_of_several_is_never_right(
    pair: tuple[str, str, str], spoil: str
) -> None:
    kind, value, other = pair
    if kind in {"number", "money"} and Decimal(value) == Decimal(other):
        return
    if value == other:
        return
    assert not _is_met(kind, value, spoil.format(value, other=other))


@given(
    st.sampled_from(sorted(_VALUES)).flatmap(lambda kind: st.tuples(st.just(kind), _VALUES[kind]))
)
def test_no_answer_without_content_is_right(pair: tuple[str, str]) -> None:
    kind, value = pair
    for empty in (
        "",
        " ",
        "N/A",
        "none",
        "?",
        "^.*$",
        "*",
        "yes",
        "unknown",
        "I could not find it.",
    ):
        assert not _is_met(kind, value, empty)


@SLOW
@given(st.lists(_NAMES, min_size=2, max_size=5, unique=True), st.data())
def test_a_list_is_right_in_any_order_and_with_nothing_more_or_less(
    names: list[str], data: st.DataObject
) -> None:
    matcher = AnswerMatcher.model_validate({"how": "answer", "type": "name", "all_of": names})

    def met(answer: str) -> bool:
        return matcher.match([answer], World.OFFLINE).met

    turned = data.draw(st.permutations(names))
    for between in (", ", "\n", "; ", " and ", "\n- "):
        assert met(between.join(turned))
        assert not met(between.join([*turned, "Somebody Else"]))
        assert not met(between.join(turned[1:]))
        assert not met(f"not {between.join(turned)}")
        assert not met(between.join([*turned, turned[0]]))


@given(
    st.text(),
    st.sampled_from(sorted(_VALUES)).flatmap(lambda kind: st.tuples(st.just(kind), _VALUES[kind])),
)
def test_no_text_makes_reading_raise(text: str, pair: tuple[str, str]) -> None:
    kind, value = pair
    assert _is_met(kind, value, text) in {True, False}
    AnswerMatcher.model_validate({"how": "answer", "type": kind, "all_of": [value, value]}).match(
        [text], World.OFFLINE
    )


@pytest.mark.parametrize("kind", ["address", "phone", "number"])
@pytest.mark.parametrize("piece", ["1 ", "1,", "1)\n", "a "])
def test_a_long_text_is_refused_soon(kind: str, piece: str) -> None:
    value = {"address": "1 High St, Ely", "phone": "01234 5678", "number": 47}[kind]
    written = {"how": "answer", "type": kind, "all_of": [value, value]}
    started = time.process_time()
    matcher = AnswerMatcher.model_validate(written)
    assert not matcher.match([piece * 50_000], World.OFFLINE).met
    assert time.process_time() - started < 5
