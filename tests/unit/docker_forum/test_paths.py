"""Paths: slugs, steps of comments, and targets that stay on the site."""

from __future__ import annotations

import re
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

paths = import_module("waypost.paths")


@given(st.text(max_size=300))
def test_a_slug_is_one_short_readable_segment(title: str) -> None:
    assert re.fullmatch(r"-|[a-z0-9]+(-[a-z0-9]+)*", paths.slug(title))
    assert len(paths.slug(title)) <= paths.SLUG_LENGTH


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Friendly reminder: bookshop.org exists!", "friendly-reminder-bookshop-org-exists"),
        ("What's a café worth?", "whats-a-cafe-worth"),
        ("日本", "-"),
        ("a" * 80, "a" * 60),
    ],
)
def test_a_slug_keeps_what_can_be_read(title: str, slug: str) -> None:
    assert paths.slug(title) == slug


@given(st.integers(0, 36**6 - 1), st.integers(0, 36**6 - 1))
def test_steps_sort_as_the_numbers_do(first: int, second: int) -> None:
    assert (paths.step(first) < paths.step(second)) == (first < second)
    assert len(paths.step(first)) == paths.STEP_DIGITS


def test_a_number_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        paths.step(36**6)


def test_threads_and_comments_have_postmills_paths() -> None:
    assert paths.submission("books", 59421, "A reminder") == "/f/books/59421/a-reminder"
    assert paths.comment("books", 59421, 1235250) == "/f/books/59421/-/comment/1235250"


@pytest.mark.parametrize("target", ["/", "/f/books?t=day", "/user/anna#x"])
def test_a_path_of_this_site_may_be_redirected_to(target: str) -> None:
    assert paths.is_local(target)


@pytest.mark.parametrize(
    "target",
    [
        "",
        "f/books",
        "//evil.test",
        "/\\evil.test",
        "http://evil.test/",
        "/a\nb",
        "/a b",
        "javascript:x",
    ],
)
def test_no_other_target_is(target: str) -> None:
    assert not paths.is_local(target)
