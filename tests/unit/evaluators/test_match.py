from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.runs.make_evidence import ANSWER, DB, URL, make_check

from arena_core.worlds import World
from evaluators.checks import match
from evaluators.locators.kinds import installed_kinds
from evaluators.values.text import normalise

TEXTS = st.lists(st.text(), max_size=6)
FULL = {"by": "url", "part": "full"}


def _met(value: object, found: list[str], *, how: str = "exact", **options: Any) -> bool:
    return match(make_check(ANSWER, value, how=how, **options), found, World.OFFLINE).met


class TestExact:
    @given(st.text())
    def test_a_value_equals_itself(self, text: str) -> None:
        assert _met(text, [text])

    def test_any_value_may_be_the_one(self) -> None:
        assert _met("spain", ["Portugal", " SPAIN "])

    def test_a_part_is_not_enough(self) -> None:
        assert not _met("spain", ["Spain and Portugal"])

    def test_case_counts_where_it_is_asked_to(self) -> None:
        assert _met("Spain", ["Spain"], case=True)
        assert not _met("Spain", ["spain"], case=True)

    def test_nothing_found_equals_no_text(self) -> None:
        assert not _met("", [])
        assert _met("", [""])

    def test_a_list_is_all_values_in_order(self) -> None:
        assert _met(["a", "b"], ["A", "B"])
        assert not _met(["a", "b"], ["b", "a"])
        assert not _met(["a", "b"], ["a", "b", "c"])
        assert not _met(["a", "b"], ["a"])

    @given(
        st.lists(st.text(), max_size=6).flatmap(lambda x: st.tuples(st.just(x), st.permutations(x)))
    )
    def test_order_makes_no_difference_where_it_is_said_so(
        self, lists: tuple[list[str], list[str]]
    ) -> None:
        expected, found = lists
        assert _met(expected, found, ordered=False)
        assert not _met([*expected, "one more"], found, ordered=False)

    def test_a_multiset_counts_its_members(self) -> None:
        assert not _met(["a", "a", "b"], ["a", "b", "b"], ordered=False)
        assert not _met(["a"], ["a", "b"], ordered=False)

    def test_the_empty_list_asks_that_nothing_was_found(self) -> None:
        assert _met([], [])
        assert not _met([], ["row"])

    def test_a_number_equals_however_many_zeros_it_is_written_with(self) -> None:
        assert _met(12.5, ["12.50"])
        assert _met(12, ["12"])
        assert _met(12, ["12.0"])
        assert not _met(12, ["12 items"])
        assert not _met(12, ["1_2"])
        assert not _met("12.5", ["12.50"])

    def test_each_world_has_its_own_value(self) -> None:
        check = make_check(DB, {"offline": "49.00", "online": "55.00"})
        assert match(check, ["49.00"], World.OFFLINE).met
        assert not match(check, ["49.00"], World.ONLINE).met
        assert match(check, ["55.00"], World.ONLINE).met


class TestInclude:
    def test_whole_words_unless_a_substring_will_do(self) -> None:
        assert _met("kettle", ["A red kettle."], how="include")
        assert not _met("kettle", ["kettles"], how="include")
        assert _met("kettle", ["kettles"], how="include", substring=True)

    def test_a_list_asks_for_each_text_in_any_value(self) -> None:
        assert _met(["red", "kettle"], ["red pan", "blue kettle"], how="include")
        assert not _met(["red", "kettle"], ["red pan"], how="include")

    def test_a_number_is_a_word(self) -> None:
        assert _met(12, ["12 items"], how="include")
        assert not _met(12, ["2012"], how="include")

    def test_case_counts_where_it_is_asked_to(self) -> None:
        assert not _met("Red", ["red pan"], how="include", case=True)

    @given(st.text().filter(normalise), st.booleans())
    def test_a_text_includes_itself(self, text: str, substring: bool) -> None:  # noqa: FBT001
        assert _met(text, [text], how="include", substring=substring)

    @given(st.text().filter(normalise), TEXTS)
    def test_whole_words_are_substrings_too(self, text: str, found: list[str]) -> None:
        if _met(text, found, how="include"):
            assert _met(text, found, how="include", substring=True)


class TestNumber:
    @pytest.mark.parametrize("text", ["12.5", "$12.50", "It costs 12,50 €", "+12.5%"])
    def test_units_and_words_around_it_make_no_difference(self, text: str) -> None:
        assert _met(12.5, [text], how="number")

    @pytest.mark.parametrize(
        "text", ["12.5 or 13", "12.6", "-12.5", "(12.5)", "twelve", "", "1.2.5"]
    )
    def test_another_number_none_or_several_are_not_it(self, text: str) -> None:
        assert not _met(12.5, [text], how="number")

    def test_the_tolerance_is_inclusive(self) -> None:
        assert _met(0.3, ["0.1"], how="number", tolerance=0.2)
        assert _met(0.3, ["0.5"], how="number", tolerance=0.2)
        assert not _met(0.3, ["0.51"], how="number", tolerance=0.2)

    def test_without_a_tolerance_only_the_number_itself_will_do(self) -> None:
        assert not _met(0.05, ["0.05000000000000001"], how="number")

    @given(st.floats(allow_nan=False, allow_infinity=False, width=32))
    def test_a_number_equals_itself(self, number: float) -> None:
        assert _met(number, [str(number)], how="number")


class TestUrls:
    @pytest.mark.parametrize(
        ("expected", "found"),
        [
            ("shop:/product/kettle/", "shop:/product/kettle"),
            ("shop:/product/red%20kettle", "shop:/product/red kettle"),
            ("shop:/Product/Kettle", "shop:/product/kettle"),
        ],
    )
    def test_the_expected_page_is_read_as_a_url(self, expected: str, found: str) -> None:
        assert match(make_check(URL, expected), [found], World.OFFLINE).met

    def test_a_query_in_an_expected_page_is_not_dropped(self) -> None:
        check = make_check(URL, "shop:/search?q=kettle")
        assert not match(check, ["shop:/search"], World.OFFLINE).met

    def test_a_whole_url_is_equal_in_any_order_of_parameters(self) -> None:
        check = make_check(FULL, "shop:/s?b=2&a=1")
        assert match(check, ["shop:/s?a=1&b=2"], World.OFFLINE).met

    def test_a_piece_of_a_url_ends_where_words_end(self) -> None:
        check = make_check(URL, "/product/red%20kettle", how="include")
        assert match(check, ["shop:/product/red kettle"], World.OFFLINE).met
        assert not match(check, ["shop:/product/red kettles"], World.OFFLINE).met

    def test_a_query_value_stands_as_it_is_meant(self) -> None:
        check = make_check({"by": "url", "part": "query", "key": "q"}, "100%25")
        assert match(check, ["100%25"], World.OFFLINE).met
        assert not match(check, ["100%"], World.OFFLINE).met


class TestReasons:
    @pytest.mark.parametrize(
        ("how", "value", "found", "reason"),
        [
            ("exact", "Spain", ["Portugal"], "found 'Portugal', wanted 'Spain'"),
            ("exact", "Spain", ["France", "Spain"], "found 'Spain'"),
            ("exact", [], ["row"], "found 'row', wanted nothing"),
            ("exact", [], [], "found nothing, as wanted"),
            ("exact", ["a", "b"], ["a"], "found 'a', wanted exactly 'a', 'b' in this order"),
            ("include", "tea", ["teapot"], "found 'teapot', wanted 'tea' in it as whole words"),
            (
                "include",
                ["red", "tea"],
                ["red pot"],
                "found 'red pot', wanted 'red', 'tea' in it as whole words; missing 'tea'",
            ),
            ("number", 5, ["none"], "found 'none', wanted the number 5: 'none' holds no number"),
            (
                "number",
                12345678,
                ["1, 2"],
                "found '1, 2', wanted the number 12345678: '1, 2' holds different numbers (1, 2)",
            ),
            (
                "number",
                5,
                ["1.2.3"],
                "found '1.2.3', wanted the number 5: '1.2.3' cannot be read as one number",
            ),
            ("number", 5, ["6"], "found '6', wanted the number 5"),
            ("number", 5, [], "found nothing, wanted the number 5"),
        ],
    )
    def test_the_reason_is_one_readable_sentence(
        self, how: str, value: object, found: list[str], reason: str
    ) -> None:
        assert match(make_check(ANSWER, value, how=how), found, World.OFFLINE).reason == reason

    def test_a_tolerance_is_part_of_what_was_wanted(self) -> None:
        check = make_check(ANSWER, 5, how="number", tolerance=0.25)
        assert match(check, [], World.OFFLINE).expected == "the number 5 ± 0.25"


@pytest.mark.parametrize("locate", [ANSWER, URL, FULL, DB])
@given(
    value=st.one_of(st.text(), st.integers(), st.floats(allow_nan=False, allow_infinity=False)),
    how=st.sampled_from(["exact", "include", "number"]),
    found=TEXTS,
)
def test_no_text_makes_matching_raise(
    locate: dict[str, object], value: object, how: str, found: list[str]
) -> None:
    if how == "number" and isinstance(value, str):
        value = 5
    if how == "include" and not normalise(str(value)):
        value = "something"
    match(make_check(locate, value, how=how), found, World.OFFLINE)


class TestOneIsEnough:
    @pytest.mark.parametrize(
        "options",
        [
            {"value": "paid"},
            {"value": 12.5},
            {"how": "found", "value": None},
            {"how": "include", "value": "paid"},
            {"how": "include", "value": "ai", "substring": True},
            {"how": "regex", "value": ["p.*", ".*d"], "unless": "p d"},
        ],
        ids=str,
    )
    @given(found=st.lists(st.sampled_from(["paid", "not paid", "p d", "PAID!", "12.50", ""])))
    def test_several_values_meet_it_just_where_one_alone_does(
        self, options: dict[str, Any], found: list[str]
    ) -> None:
        given = {name: value for name, value in options.items() if value is not None}
        matcher = installed_kinds().matchers[given.get("how", "exact")].model_validate(given)
        assert matcher.one_is_enough
        alone = [matcher.match([value], World.OFFLINE).met for value in found]
        assert matcher.match(found, World.OFFLINE).met == any(alone)

    @pytest.mark.parametrize("how", ["exact", "include"])
    @pytest.mark.parametrize("value", [["a"], {"offline": "a", "online": ["a", "b"]}])
    def test_a_list_in_either_world_asks_for_all_values(self, how: str, value: object) -> None:
        assert not installed_kinds().matchers[how].model_validate({"value": value}).one_is_enough
