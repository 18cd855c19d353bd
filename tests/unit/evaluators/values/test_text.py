from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.values.text import holds_words, normalise, shown, shown_all

WORDS = st.text(st.characters(categories=("L", "N")), min_size=1)


@given(st.text(), st.booleans())
def test_normalising_twice_changes_nothing(text: str, case: bool) -> None:  # noqa: FBT001
    once = normalise(text, case=case)
    assert normalise(once, case=case) == once


@given(st.text(st.characters(max_codepoint=127)), st.booleans())
def test_a_character_that_nobody_sees_makes_no_difference(text: str, case: bool) -> None:  # noqa: FBT001
    assert normalise(text, case=case) == normalise(f"\u200b{text}", case=case)


@given(st.text(), st.text())
def test_case_and_composition_make_no_difference(left: str, right: str) -> None:
    assert normalise(left.upper().lower() + right) == normalise(
        normalise(left.upper().lower() + right, case=True)
    )


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("  Two\u00a0 \n words\t", "two words"),
        ("Stra\u00dfe", "strasse"),
        ("ﬁne", "fine"),
        ("cafe\u0301", "caf\u00e9"),
        ("Ünïcode", "ünïcode"),
        ("soft\u00adhyphen", "softhyphen"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("Kettle™ Pro®", "kettle pro"),
        ("Kettle™\ufe0f", "kettle"),
        ("Children\u2019s \u201ctoys\u201d", 'children\'s "toys"'),
        ("2019\u20132020 \u2212 5", "2019-2020 - 5"),
        ("\uff11\uff12", "12"),
        ("", ""),
    ],
)
def test_text_has_one_normal_form(text: str, normal: str) -> None:
    assert normalise(text) == normal


def test_case_is_kept_where_it_matters() -> None:
    assert normalise(" Spain ", case=True) == "Spain"


@given(st.text(), st.booleans())
def test_every_text_holds_itself(text: str, case: bool) -> None:  # noqa: FBT001
    normal = normalise(text, case=case)
    assert holds_words(normal, normal) is bool(normal)


@given(st.text(), WORDS, st.text())
def test_text_set_off_by_spaces_is_held(before: str, word: str, after: str) -> None:
    assert holds_words(f"{before} {word} {after}", word)


@given(WORDS, WORDS)
def test_letters_and_digits_alone_never_end_a_word(word: str, glued: str) -> None:
    text = word + glued
    if word not in text[1:]:
        assert not holds_words(text, word)


@given(st.text(), st.text())
def test_what_is_held_is_in_the_text(text: str, wanted: str) -> None:
    if holds_words(text, wanted):
        assert wanted in text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a red kettle.", "kettle"),
        ("kettle-bell", "kettle"),
        ("kettle's lid", "kettle"),
        ("kettles and a kettle", "kettle"),
        ("xa-a-a", "a-a"),
        ("order 12, please", "12"),
        ("(5)", "5"),
        ("5%", "5"),
        ("$0", "0"),
        ("it costs 5.", "5"),
        ("3-5", "5"),
        ("1,234", "1,234"),
        ("c++ and c", "c++"),
        ("-5 degrees", "-5"),
        ("no.5", "5"),
        ("caf\u00e9 au lait", "caf\u00e9"),
    ],
)
def test_whole_words_are_held(text: str, wanted: str) -> None:
    assert holds_words(text, wanted)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("kettles", "kettle"),
        ("2012", "12"),
        ("12th", "12"),
        ("5.5", "5"),
        (".5", "5"),
        ("1,235", "1"),
        ("1,235", "235"),
        ("1'235", "235"),
        ("$0.00", "0"),
        ("-5", "5"),
        ("it is -5", "5"),
        ("-$5", "$5"),
        ("snake_case", "case"),
        ("q\u0301", "q"),
        ("anything", ""),
        ("", ""),
        ("", "x"),
    ],
)
def test_parts_of_words_and_numbers_are_not_held(text: str, wanted: str) -> None:
    assert not holds_words(text, wanted)


def test_values_are_shown_on_one_short_line() -> None:
    assert shown("two\nlines") == "'two lines'"
    assert len(shown("x" * 500)) <= 82
    assert shown_all(["a", "b", "a"]) == "'a', 'b'"
    assert shown_all(list("abcdefgh")) == "'a', 'b', 'c', 'd', 'e' and 3 more"
