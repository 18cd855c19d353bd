"""Patterns of tasks: what they match, and that none of them takes long."""

from __future__ import annotations

import re
import time
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from quick_cases import SLOW
from support.runs.make_evidence import ANSWER, URL, make_check, make_evidence

from arena_core.actions import Stop
from arena_core.worlds import World
from evaluators.checks import match
from evaluators.responses import response_of
from evaluators.scores import score
from evaluators.values.json_path import JsonPathError, json_path_fault, read_json_path
from evaluators.values.patterns import (
    LONGEST_TEXT,
    PatternError,
    from_i_regexp,
    matches,
    pattern_fault,
)

CATASTROPHIC = (
    r"(a+)+b",
    r"(a|aa)+b",
    r"(a|a?)+b",
    r"(.*)(.*)(.*)(.*)(.*)b",
    r"(x+x+)+y",
    r"([a-z]+)*[0-9]",
    r".*a.{200}b.*",
    r"[ab]*a[ab]{400}c",
    r"(?:a?){400}a{400}b",
)
LONGEST_S = 5.0  # of any pattern on any text; a backtracking engine takes years


def met(pattern: object, text: str, *, locate: Any = ANSWER, **options: Any) -> bool:
    check = make_check(locate, pattern, how="regex", **options)
    return match(check, [text], World.OFFLINE).met


class TestEngine:
    @SLOW
    @pytest.mark.parametrize("pattern", CATASTROPHIC)
    def test_no_pattern_takes_long(self, pattern: str) -> None:
        began = time.process_time()  # of this process: others are no fault of a pattern
        matches(pattern, "a" * LONGEST_TEXT)
        matches(pattern, "ab" * (LONGEST_TEXT // 2), whole=False)
        assert time.process_time() - began < LONGEST_S

    @given(st.text(max_size=40), st.text(max_size=200))
    def test_any_text_is_a_pattern_or_refused_in_one_line(self, pattern: str, text: str) -> None:
        fault = pattern_fault(pattern)
        if fault is None:
            assert matches(pattern, text) in {True, False}
        else:
            assert fault
            with pytest.raises(PatternError):
                matches(pattern, text)

    @given(st.text(alphabet="ab0 .", max_size=12), st.text(alphabet="ab.?*+()|", max_size=8))
    def test_it_matches_what_pythons_engine_does(self, text: str, pattern: str) -> None:
        if pattern_fault(pattern) is None:
            try:
                known = re.compile(pattern)
            except re.error:
                return
            assert matches(pattern, text) is (known.fullmatch(text) is not None)
            assert matches(pattern, text, whole=False) is (known.search(text) is not None)

    @pytest.mark.parametrize("pattern", ["(", "a{2,1}", "(?=a)", "(?<!a)b", r"(a)\1", "[z-a]", "*"])
    def test_what_it_cannot_do_is_refused(self, pattern: str) -> None:
        assert pattern_fault(pattern)

    def test_a_long_pattern_is_refused_and_a_long_text_matches_nothing(self) -> None:
        assert "at most 1000" in (pattern_fault("a" * 1001) or "")
        assert matches("a*", "a" * LONGEST_TEXT)
        assert not matches("a*", "a" * (LONGEST_TEXT + 1))

    def test_half_of_a_character_matches_as_one(self) -> None:
        assert matches("a.b", "a\ud800b")

    def test_a_line_end_is_no_point_and_the_end_is_the_end(self) -> None:
        assert not matches("a.b", "a\nb")
        assert not matches("ab$", "ab\n", whole=False)
        assert matches("(?s)a.b", "a\nb")


class TestMatcher:
    def test_the_whole_value_must_match(self) -> None:
        assert met("[0-9]+ bells", "47 bells")
        assert not met("[0-9]+ bells", "it is not 47 bells")
        assert met("[0-9]+ bells", "it has 47 bells", substring=True)

    def test_case_counts_where_it_is_asked_to(self) -> None:
        assert met("Kettle", "KETTLE")
        assert not met("Kettle", "KETTLE", case=True)

    def test_all_patterns_must_match_and_unless_must_not(self) -> None:
        both = [".*laundry.*", ".*detergent.*"]
        assert met(both, "detergent for laundry")
        assert not met(both, "laundry basket")
        assert met(".+", "topic", unless="main")
        assert not met(".+", "main", unless="main")

    def test_what_an_answer_says_is_no_pattern(self) -> None:
        for said in ("^.*$", ".*", "(a+)+$"):
            assert not met("kettle|pot", said)

    def test_a_url_is_matched_decoded_and_by_its_end(self) -> None:
        page = r"shop:/p/\d+/a b"
        assert met(page, "shop:/p/12/a b", locate=URL)
        assert not met(page, "shop:/p/12/a b/more", locate=URL)

    @pytest.mark.parametrize(
        ("value", "why"),
        [
            ("(", "is no pattern"),
            (["ok.", "(?=x)"], "is no pattern"),
            (".*", "every text matches"),
            ("a" * 1001, "at most 1000"),
            ([], "at least 1"),
        ],
    )
    def test_a_fault_is_told_at_its_place(self, value: object, why: str) -> None:
        with pytest.raises(ValidationError, match=why) as caught:
            make_check(ANSWER, value, how="regex")
        assert caught.value.errors()[0]["loc"][0] == "match"

    def test_a_huge_answer_is_refused_soon(self) -> None:
        check = make_check(ANSWER, "(a+)+b", how="regex")
        said = "a" * 5_000_000
        evidence = make_evidence(answer=said).model_copy(
            update={"response": response_of(Stop(answer=said))}
        )
        began = time.perf_counter()
        assert str(score((check,), evidence).outcome) == "failure"
        assert time.perf_counter() - began < LONGEST_S


class TestJsonPath:
    DOCUMENT: ClassVar[Any] = [
        {"a": "abc", "p": ".*"},
        {"a": "xbcx"},
        {"a": 5},
        {"a": "a\nc"},
        {"a": "^x$"},
    ]

    @pytest.mark.parametrize(
        ("path", "found"),
        [
            ("$[?match(@.a, 'a.c')].a", ["abc"]),
            ("$[?search(@.a, 'bc')].a", ["abc", "xbcx"]),
            ("$[?match(@.a, 'bc')].a", []),
            ("$[?!search(@.a, 'b')].a", [5, "a\nc", "^x$"]),
            ("$[?search(@.a, '^')].a", ["^x$"]),
            ("$[?match(@.a, '[a-z]{3}')].a", ["abc"]),
            (r"$[?match(@.a, '\\p{Ll}{4}')].a", ["xbcx"]),
        ],
    )
    def test_match_and_search_are_those_of_the_standard(self, path: str, found: object) -> None:
        assert json_path_fault(path) is None
        assert read_json_path(self.DOCUMENT, path) == found

    @pytest.mark.parametrize(
        "path",
        [
            "$[?match(@.a, @.p)]",
            "$[?match(@.a, $[0].p)]",
            r"$[?match(@.a, '\\d')]",
            "$[?match(@.a, '(?i)a')]",
            "$[?match(@.a, '[a')]",
            "$[?match(@.a, 'a{')]",
            "$[?search(@.a, 'a**')]",
            "$[?match(@.a)]",
        ],
    )
    def test_a_pattern_of_a_document_or_of_another_kind_is_refused(self, path: str) -> None:
        assert json_path_fault(path)
        with pytest.raises(JsonPathError):
            read_json_path(self.DOCUMENT, path)

    def test_no_document_takes_long(self) -> None:
        document = [{"a": "a" * 100_000} for _ in range(20)]
        began = time.perf_counter()
        assert read_json_path(document, "$[?match(@.a, '(a+)+b')]") == []
        assert time.perf_counter() - began < LONGEST_S

    @given(st.text(max_size=30))
    def test_any_text_is_translated_or_refused(self, pattern: str) -> None:
        try:
            translated = from_i_regexp(pattern)
        except PatternError:
            return
        fault = pattern_fault(translated)
        assert fault is None or "RE2" in fault or "half" in fault
