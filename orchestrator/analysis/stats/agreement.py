"""Two worlds on the same tasks: how far they agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluators.scores import Score
from evaluators.verdicts import CheckStatus
from orchestrator.analysis.stats.rates import CONFIDENCE, NOTHING, Rate, rate_over
from orchestrator.analysis.stats.summary import TaskScores, success_share

_HALF = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """The paired comparison of two worlds.

    A task counts as won in a world where more than half of its scored repeats succeeded, as lost
    where less than half did.

    Attributes:
        both, first_only, second_only, neither: ids of the tasks won in these worlds.
        unpaired: ids of tasks that one world has no scored trial of, or that it did not play.
        split: ids of tasks where exactly half of the repeats succeeded in a world.
        rate: share of the paired tasks on which the worlds agree.
        p_value: McNemar's exact two-sided p: how likely so uneven a split of the disagreeing tasks
            is if neither world were harder; 1 where none disagrees.
        kappa: Cohen's; None where undefined.
    """

    both: tuple[str, ...]
    first_only: tuple[str, ...]
    second_only: tuple[str, ...]
    neither: tuple[str, ...]
    unpaired: tuple[str, ...]
    split: tuple[str, ...]
    rate: Rate
    p_value: float
    kappa: float | None

    @property
    def paired(self) -> int:
        """How many tasks are compared."""
        return len(self.both) + len(self.first_only) + len(self.second_only) + len(self.neither)


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """A check that one world met and the other did not, with both reasons."""

    check: str
    first: CheckStatus
    second: CheckStatus
    first_reason: str
    second_reason: str


def compare(
    first: TaskScores,
    second: TaskScores,
    confidence: float = CONFIDENCE,
    *,
    clusters: Mapping[str, str] | None = None,
) -> Agreement:
    """Compare two worlds task by task, in the order of the first.

    Args:
        first: the scores of each task in one world.
        second: the same in the other.
        confidence: of the rate's interval.
        clusters: by task, what is the same of tasks that may be alike; a task that is not in it is
            like no other.
    """
    cells: dict[tuple[bool, bool], list[str]] = {
        (won, also): [] for won in (True, False) for also in (True, False)
    }
    unpaired: list[str] = []
    split: list[str] = []
    for task in dict.fromkeys((*first, *second)):
        shares = success_share(_of(first, task)), success_share(_of(second, task))
        if shares[0] is None or shares[1] is None:
            unpaired.append(task)
        elif any(abs(share - _HALF) <= NOTHING for share in shares if share is not None):
            split.append(task)
        else:
            cells[shares[0] > _HALF, shares[1] > _HALF].append(task)
    of_task = clusters or {}
    same = [
        (of_task.get(task, task), float(won == also))
        for (won, also), found in cells.items()
        for task in found
    ]
    return Agreement(
        both=tuple(cells[True, True]),
        first_only=tuple(cells[True, False]),
        second_only=tuple(cells[False, True]),
        neither=tuple(cells[False, False]),
        unpaired=tuple(unpaired),
        split=tuple(split),
        rate=rate_over(same, confidence=confidence),
        p_value=mcnemar_exact(len(cells[True, False]), len(cells[False, True])),
        kappa=cohen_kappa(*(len(tasks) for tasks in cells.values())),
    )


def mcnemar_exact(first_only: int, second_only: int) -> float:
    """Return the two-sided p of McNemar's exact test from the two counts that disagree."""
    trials = first_only + second_only
    ways = tail = 1
    for wins in range(1, min(first_only, second_only) + 1):
        ways = ways * (trials - wins + 1) // wins
        tail += ways
    return min(1.0, 2 * tail / (1 << trials))


def cohen_kappa(both: int, first_only: int, second_only: int, neither: int) -> float | None:
    """Return Cohen's kappa of a 2 × 2 table, None where it is undefined."""
    count = both + first_only + second_only + neither
    # Whole numbers throughout: chance agreement of exactly 1 must not be missed by rounding.
    first_won, second_won = both + first_only, both + second_only
    by_chance = first_won * second_won + (count - first_won) * (count - second_won)
    if by_chance == count * count:
        return None
    return ((both + neither) * count - by_chance) / (count * count - by_chance)


def disagreements(first: Score, second: Score) -> tuple[Disagreement, ...]:
    """Return the checks on which two scores of one task part, in the task's order.

    Only checks that apply in both worlds, and that both could look at, can part.
    """
    others = {verdict.check: verdict for verdict in second.verdicts}
    return tuple(
        Disagreement(
            check=verdict.check,
            first=verdict.status,
            second=other.status,
            first_reason=verdict.reason,
            second_reason=other.reason,
        )
        for verdict in first.verdicts
        if (other := others.get(verdict.check)) is not None
        and {verdict.status, other.status} == {CheckStatus.MET, CheckStatus.UNMET}
    )


def _of(scores: Mapping[str, Sequence[Score]], task: str) -> Sequence[Score]:
    return scores.get(task, ())
