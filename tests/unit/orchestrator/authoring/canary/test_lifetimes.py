"""Half-lives are those of the estimator that the module names, censored tasks included."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from scipy import stats

from orchestrator.authoring.canary.findings import CanaryStatus
from orchestrator.authoring.canary.history import CanaryEntry, CanaryPlace, Origins
from orchestrator.authoring.canary.lifetimes import (
    Lifetime,
    half_life,
    kind_deaths,
    life_of,
    lifetimes,
)

PLACE = CanaryPlace(suite="small", origins=Origins.LIVE, browser="chromium")
KINDS = ("reference click", "reference click", "key node url exact")
V, D, B, U, X = (
    CanaryStatus.VALID,
    CanaryStatus.DRIFTED,
    CanaryStatus.BLOCKED,
    CanaryStatus.UNREACHABLE,
    CanaryStatus.UNKNOWN,
)


def entry(task: str, day: float, status: CanaryStatus, digest: str = "1") -> CanaryEntry:
    at = (datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=day)).isoformat()
    return CanaryEntry(
        place=PLACE,
        at=at,
        task=task,
        task_sha256=digest,
        status=status,
        since=at,
        because="",
        kind="reference click" if status is D else None,
        sites=("wiki",),
        kinds=KINDS,
        evidence=None,
        screenshot=None,
    )


def seen(*statuses: CanaryStatus, every: float = 10.0) -> list[CanaryEntry]:
    return [entry("task", at * every, status) for at, status in enumerate(statuses)]


def days_of(entries: Sequence[CanaryEntry]) -> list[tuple[float, bool]]:
    return [(one.days, one.died_of is not None) for one in lifetimes(entries)]


def life(days: float, died_of: str | None = None) -> Lifetime:
    return Lifetime(task="t", sites=("wiki",), kinds=KINDS, days=days, died_of=died_of)


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ((V, V, V), [(20.0, False)]),  # still valid: censored at the last look
        ((V, V, D), [(15.0, True)]),  # halfway between the last valid look and the drift
        ((V, D, D, D), [(5.0, True)]),  # it dies once
        ((V, B, U, X, V), [(40.0, False)]),  # what could not be looked at kills nobody
        ((V, B, B), [(0.0, False)]),  # and proves no life either
        ((V, X, D), [(10.0, True)]),
        ((V, D, V, V), [(5.0, True), (10.0, False)]),  # it came back: another lifetime
        ((D, D), []),  # never seen alive
        ((X, B), []),
    ],
)
def test_a_lifetime_goes_from_valid_to_drifted(
    statuses: Sequence[CanaryStatus], expected: list[tuple[float, bool]]
) -> None:
    assert days_of(seen(*statuses)) == expected


def test_a_task_that_is_changed_lives_anew_and_its_old_life_is_censored() -> None:
    entries = [
        entry("a", 0, V),
        entry("a", 10, V),
        entry("a", 20, D, digest="2"),
        entry("a", 30, V, digest="2"),
    ]
    assert days_of(entries) == [(10.0, False), (0.0, False)]


def test_the_half_life_and_its_interval_are_exact() -> None:
    found = half_life([life(30, "reference click"), life(50, "reference click"), life(120)])
    assert (found.deaths, found.task_days) == (2, 200)
    assert found.days == pytest.approx(math.log(2) * 200 / 2)
    # Garwood: chi-square quantiles with 2d and 2d + 2 degrees of freedom.
    assert found.low == pytest.approx(math.log(2) * 2 * 200 / stats.chi2.ppf(0.975, 6))
    assert found.high == pytest.approx(math.log(2) * 2 * 200 / stats.chi2.ppf(0.025, 4))


def test_where_nothing_died_the_half_life_has_only_a_lower_bound() -> None:
    found = half_life([life(100), life(100)])
    assert (found.days, found.high) == (None, None)
    assert found.low == pytest.approx(math.log(2) * 200 / 3.6889, rel=1e-4)


def test_what_was_seen_once_says_nothing() -> None:
    found = half_life([life(0)])
    assert (found.days, found.low, found.high) == (None, None, None)
    assert half_life([]).low is None


def test_the_interval_covers_the_true_half_life_as_often_as_it_says() -> None:
    random = np.random.default_rng(7)
    true, until, tasks, covered, studies = 30.0, 40.0, 20, 0, 400
    for _ in range(studies):
        ages = random.exponential(true / math.log(2), tasks)
        found = half_life(
            [life(min(age, until), "reference click" if age < until else None) for age in ages]
        )
        covered += (found.low or 0) <= true <= (found.high or math.inf)
    assert covered / studies >= 0.94


def test_what_dies_first_is_told_by_deaths_for_each_item_and_day() -> None:
    rows = kind_deaths([life(50, "reference click"), life(50), life(100, "login")])
    assert [(one.kind, one.deaths, one.item_days) for one in rows] == [
        ("reference click", 1, 400.0),
        ("login", 1, 0.0),
        ("key node url exact", 0, 200.0),
    ]
    assert rows[0].per_100_days == pytest.approx(0.25)
    assert rows[1].per_100_days is None


def test_validity_over_time_has_bounds_where_tasks_are_not_known() -> None:
    entries = [entry("a", 0, V), entry("b", 0, D), entry("c", 0, B), entry("d", 0, X)]
    found = life_of(PLACE, [*entries, entry("a", 1, D)])
    first, second = found.looks
    assert (first.valid_low, first.valid_high) == (0.25, 0.75)
    assert (second.valid_low, second.valid_high) == (0.0, 0.0)
    assert first.counts == {"valid": 1, "drifted": 1, "blocked": 1, "unreachable": 0, "unknown": 1}
    assert [(one.task, one.status) for one in found.now] == [("a", D), ("b", D), ("c", B), ("d", X)]
