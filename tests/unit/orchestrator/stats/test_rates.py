from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.stats.rates import Rate, rate_of, wilson


@pytest.mark.parametrize(
    ("successes", "count", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_intervals_are_those_that_newcombe_published(
    successes: int, count: int, low: float, high: float
) -> None:
    """Newcombe 1998, Statistics in Medicine 17:857, table I, method 3 (score, uncorrected)."""
    interval = wilson(successes / count, count)
    assert interval.low == pytest.approx(low, abs=5e-5)
    assert interval.high == pytest.approx(high, abs=5e-5)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_an_interval_holds_its_rate_and_stays_a_share(counts: tuple[int, int]) -> None:
    successes, count = counts
    interval = wilson(successes / count, count)
    assert 0 <= interval.low <= successes / count <= interval.high <= 1


@given(st.floats(0, 1), st.integers(1, 300))
def test_success_and_failure_are_mirror_images(share: float, count: int) -> None:
    one, other = wilson(share, count), wilson(1 - share, count)
    assert one.low == pytest.approx(1 - other.high, abs=1e-9)


@given(st.floats(0, 1), st.integers(1, 100))
def test_more_tasks_and_less_confidence_narrow_it(share: float, count: int) -> None:
    def width(tasks: int, confidence: float) -> float:
        interval = wilson(share, tasks, confidence)
        return interval.high - interval.low

    assert width(count * 4, 0.95) < width(count, 0.95)
    assert width(count, 0.8) < width(count, 0.95)


@pytest.mark.parametrize(
    ("share", "count", "confidence"), [(1.1, 5, 0.95), (-0.1, 5, 0.95), (0.5, 0, 0.95), (0.5, 5, 1)]
)
def test_nonsense_has_no_interval(share: float, count: int, confidence: float) -> None:
    with pytest.raises(ValueError, match="no interval for share"):
        wilson(share, count, confidence)


def test_a_rate_is_the_mean_of_its_tasks() -> None:
    rate = rate_of([1.0, 0.5, 0.0])
    assert (rate.value, rate.count, rate.interval) == (0.5, 3, wilson(0.5, 3))


def test_no_tasks_have_no_rate() -> None:
    assert rate_of([]) == Rate(value=None, count=0, interval=None)
