"""When a site that refuses wants to be asked again, and that nobody asks it before."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from support.canary.plays import GOAL, OPENED, make_evidence, make_play, make_step

from arena_core.actions import Click
from evaluators.evidence import EpisodeFault, UnscoredReason
from orchestrator.authoring.canary.findings import (
    LONGEST_RETRY,
    CanaryStatus,
    TaskFinding,
    finding_of,
    retry_at,
)
from orchestrator.authoring.canary.kept_looks import KeptLook, When, is_fresh
from orchestrator.authoring.canary.looking import pause_s
from orchestrator.episode.page_view import PageView

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "wait"),
    [
        ("120", timedelta(minutes=2)),
        (" 120 ", timedelta(minutes=2)),
        ("Thu, 26 Nov 2026 12:05:00 GMT", timedelta(minutes=5)),
        ("Thu, 26 Nov 2026 13:05:00 +0100", timedelta(minutes=5)),
        ("Thu, 26 Nov 2026 12:05:00 -0000", timedelta(minutes=5)),
        # A site cannot shut a canary up for good.
        ("1000000000", LONGEST_RETRY),
        ("9" * 20, LONGEST_RETRY),
        ("Fri, 31 Dec 9999 23:59:59 GMT", LONGEST_RETRY),
        ("Fri, 31 Dec 9999 23:59:59 -2359", LONGEST_RETRY),
    ],
)
def test_seconds_and_dates_are_read_and_bounded(said: str, wait: timedelta) -> None:
    assert retry_at(said, NOW) == NOW + wait


@pytest.mark.parametrize(
    "said",
    [
        *("", "0", "-5", "soon", "1.5", "1e9", "٣", "9" * 21, "120 seconds", "nan", "\x1b[2J"),
        "Thu, 26 Nov 2026 11:00:00 GMT",
        "Thu, 99 Nov 2026 12:05:00 GMT",
        "Thu, 26 Nov 99999 12:05:00 GMT",
    ],
)
def test_garbage_and_what_is_past_say_nothing(said: str) -> None:
    assert retry_at(said, NOW) is None


def limited(retry_after: str | None, status: int = 429) -> TaskFinding:
    last = make_step(1, GOAL, action=Click(element=3), status=status)
    steps = (OPENED, last.model_copy(update={"retry_after": retry_after}))
    page = PageView(GOAL, "Too many requests", status, '[1] heading "Too many requests"')
    return finding_of(make_play(make_evidence(*steps), page, page))


def test_a_rate_limit_says_until_when() -> None:
    found = limited("600")
    assert found.status is CanaryStatus.BLOCKED
    assert found.retry_at == "2026-01-01T00:10:01+00:00"  # from the end of the play
    assert found.because == "rate limit: status 429, until 2026-01-01T00:10:01+00:00"


@pytest.mark.parametrize("said", [None, "garbage", "-1"])
def test_a_rate_limit_that_does_not_say_until_when_is_one_all_the_same(said: str | None) -> None:
    found = limited(said)
    assert (found.status, found.retry_at) == (CanaryStatus.BLOCKED, None)


def test_a_site_that_is_down_for_a_while_says_until_when() -> None:
    step = make_step(0, GOAL, status=503).model_copy(update={"retry_after": "600"})
    fault = EpisodeFault(reason=UnscoredReason.BLOCKED, message="the live site answered 503")
    found = finding_of(make_play(make_evidence(step, ended=None, fault=fault)))
    assert (found.status, found.retry_at) == (
        CanaryStatus.UNREACHABLE,
        "2026-01-01T00:10:01+00:00",
    )


def test_the_pause_is_that_of_the_last_site_and_none_where_it_is_over() -> None:
    found = [limited("60"), limited("600"), limited(None)]
    assert pause_s(found, datetime(2026, 1, 1, tzinfo=UTC)) == 601
    assert pause_s(found, NOW) == 0


def test_a_run_does_not_look_again_before_the_site_wants_that() -> None:
    look = KeptLook(
        task="a",
        began=NOW,
        when=When.BEFORE,
        status=CanaryStatus.BLOCKED,
        because="rate limit",
        retry_at=NOW + timedelta(minutes=30),
    )
    assert is_fresh(look, NOW + timedelta(minutes=29))
    assert not is_fresh(look, NOW + timedelta(minutes=30))
