"""Fitted difficulties: known ones are found, and who played a template is taken into account."""

from __future__ import annotations

from itertools import starmap
from math import exp, log

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from orchestrator.analysis.stats.difficulty import _Model, fitted_difficulties

ABILITIES = (-1.0, 0.5, 2.0)


def played(difficulties: list[float], repeats: int, seed: int) -> list[list[int]]:
    """Return how often agents of these abilities solve templates of these difficulties."""
    dice = np.random.default_rng(seed)
    return [
        [int(dice.binomial(repeats, 1 / (1 + exp(hard - able)))) for able in ABILITIES]
        for hard in difficulties
    ]


def test_known_difficulties_are_found_and_most_intervals_hold_them() -> None:
    held, correlations = [], []
    for seed in range(5):
        known = [float(one) for one in np.random.default_rng(100 + seed).normal(0, 1.5, 60)]
        fitted = fitted_difficulties(played(known, 5, seed), [[5] * 3] * 60)
        mean = sum(known) / 60
        held += [
            one.low <= hard - mean <= one.high for one, hard in zip(fitted, known, strict=True)
        ]
        correlations.append(np.corrcoef([one.logit for one in fitted], known)[0, 1])
    assert 0.91 <= sum(held) / len(held) <= 0.99
    assert min(correlations) > 0.85


def test_a_template_is_not_easy_because_only_strong_agents_played_it() -> None:
    spread = [[1, 3, 4], [0, 2, 4], [2, 4, 5], [1, 3, 5]]
    strong_only, weak_only = [0, 0, 3], [3, 0, 0]
    scored = [[5] * 3] * 4 + [[0, 0, 5], [5, 0, 0]]
    *_, strong, weak = fitted_difficulties([*spread, strong_only, weak_only], scored)
    assert strong.logit > 0 > weak.logit


def test_little_evidence_draws_to_the_mean_and_widens_the_interval() -> None:
    others = [[0, 2, 4], [2, 4, 5], [1, 3, 4], [0, 1, 3], [3, 5, 5]]
    few, many = [0, 0, 0], [0, 0, 0]
    scored = [[5] * 3] * 5 + [[0, 1, 0], [20] * 3]
    *_, seldom, often = fitted_difficulties([*others, few, many], scored)
    assert 0 < seldom.logit < often.logit
    assert seldom.high - seldom.low > often.high - often.low


@pytest.mark.parametrize("solved", [0, 5])
def test_what_all_or_none_solve_everywhere_stays_finite(solved: int) -> None:
    fitted = fitted_difficulties([[solved] * 3] * 6, [[5] * 3] * 6)
    assert all(abs(one.logit) < 1 for one in fitted)


def test_of_few_templates_nothing_is_fitted() -> None:
    assert fitted_difficulties([[1], [0], [1], [0]], [[1]] * 4) == ()


def test_the_likelihood_is_the_integral_over_difficulties() -> None:
    solved, scored, spread = np.array([[1.0, 4.0]]), np.array([[5.0, 5.0]]), 1.3
    abilities = np.array([-0.4, 0.9])

    def given(hard: float) -> float:
        shares = [1 / (1 + exp(hard - able)) for able in abilities]
        counts = zip(shares, solved[0], scored[0], strict=True)
        likelihoods = starmap(lambda p, k, n: p**k * (1 - p) ** (n - k), counts)
        return float(np.prod(list(likelihoods)) * norm.pdf(hard, scale=spread))

    exact, _ = quad(given, -12, 12)
    model = _Model.of(solved, scored)
    prior = float(np.sum(abilities**2)) / 18
    assert -model.loss(abilities, spread) + prior == pytest.approx(log(exact), abs=1e-6)


def test_statsmodels_finds_nearly_the_same() -> None:
    peer = pytest.importorskip("statsmodels.genmod.bayes_mixed_glm")
    known = [float(one) for one in np.random.default_rng(3).normal(0, 1.2, 40)]
    solved = played(known, 6, 4)
    rows = [
        (template, agent, at < count)
        for template, counts in enumerate(solved)
        for agent, count in enumerate(counts)
        for at in range(6)
    ]
    templates, agents, ends = map(np.array, zip(*rows, strict=True))
    fixed = (agents[:, None] == np.arange(3)).astype(float)
    varying = (templates[:, None] == np.arange(40)).astype(float)
    theirs = peer.BinomialBayesMixedGLM(
        ends.astype(float), fixed, varying, np.zeros(40, dtype=int), vcp_p=2, fe_p=3
    ).fit_vb()
    ours = [one.logit for one in fitted_difficulties(solved, [[6] * 3] * 40)]
    assert np.max(np.abs(np.array(ours) + theirs.vc_mean)) < 0.25
