"""Whatever is thrown at the procedures: a finite figure, or none and why; never a p of 0."""

from __future__ import annotations

import math
import pkgutil
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st
from quick_cases import SLOW
from support.studies.stats_rows import row

from arena_core.worlds import World
from orchestrator.analysis import stats
from orchestrator.analysis.stats.concordance import bland_altman, kappa
from orchestrator.analysis.stats.costs import per_success
from orchestrator.analysis.stats.paired import Decision, compare_pairs, equivalence, non_inferiority
from orchestrator.analysis.stats.rates import Interval, clustered_rate, pass_at_k, pass_hat_k
from orchestrator.analysis.stats.results import TaskOutcomes, TaskPair
from orchestrator.analysis.stats.unscored import difference_bounds, rate_bounds, tipping_point
from orchestrator.analysis.stats.variance import repeats_worth, variance_components

OUTCOMES = st.lists(st.sampled_from([True, False, None]), max_size=4).map(tuple)
CLUSTERS = st.sampled_from("abcde")
PAIRS = st.lists(st.builds(TaskPair, st.just("t"), CLUSTERS, OUTCOMES, OUTCOMES), max_size=12)
TASKS = st.lists(st.builds(TaskOutcomes, st.just("t"), CLUSTERS, OUTCOMES), max_size=12)


def holds(interval: Interval | None, value: float | None, undefined: str | None) -> None:
    """Hold an interval to be around its value, or absent with a reason."""
    if interval is None or value is None:
        assert interval is None
        assert undefined
    else:
        assert math.isfinite(interval.low)
        assert math.isfinite(interval.high)
        assert interval.low - 1e-9 <= value <= interval.high + 1e-9


@given(PAIRS)
def test_pairs(pairs: list[TaskPair]) -> None:
    found = compare_pairs(pairs, seed=1, resamples=200, permutations=200)
    holds(found.interval, found.effect, found.undefined)
    if found.p is None:
        assert found.pairs == 0
    else:
        assert found.smallest is not None
        assert 0 < found.smallest <= found.p <= 1
    for test in (equivalence(pairs, 0.1), non_inferiority(pairs, 0.1)):
        assert (test.p is None) == bool(test.undefined)
        assert test.p is None or 0 <= test.p <= 1
        assert test.decision is Decision.UNDECIDED or test.p is not None
    both = kappa(pairs)
    assert both.value is None or -1 <= both.value <= 1
    holds(both.interval, both.value if both.interval else None, both.undefined)
    limits = bland_altman(pairs)
    assert (limits.lower is None) == bool(limits.undefined)
    bounds = difference_bounds(pairs)
    assert bounds is None or -1 <= bounds.low <= bounds.high <= 1


@given(PAIRS)
def test_tipping_points_are_where_the_conclusion_differs(pairs: list[TaskPair]) -> None:
    def decide(found: object) -> str:
        assert isinstance(found, (list, tuple))
        effects = [pair.difference for pair in found if pair.difference is not None]
        return "ahead" if sum(effects) > 0 else "not ahead"

    found = tipping_point(pairs, decide, seed=1)
    for turn in found.turns:
        assert turn.decision != found.decision
        assert 0 <= turn.first_succeed <= found.first_unscored
        assert 0 <= turn.second_succeed <= found.second_unscored
    if not found.first_unscored + found.second_unscored:
        assert found.turns == ()


@given(TASKS, st.integers(1, 5))
def test_tasks(tasks: list[TaskOutcomes], k: int) -> None:
    rate = clustered_rate(tasks)
    holds(rate.interval, rate.value if rate.interval else None, rate.undefined)
    bounds = rate_bounds(tasks)
    assert bounds is None or 0 <= bounds.low <= bounds.high <= 1
    at, hat = pass_at_k(tasks, k), pass_hat_k(tasks, k)
    assert at.tasks + at.left_out == len(tasks)
    if at.value is not None and hat.value is not None:
        assert 0 <= hat.value <= at.value <= 1
    else:
        assert at.undefined == hat.undefined == f"no task has {k} scored repeats"


@given(TASKS, TASKS)
def test_rows(offline: list[TaskOutcomes], online: list[TaskOutcomes]) -> None:
    rows = [
        row(f"t{place}", success=won, repeat=repeat, world=world, template=task.cluster)
        for world, tasks in ((World.OFFLINE, offline), (World.ONLINE, online))
        for place, task in enumerate(tasks)
        for repeat, won in enumerate(task.outcomes)
    ]
    found = variance_components(rows)
    assert (found.tasks is None) == bool(found.undefined)
    assert all(math.isfinite(one.standard_error) for one in repeats_worth(found, tasks=5))
    price = per_success(rows, lambda one: one.usd)
    assert (price.interval is None) == bool(price.undefined)


@SLOW
def test_no_numerical_library_is_imported_before_a_procedure_needs_it() -> None:
    modules = ", ".join(
        f"orchestrator.analysis.stats.{one.name}" for one in pkgutil.iter_modules(stats.__path__)
    )
    code = f"import sys, {modules}; print([n for n in ('numpy', 'scipy') if n in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
