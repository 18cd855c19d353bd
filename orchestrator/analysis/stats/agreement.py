"""Two worlds on the same tasks: how far they agree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evaluators.scores import Score
from evaluators.verdicts import CheckStatus
from orchestrator.analysis.stats.rates import CONFIDENCE, Rate, rate_over
from orchestrator.analysis.stats.results import TaskPair


@dataclass(frozen=True, slots=True, kw_only=True)
class WonTasks:
    """In which of two worlds tasks were won, by id; what the ids are, see `Agreement`.

    Attributes:
        decided: the pairs of the first four, each as if it had been played once.
    """

    both: tuple[str, ...]
    first_only: tuple[str, ...]
    second_only: tuple[str, ...]
    neither: tuple[str, ...]
    unpaired: tuple[str, ...]
    split: tuple[str, ...]
    decided: tuple[TaskPair, ...]

    @classmethod
    def of(cls, pairs: Iterable[TaskPair]) -> WonTasks:
        won: dict[tuple[bool, bool], list[str]] = {
            (one, other): [] for one in (True, False) for other in (True, False)
        }
        unpaired: list[str] = []
        split: list[str] = []
        decided: list[TaskPair] = []
        for pair in pairs:
            first, second = pair.sides
            if not (first.scored and second.scored):
                unpaired.append(pair.id)
            elif not (first.lead and second.lead):
                split.append(pair.id)
            else:
                sides = first.lead > 0, second.lead > 0
                won[sides].append(pair.id)
                decided.append(TaskPair(pair.task, pair.cluster, sides[:1], sides[1:]))
        both, first_only, second_only, neither = map(tuple, won.values())
        return cls(
            both=both,
            first_only=first_only,
            second_only=second_only,
            neither=neither,
            unpaired=tuple(unpaired),
            split=tuple(split),
            decided=tuple(decided),
        )

    def rate(self, confidence: float) -> Rate:
        """Return the share of the decided tasks on which the worlds agree."""
        same = [(pair.cluster, float(pair.first == pair.second)) for pair in self.decided]
        return rate_over(same, confidence=confidence)


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


def compare(pairs: Iterable[TaskPair], confidence: float = CONFIDENCE) -> Agreement:
    """Compare two worlds task by task, in the order of the pairs."""
    won = WonTasks.of(pairs)
    cells = [len(one) for one in (won.both, won.first_only, won.second_only, won.neither)]
    return Agreement(
        both=won.both,
        first_only=won.first_only,
        second_only=won.second_only,
        neither=won.neither,
        unpaired=won.unpaired,
        split=won.split,
        rate=won.rate(confidence),
        p_value=mcnemar_exact(cells[1], cells[2]),
        kappa=cohen_kappa(*cells),
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
