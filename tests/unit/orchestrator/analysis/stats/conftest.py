from __future__ import annotations

from collections.abc import Callable

import pytest

from evaluators.evidence import UnscoredReason
from evaluators.scores import Score
from evaluators.verdicts import Outcome, OutcomeKind

MakeScore = Callable[..., Score]


@pytest.fixture(scope="session")
def make_score() -> MakeScore:
    """Make a score: success, unless `won` or `unscored` say otherwise."""

    def make(
        *,
        won: bool = True,
        unscored: UnscoredReason | None = None,
        nodes: tuple[int, int] = (0, 0),
        steps: int = 1,
        alignment: float = 1.0,
    ) -> Score:
        met, count = nodes
        kind = OutcomeKind.SUCCESS if won else OutcomeKind.FAILURE
        has_completion = bool(count) and unscored is None
        return Score(
            outcome=Outcome(OutcomeKind.UNSCORED, unscored) if unscored else Outcome(kind),
            because="",
            verdicts=(),
            required=(),
            key_nodes_met=met,
            key_nodes=count,
            completion=met / count if has_completion else None,
            steps=steps,
            efficiency=steps / met if has_completion and met else None,
            alignment=alignment if has_completion else None,
        )

    return make
