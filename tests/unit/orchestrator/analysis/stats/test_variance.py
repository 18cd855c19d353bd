from __future__ import annotations

import warnings

import numpy as np
import pytest
from quick_cases import SLOW
from support.studies.stats_rows import row

from arena_core.worlds import World
from orchestrator.analysis.stats.results import EpisodeResult
from orchestrator.analysis.stats.variance import (
    VarianceComponents,
    repeats_worth,
    variance_components,
    worthwhile_repeats,
)


def played(wins: dict[str, str], world: World = World.OFFLINE) -> list[EpisodeResult]:
    return [
        row(task, repeat=repeat, success={"+": True, "-": False, "?": None}[mark], world=world)
        for task, marks in wins.items()
        for repeat, mark in enumerate(marks)
    ]


@SLOW
def test_components_are_those_of_a_mixed_model() -> None:
    """On balanced data with positive estimates REML and analysis of variance agree."""
    random = np.random.default_rng(3)
    chances = random.beta(1.5, 1.5, 40)
    wins = {
        f"t{task}": "".join("+" if won else "-" for won in random.random(6) < chance)
        for task, chance in enumerate(chances)
    }
    peer = pytest.importorskip("statsmodels.regression.mixed_linear_model")
    found = variance_components(played(wins))
    won = np.array([float(mark == "+") for marks in wins.values() for mark in marks])
    tasks = np.repeat(np.arange(len(wins)), 6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = peer.MixedLM(won, np.ones((len(won), 1)), groups=tasks).fit(reml=True)
    assert found.tasks == pytest.approx(float(np.asarray(fitted.cov_re)[0, 0]), rel=1e-3)
    assert found.repeats == pytest.approx(float(fitted.scale), rel=1e-3)


def test_two_worlds_by_hand() -> None:
    # Cells' means: offline 1, 0.5, 0; online 0.5, 0, 0. Two repeats each.
    rows = played({"a": "++", "b": "+-", "c": "--"})
    rows += played({"a": "+-", "b": "--", "c": "--"}, World.ONLINE)
    found = variance_components(rows)
    within = (0 + 0.5 + 0 + 0.5 + 0 + 0) / 6
    means = np.array([[1, 0.5], [0.5, 0], [0, 0]])
    residual = means - means.mean(1, keepdims=True) - means.mean(0) + means.mean()
    together = (residual**2).sum() / 2
    assert found.repeats == pytest.approx(within)
    assert found.tasks_by_worlds == pytest.approx(max(0, together - within / 2))
    assert found.tasks == pytest.approx((2 * means.mean(1).var(ddof=1) - together) / 2)
    assert found.worlds == pytest.approx(max(0, means.mean(0).var(ddof=1) - together / 3))
    parts = (found.repeats, found.tasks_by_worlds, found.tasks, found.worlds)
    assert found.total == pytest.approx(sum(part or 0.0 for part in parts))


@SLOW
def test_estimates_are_right_on_average_with_unequal_repeats() -> None:
    random = np.random.default_rng(5)
    tasks: list[float] = []
    repeats: list[float] = []
    for _ in range(300):
        wins = {
            f"t{task}": "".join(
                "+" if won else "-" for won in random.random(random.integers(2, 7)) < chance
            )
            for task, chance in enumerate(random.beta(2, 2, 12))
        }
        found = variance_components(played(wins))
        tasks.append(found.tasks or 0.0)
        repeats.append(found.repeats or 0.0)
    # Beta(2, 2): variance 0.05 between tasks, E[p(1-p)] = 0.2 within. None is cut off at 0 often.
    assert np.mean(tasks) == pytest.approx(0.05, abs=0.006)
    assert np.mean(repeats) == pytest.approx(0.2, abs=0.006)


def test_unscored_repeats_are_left_out() -> None:
    with_unscored = played({"a": "++?", "b": "-+?", "c": "--?", "d": "??"})
    assert variance_components(with_unscored) == variance_components(
        played({"a": "++", "b": "-+", "c": "--"})
    )


@pytest.mark.parametrize(
    ("wins", "because"),
    [
        ({"a": "+++"}, "only 1 task has a scored episode in every world"),
        ({"a": "?"}, "only 0 tasks have a scored episode in every world"),
        (
            {"a": "+", "b": "-?"},
            "no task was scored twice in a world, so tasks and repeats cannot be separated",
        ),
    ],
)
def test_what_cannot_be_told_apart_says_why(wins: dict[str, str], because: str) -> None:
    found = variance_components(played(wins))
    assert (found.tasks, found.total, found.undefined) == (None, None, because)
    assert repeats_worth(found, tasks=10) == ()
    assert worthwhile_repeats(()) is None


def test_all_alike_has_no_variance_and_repeats_are_worth_nothing() -> None:
    found = variance_components(played({"a": "++", "b": "++"}))
    assert found.total == 0
    assert worthwhile_repeats(repeats_worth(found, tasks=2)) == 1


def components(tasks: float, repeats: float) -> VarianceComponents:
    return VarianceComponents(task_count=100, tasks=tasks, repeats=repeats)


def test_repeats_help_as_far_as_they_are_what_varies() -> None:
    worth = repeats_worth(components(0.05, 0.2), tasks=100)
    assert worth[0].standard_error == pytest.approx(0.05)
    assert worth[3].standard_error == pytest.approx(np.sqrt(0.1 / 100))
    assert worth[1].gain == pytest.approx(1 - np.sqrt(0.15 / 0.25))
    assert worthwhile_repeats(worth) == 5
    assert worthwhile_repeats(repeats_worth(components(0.24, 0.01), tasks=100)) == 1
