"""The words around a right value: what adds nothing is a match, what changes its meaning is none.

`surroundings.yaml` holds the words, for every type of answer; hypothesis puts them together.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from quick_cases import ONE_QUICK, SLOW

from arena_core.worlds import World
from evaluators.answers.asides import politeness
from evaluators.answers.kinds import OWN
from evaluators.answers.question import read_question
from evaluators.answers.words import FRAME, FUNCTION, SOURCES, normal
from evaluators.matchers.answer import AnswerMatcher

_WORDS = yaml.safe_load(Path(__file__).with_name("surroundings.yaml").read_text(encoding="utf-8"))
_CHANGING: Mapping[str, Any] = _WORDS["changing"]
_HARMLESS: Mapping[str, list[str]] = _WORDS["harmless"]

# Words without content: that a label shares one with the question does not make it the question's.
_FUNCTION_WORDS = frozenset(_WORDS["function words"])
# Hypothesis draws words of the code too: `result: 47` says no more than `47`.
_OF_EVERY_ANSWER = frozenset(map(normal, (*FRAME, *FUNCTION, *" ".join(OWN.values()).split())))
_AROUND_JSON = frozenset({"answer", "result", "null", "true", "false"})


def _stems(text: str) -> set[str]:
    """The first letters of the words with content."""
    words = re.findall(r"[^\W_]+", text.casefold())
    return {word[:4] for word in words if word not in _FUNCTION_WORDS | _AROUND_JSON}


@dataclass(frozen=True)
class Kind:
    """A question, its check, and answers to it."""

    name: str
    question: str
    check: dict[str, Any]
    right: list[str]
    sentences: list[str]
    wrong: list[str]
    measured: bool = field(default=False)
    """Whether bounds ("at least") say something of its values."""

    @property
    def is_list(self) -> bool:
        return "value" not in self.check

    @cached_property
    def honest(self) -> set[str]:
        """The words that the question and the check let be said."""
        return _stems(self.question) | _stems(json.dumps(self.check, ensure_ascii=False))

    def asks(self, word: str) -> bool:
        """Say whether the question or the check has the word in one of its forms."""
        said = self.question + json.dumps(self.check, ensure_ascii=False)
        own = {normal(one) for one in re.findall(r"[^\W_]+", said.casefold())}
        own |= read_question(self.question).stems  # `status`, of `pending`
        return normal(word) in own or bool(_stems(word) & self.honest)

    @cached_property
    def changing_labels(self) -> list[str]:
        bounds = _CHANGING["labels of what can be measured"] if self.measured else {}
        return [*self._changing(_CHANGING["labels"]), *self._changing(bounds)]

    @cached_property
    def changing_tails(self) -> list[str]:
        return list(self._changing(_CHANGING["tails"]))

    @cached_property
    def changing_json(self) -> list[str]:
        return list(self._changing({"": _CHANGING["json"]}))

    def _changing(self, texts: Mapping[str, list[str]]) -> Iterator[str]:
        for text in (text for of_class in texts.values() for text in of_class):
            if not _stems(text.replace("{v}", "").replace("%s", "")) & self.honest:
                yield text


KINDS = [Kind(name=name, **fields) for name, fields in _WORDS["kinds"].items()]
_EACH_KIND = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


def judge(check: dict[str, Any], question: str, answer: str) -> bool:
    """Whether the check takes the answer to the question. The one place that calls the matcher."""
    matcher = AnswerMatcher.model_validate({"how": "answer", **check})
    return matcher.answering(question).match([answer], World.OFFLINE).met


def _around(template: str, value: str, kind: Kind) -> str:
    return template.replace("{q}", kind.question).replace("{v}", value)


def _tables(texts: str) -> list[Any]:
    return [
        pytest.param(kind, text, id=f"{kind.name}: {text}")
        for kind in KINDS
        for text in getattr(kind, texts)
    ]


@ONE_QUICK
@pytest.mark.parametrize(("kind", "answer"), _tables("right"))
def test_a_right_value_is_a_match_in_each_spelling(kind: Kind, answer: str) -> None:
    assert judge(kind.check, kind.question, answer)


@ONE_QUICK
@pytest.mark.parametrize(("kind", "answer"), _tables("sentences"))
def test_a_whole_right_answer_is_a_match(kind: Kind, answer: str) -> None:
    assert judge(kind.check, kind.question, answer)


@ONE_QUICK
@pytest.mark.parametrize(("kind", "answer"), _tables("wrong"))
def test_a_whole_wrong_answer_is_no_match(kind: Kind, answer: str) -> None:
    assert not judge(kind.check, kind.question, answer)


@SLOW
@_EACH_KIND
def test_no_label_that_changes_a_value_is_taken(kind: Kind) -> None:
    answers = [_around(label, kind.right[0], kind) for label in kind.changing_labels]
    assert [answer for answer in answers if judge(kind.check, kind.question, answer)] == []


@ONE_QUICK
@_EACH_KIND
def test_no_tail_that_changes_a_value_is_taken(kind: Kind) -> None:
    answers = [_around(tail, kind.right[0], kind) for tail in kind.changing_tails]
    assert [answer for answer in answers if judge(kind.check, kind.question, answer)] == []


@ONE_QUICK
@_EACH_KIND
def test_no_json_key_that_changes_a_value_is_taken(kind: Kind) -> None:
    answers = [
        template % json.dumps(kind.right[0], ensure_ascii=False) for template in kind.changing_json
    ]
    assert [answer for answer in answers if judge(kind.check, kind.question, answer)] == []


@ONE_QUICK
@_EACH_KIND
def test_what_adds_nothing_is_taken(kind: Kind) -> None:
    templates = [*_HARMLESS["labels"], *_HARMLESS["tails"], *_HARMLESS["markup"]]
    answers = [_around(template, kind.right[0], kind) for template in templates]
    if not kind.is_list:
        answers += [
            template % json.dumps(kind.right[0], ensure_ascii=False)
            for template in _HARMLESS["json"]
        ]
    assert [answer for answer in answers if not judge(kind.check, kind.question, answer)] == []


@ONE_QUICK
@_EACH_KIND
@settings(max_examples=2 * settings().max_examples)
@given(data=st.data())
def test_a_changed_value_is_no_match_whatever_else_is_around_it(
    kind: Kind, data: st.DataObject
) -> None:
    answer = data.draw(st.sampled_from([*kind.right, *kind.sentences]))
    where = data.draw(st.sampled_from(["label", "tail", "both"]))
    if where != "label":
        answer = _around(data.draw(st.sampled_from(kind.changing_tails)), answer, kind)
    if where != "tail":
        answer = _around(data.draw(st.sampled_from(kind.changing_labels)), answer, kind)
    for layer in ("markup", "labels", "tails"):
        answer = _around(data.draw(st.sampled_from(_HARMLESS[layer])), answer, kind)
    assert not judge(kind.check, kind.question, answer), answer


@ONE_QUICK
@_EACH_KIND
@settings(max_examples=2 * settings().max_examples)
@given(data=st.data())
def test_a_right_value_is_a_match_with_anything_harmless_around_it(
    kind: Kind, data: st.DataObject
) -> None:
    answer = data.draw(st.sampled_from(kind.right))
    for layer in ("markup", "labels", "tails"):
        answer = _around(data.draw(st.sampled_from(_HARMLESS[layer])), answer, kind)
    assert judge(kind.check, kind.question, answer), answer


@ONE_QUICK
@_EACH_KIND
@given(word=st.text(string.ascii_lowercase, min_size=5, max_size=12), data=st.data())
def test_no_word_is_taken_that_nobody_allowed(kind: Kind, word: str, data: st.DataObject) -> None:
    assume(not kind.asks(word) and normal(word) not in _OF_EVERY_ANSWER)
    assume(not list(politeness(word)))  # `finally`
    assume(not judge(kind.check, kind.question, word))  # "false" for no is the value itself
    assume(word not in SOURCES)  # the next test's
    assume(word not in _WORDS["words that change nothing"])
    template = data.draw(st.sampled_from(_WORDS["places of a word"]))
    answer = _around(template, data.draw(st.sampled_from(kind.right)), kind).replace("{w}", word)
    assert not judge(kind.check, kind.question, answer), answer


@ONE_QUICK
@_EACH_KIND
def test_a_page_or_table_is_where_the_value_stands_and_nothing_else(kind: Kind) -> None:
    answers = [
        (template, word, _around(template, kind.right[0], kind).replace("{w}", word))
        for word in sorted(SOURCES)
        if not _stems(word) & kind.honest
        for template in _WORDS["places of a word"]
        if template not in _WORDS["places of a source"]
    ]
    assert [
        (template, word)
        for template, word, answer in answers
        if judge(kind.check, kind.question, answer)
    ] == []


def test_every_type_of_answer_is_tried() -> None:
    tried = {column["type"] for kind in KINDS for column in kind.check.get("columns", [kind.check])}
    schema = AnswerMatcher.model_json_schema()
    assert tried == set(schema["$defs"]["AnswerType"]["enum"])
