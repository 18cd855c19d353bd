"""Values that are near to what a check expects, and are not it."""

from __future__ import annotations

from typing import Any, cast

import pytest
from quick_cases import SLOW
from support.runs.make_evidence import ANSWER, DB, URL, make_check, make_evidence, make_step

from arena_core.worlds import World
from evaluators.changes import ChangeKind, RowChange, change_as_text
from evaluators.checks import match
from evaluators.lint import LintContext
from evaluators.locators.kinds import installed_kinds
from evaluators.matchers.base import Matched
from evaluators.values.text import normalise

FULL = {"by": "url", "part": "full"}


def _judged(value: object, found: str, *, locate: Any = DB, **options: Any) -> Matched:
    return match(make_check(locate, value, **options), [found], World.OFFLINE)


class TestNumbers:
    @pytest.mark.parametrize(
        "text",
        [
            "not 47",
            "It is not 47.",
            "47 million",
            "47k",
            "47 thousand",
            "more than 47",
            "less than 47",
            "at least 47",
            "up to £47",
            "<47",
            "≥ 47",
            "47+",
            "47 or more",
        ],
    )
    def test_what_is_denied_scaled_or_a_bound_is_not_the_number(self, text: str) -> None:
        assert not _judged(47, text, how="number").met

    @pytest.mark.parametrize("text", ["minus 5", "negative 5", "Minus 5 degrees", "−5"])
    def test_words_for_the_sign_are_understood(self, text: str) -> None:
        assert _judged(-5, text, how="number").met
        assert not _judged(5, text, how="number").met

    @pytest.mark.parametrize("text", ["47 million", "£47 million", "47,000k", "47,000 thousand"])
    def test_words_for_the_scale_are_understood(self, text: str) -> None:
        assert _judged(47_000_000, text, how="number").met

    def test_the_reason_says_what_is_no_value(self) -> None:
        reason = _judged(47, "more than 47", how="number").reason
        assert reason == ("found 'more than 47', wanted the number 47: 'more than 47' is no value")


class TestDigits:
    @pytest.mark.parametrize(("wanted", "text"), [("102", "10²"), ("102", "10₂"), ("11", "1①")])
    def test_a_raised_or_lowered_digit_stays_apart(self, wanted: str, text: str) -> None:
        assert not _judged(wanted, text).met
        assert not _judged(wanted, text, how="include").met

    def test_a_fraction_stays_apart_from_the_number_before_it(self) -> None:
        assert not _judged("11", "1½ cups", how="include").met
        assert _judged("1 1/2 cups", "1½ cups").met
        assert _judged("1½ cups", "1½ cups", how="include").met

    def test_units_and_formulas_are_written_either_way(self) -> None:
        assert _judged("12 m2", "12 m²").met
        assert _judged("H2O", "H₂O").met
        assert normalise(normalise("10² ½")) == normalise("10² ½")


class TestWords:
    @pytest.mark.parametrize(
        ("wanted", "text"),
        [
            ("234", "1 234"),
            ("1", "1 234 567"),
            ("234", "£1\u00a0234"),
            ("30", "at 12:30"),
            ("12", "12:30 sharp"),
            ("C", "C++"),
            ("C", "written in C#"),
            ("ada@example.org", "not-ada@example.org"),
            ("ada@example.org", "my.ada@example.org"),
            ("ada@example.org", "ada@example.org.uk"),
        ],
    )
    def test_a_part_of_a_word_is_no_word(self, wanted: str, text: str) -> None:
        assert not _judged(wanted, text, how="include").met

    @pytest.mark.parametrize(
        ("wanted", "text"),
        [
            ("1 234", "1 234 people"),
            ("12:30", "at 12:30"),
            ("C", "written in C."),
            ("C++", "C++ and C"),
            ("ada@example.org", "Mail ada@example.org."),
            ("5", "Room: 5"),
            ("2020", "in 12 2020"),
        ],
    )
    def test_a_whole_one_is(self, wanted: str, text: str) -> None:
        assert _judged(wanted, text, how="include").met


class TestUrls:
    @pytest.mark.parametrize(
        ("wanted", "visited"),
        [
            ("shop:/search?q=kettle", "shop:/search%3Fq=kettle"),
            ("shop:/a/b", "shop:/a%2Fb"),
            ("shop:/a#b", "shop:/a%23b"),
            ("shop:/s?q=kettle", "shop:/s?Q=kettle"),
        ],
    )
    def test_another_address_is_another_page(self, wanted: str, visited: str) -> None:
        check = make_check(FULL, wanted)
        seen = check.locate.at_end("check", make_evidence(make_step(0, visited))).values
        assert not match(check, seen, World.OFFLINE).met

    def test_an_escape_that_stands_for_itself_makes_no_difference(self) -> None:
        for wanted, visited in (
            ("shop:/a%2fb", "shop:/a%2Fb"),
            ("shop:/red%20kettle", "shop:/red kettle"),
            ("shop:/100%25", "shop:/100%"),
            ("shop:/s?Q=kettle", "shop:/s?Q=kettle"),
        ):
            check = make_check(FULL, wanted)
            seen = check.locate.at_end("check", make_evidence(make_step(0, visited))).values
            assert match(check, seen, World.OFFLINE).met, wanted

    @pytest.mark.parametrize(
        ("piece", "page"),
        [
            ("shop:/product/1", "workshop:/product/1"),
            ("shop:/product/1", "shop:/product/1-red"),
            ("/product/1", "shop:/product/1-red"),
            ("/product/1", "shop:/byproduct/1"),
            ("product/1", "shop:/by-product/1"),
            ("shop:/product", "shop:/x/shop:/product"),
            ("/f/book", "forum:/f/book.old"),
        ],
    )
    def test_a_piece_of_a_url_is_whole_segments_of_its_site(self, piece: str, page: str) -> None:
        assert not _judged(piece, page, locate=URL, how="include").met

    @pytest.mark.parametrize(
        ("piece", "page"),
        [
            ("shop:/product/1", "shop:/product/1/edit"),
            ("/product/1", "shop:/en/product/1"),
            ("shop:/", "shop:/product/1"),
            ("kettle", "shop:/red-kettle/1"),
        ],
    )
    def test_and_may_stand_anywhere_in_it(self, piece: str, page: str) -> None:
        assert _judged(piece, page, locate=URL, how="include").met

    def test_a_piece_with_parameters_asks_for_these_among_others(self) -> None:
        def met(piece: str, page: str) -> bool:
            return _judged(piece, page, locate=FULL, how="include").met

        assert met("/s?b=2", "shop:/s?a=1&b=2")
        assert not met("/s?b=2", "shop:/s?a=1&b=22")
        assert not met("/s?b=2", "shop:/s?a=1&bb=2")


class TestNothing:
    @pytest.mark.parametrize("found", ["", " ", "\u200b"])
    @pytest.mark.parametrize("wanted", ["™", "\u200b\u200b", "®©"])
    def test_a_text_of_which_nothing_is_left_is_not_met_by_nothing(
        self, wanted: str, found: str
    ) -> None:
        assert not _judged(wanted, found).met
        assert not _judged([wanted], found).met

    def test_it_is_met_by_itself(self) -> None:
        assert _judged("™", " ™ ").met


class TestChanges:
    ROW = change_as_text(
        RowChange(
            table="product",
            kind=ChangeKind.CHANGED,
            key={"id": "1"},
            before={"id": "1", "title": "Pan"},
            after={"id": "1", "title": "KETTLE™"},
        )
    )

    @staticmethod
    def _met(title: str, **options: Any) -> bool:
        change = {"table": "product", "kind": "changed", "columns": {"title": title}}
        check = {"how": "delta", "changes": [change], **options}
        document = {"name": "c", "when": "end", "locate": {"by": "db_delta", "site": "shop"}}
        from evaluators.checks import Check  # noqa: PLC0415 - beside what it makes

        return match(
            Check.model_validate({**document, "match": check}), [TestChanges.ROW], World.OFFLINE
        ).met

    def test_columns_can_be_compared_letter_by_letter(self) -> None:
        assert self._met("kettle")
        assert not self._met("kettle", literal=True)
        assert not self._met("KETTLE", literal=True)
        assert self._met("KETTLE™", literal=True)


class TestReasons:
    @pytest.mark.parametrize("how", ["exact", "include"])
    def test_a_reason_is_short_however_much_is_found_and_wanted(self, how: str) -> None:
        wanted = [f"{number} {'x' * 5000}" for number in range(30)]
        matched = match(make_check(ANSWER, wanted, how=how), ["y" * 100_000] * 30, World.OFFLINE)
        assert len(matched.reason) <= 4000
        assert len(matched.expected) <= 4000

    @SLOW
    @pytest.mark.parametrize("text", ["9" * 100_000, "1.2." * 10_000, "1 x " * 10_000])
    def test_so_is_the_reason_of_a_number(self, text: str) -> None:
        numbers = " ".join(f"{number}," for number in range(10_000))
        for value in (text, numbers):
            assert len(_judged(5, value, how="number").reason) < 1000


def test_a_number_without_quotes_that_loses_its_zeros_is_a_finding() -> None:
    written = {"how": "include", "value": {"offline": 12.5, "online": "12.50"}}
    matcher = installed_kinds().matchers["include"].model_validate(written)
    [found] = matcher.lint(cast("LintContext", None))
    assert found.at == ("match", "value", "offline")
    assert "12.5 has no quotes" in found.message
    sound = {"how": "include", "value": ["12.50", 12]}
    whole = installed_kinds().matchers["include"].model_validate(sound)
    assert list(whole.lint(cast("LintContext", None))) == []
