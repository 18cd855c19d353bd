"""How submissions are ordered, and how long ago things are."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module

from hypothesis import given
from hypothesis import strategies as st

clock = import_module("waypost.clock")
ranking = import_module("waypost.ranking")

VOTES = st.integers(min_value=0, max_value=50_000)
AGES = st.timedeltas(min_value=timedelta(), max_value=timedelta(days=4000))


@given(st.integers(-50_000, 50_000), st.integers(-50_000, 50_000), AGES)
def test_of_two_submissions_of_one_moment_the_better_liked_is_never_less_hot(
    first: int, second: int, age: timedelta
) -> None:
    moment = clock.NOW - age
    worse, better = sorted((first, second))
    assert ranking.hot(worse, moment) <= ranking.hot(better, moment)


@given(st.integers(-50_000, 50_000), AGES, AGES)
def test_of_two_equally_liked_the_newer_is_hotter(
    score: int, first: timedelta, second: timedelta
) -> None:
    older, newer = sorted((clock.NOW - first, clock.NOW - second))
    assert ranking.hot(score, older) <= ranking.hot(score, newer)


def test_ten_times_the_score_is_worth_twelve_and_a_half_hours() -> None:
    later = clock.NOW + timedelta(hours=12, minutes=30)
    assert ranking.hot(1000, clock.NOW) == ranking.hot(100, later)


@given(VOTES, VOTES)
def test_controversy_does_not_care_which_side_leads(ups: int, downs: int) -> None:
    assert ranking.controversy(ups, downs) == ranking.controversy(downs, ups) >= 0


@given(VOTES)
def test_one_sided_votes_are_no_controversy(votes: int) -> None:
    assert ranking.controversy(votes, 0) == ranking.controversy(0, votes) == 0


@given(st.integers(2, 20_000), st.integers(1, 19_999))
def test_an_even_split_is_the_most_controversial(total: int, downs: int) -> None:
    total -= total % 2
    downs = min(downs, total - 1)
    even = ranking.controversy(total // 2, total // 2)
    assert ranking.controversy(total - downs, downs) <= even


def test_many_against_one_is_hardly_a_controversy() -> None:
    assert ranking.controversy(99, 1) < ranking.controversy(3, 2) < ranking.controversy(50, 50)


def test_time_is_given_in_the_largest_whole_unit() -> None:
    def told(**before: int) -> str:
        return str(clock.ago(clock.NOW - timedelta(**before)))

    assert told(seconds=59) == "just now"
    assert told(minutes=1) == "1 minute ago"
    assert told(hours=23, minutes=59) == "23 hours ago"
    assert told(days=6) == "6 days ago"
    assert told(days=7) == "1 week ago"
    assert told(days=729) == "1 year ago"


def test_a_moment_is_written_out_with_its_half_of_the_day() -> None:
    assert clock.full(clock.NOW) == "October 1, 2026 at 9:00 AM UTC"
    assert (
        clock.full(clock.NOW + timedelta(hours=15, minutes=5)) == "October 2, 2026 at 12:05 AM UTC"
    )
