from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.values.logical_urls import LogicalUrl, parse_logical_url


def test_a_logical_url_comes_apart_and_is_decoded_once() -> None:
    assert parse_logical_url(
        "wiki:/article/New%20York?q=tea+pot&q=%2520&empty=#Hi%20story"
    ) == LogicalUrl(
        page="wiki:/article/New York",
        query=(("q", "tea pot"), ("q", "%20"), ("empty", "")),
        fragment="Hi story",
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("shop:/basket/", "shop:/basket"),
        ("shop:", "shop:/"),
        ("shop:/a%20b", "shop:/a b"),
        ("shop:/s/?b=2&a=1", "shop:/s?a=1&b=2"),
        ("shop:/s?q=a+b", "shop:/s?q=a%20b"),
        ("shop:/s?", "shop:/s"),
        ("shop:/s#", "shop:/s"),
    ],
)
def test_spellings_of_one_url_are_equal(one: str, other: str) -> None:
    assert parse_logical_url(one).full == parse_logical_url(other).full


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("shop:/a", "wiki:/a"),
        ("shop:/s?a=1&a=2", "shop:/s?a=2&a=1"),
        ("shop:/s?a=1&b=2", "shop:/s?a=1%26b=2"),
        ("shop:/s?a=%2B", "shop:/s?a=+"),
        ("shop:/s#a", "shop:/s#b"),
        ("shop:/a/b", "shop:/a"),
    ],
)
def test_different_urls_stay_different(one: str, other: str) -> None:
    assert parse_logical_url(one).full != parse_logical_url(other).full


@given(st.text())
def test_no_text_makes_reading_raise(text: str) -> None:
    parse_logical_url(text)


@given(st.text(st.sampled_from("shop:/?#&=%+2[]@;\u00e9 "), max_size=40))
def test_nonsense_is_read_too(text: str) -> None:
    parse_logical_url(f"shop:{text}")
