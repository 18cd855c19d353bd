"""Several questions and several looks at a study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from quick_cases import SLOW
from support.studies.stats_simulated import Shape, paired_studies

from orchestrator.analysis.stats.paired import paired_test
from orchestrator.analysis.stats.results import TaskPair
from orchestrator.analysis.stats.sequential import (
    Spending,
    holm,
    level_of,
    nominal_level,
    overall_p,
    spent,
)

OBF, POCOCK = Spending.OBRIEN_FLEMING, Spending.POCOCK
TENTHS = tuple(number / 10 for number in range(1, 11))


@pytest.mark.parametrize(
    ("spending", "expected"),
    [
        # Five equal looks at a one-sided 0.025, as the R packages gsDesign and ldbounds have them.
        (OBF, (4.8769, 3.3569, 2.6803, 2.2898, 2.0310)),
        (POCOCK, (2.4380, 2.4268, 2.4101, 2.3966, 2.3859)),
    ],
)
def test_boundaries_are_the_published_ones(spending: Spending, expected: Sequence[float]) -> None:
    looks = tuple(number / 5 for number in range(1, 6))
    found = [nominal_level(spending, 0.025, looks[:many]) for many in range(1, 6)]
    assert scipy.stats.norm.isf(found) == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize("spending", Spending)
def test_alpha_is_spent_at_the_end_and_one_look_alone_takes_all_of_it(spending: Spending) -> None:
    assert spent(spending, 0.025, 1.0) == pytest.approx(0.025)
    assert nominal_level(spending, 0.025, (1.0,)) == pytest.approx(0.025)
    assert level_of(spending, 0.05, (1.0,), is_two_sided=True) == pytest.approx(0.05)


@SLOW
@pytest.mark.parametrize("spending", Spending)
@pytest.mark.parametrize("looks", [(0.02,), (0.3, 0.9), TENTHS, (0.01, 0.5, 0.99, 1.0)])
def test_a_p_with_all_looks_counted_passes_where_the_look_rejects(
    spending: Spending, looks: tuple[float, ...]
) -> None:
    level = level_of(spending, 0.05, looks, is_two_sided=True)
    below, above = (
        overall_p(level * share, spending, looks, is_two_sided=True) for share in (0.999, 1.001)
    )
    assert below <= 0.05 < above
    assert overall_p(0.03, spending, looks, is_two_sided=True) >= 0.03 - 1e-9


@pytest.mark.parametrize("spending", Spending)
def test_a_higher_alpha_never_has_a_stricter_look(spending: Spending) -> None:
    levels = [
        level_of(spending, alpha, TENTHS, is_two_sided=True) for alpha in (0.001, 0.01, 0.05, 0.3)
    ]
    assert levels == sorted(levels)


def test_looks_that_do_not_go_on_are_refused() -> None:
    for fractions in ((), (0.5, 0.5), (0.5, 0.4)):
        with pytest.raises(ValueError, match="growing fractions"):
            nominal_level(OBF, 0.025, fractions)
    with pytest.raises(ValueError, match="cannot spend alpha"):
        spent(OBF, 0.025, 0.0)


@SLOW
def test_a_walk_that_goes_nowhere_crosses_as_often_as_alpha_says() -> None:
    steps = np.random.default_rng(1).standard_normal((200_000, 10)) / np.sqrt(10)
    walks = abs(np.cumsum(steps, axis=1)) / np.sqrt(TENTHS)
    for spending in Spending:
        levels = [
            level_of(spending, 0.05, TENTHS[:many], is_two_sided=True) for many in range(1, 11)
        ]
        crossed = (walks > scipy.stats.norm.isf(np.array(levels) / 2)).any(axis=1).mean()
        assert crossed == pytest.approx(0.05, abs=0.0015)


def looked_at(pairs: Sequence[TaskPair], random: np.random.Generator) -> Iterator[list[TaskPair]]:
    """Yield a study after each tenth of its episodes, played by repeat and then by task."""
    repeats = len(pairs[0].first)
    place = random.permutation(len(pairs))
    for share in TENTHS:
        done = round(share * len(pairs) * repeats)
        whole, begun = divmod(done, len(pairs))
        yield [
            TaskPair(pair.task, pair.cluster, pair.first[:many], pair.second[:many])
            for pair, at in zip(pairs, place, strict=True)
            if (many := whole + (at < begun))
        ]


def false_positives(shape: Shape, rate: float, count: int) -> dict[str, float]:
    """Return how often ten looks find a difference that is not there, by what they go by."""
    random = np.random.default_rng(7)
    levels = {
        spending.value: [
            level_of(spending, 0.05, TENTHS[:many], is_two_sided=True) for many in range(1, 11)
        ]
        for spending in Spending
    }
    levels["none"] = [0.05] * 10
    wrong = dict.fromkeys(levels, 0)
    for number, study in enumerate(paired_studies(shape, (rate, rate), count, 20_261)):
        looks = [
            paired_test(one, seed=number, permutations=1_999).p or 1.0
            for one in looked_at(study, random)
        ]
        for name, held in levels.items():
            wrong[name] += any(p <= level for p, level in zip(looks, held, strict=True))
    return {name: found / count for name, found in wrong.items()}


@pytest.mark.slow(minutes=4)
@pytest.mark.parametrize("shape", [Shape(30, 4, 5), Shape(100, 1, 3)])
def test_ten_looks_find_too_much_without_a_design_and_no_more_than_one_look_with(
    shape: Shape,
) -> None:
    found = false_positives(shape, 0.5, 1_500)
    # Two standard errors of a share of 0.05 over 1,500 studies are 0.011.
    assert found["none"] >= 0.09, found
    assert found["obrien_fleming"] <= 0.055, found
    assert found["pocock"] <= 0.055, found


@SLOW
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_it_gives_what_statsmodels_gives(values: list[float]) -> None:
    peer = pytest.importorskip("statsmodels.stats.multitest")
    expected = peer.multipletests(values, method="holm")[1]
    assert list(holm(values)) == pytest.approx(list(expected))


def test_a_question_without_a_p_value_still_counts_in_its_family() -> None:
    low, none, high = holm([0.01, None, 0.04])
    assert none is None
    assert [low, high] == pytest.approx([0.03, 0.08])
    assert holm([None]) == (None,)
    assert holm([]) == ()


def test_what_is_no_probability_is_refused() -> None:
    with pytest.raises(ValueError, match="not all are p-values"):
        holm([float("nan")])
