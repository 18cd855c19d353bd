"""What the unscored could change: bounds, and what they would have to be to turn a conclusion."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from orchestrator.analysis.stats.rates import Interval
from orchestrator.analysis.stats.results import TaskOutcomes, TaskPair, success_rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The nearest that the unscored episodes of both sides could be and turn a conclusion.

    Attributes:
        first_succeed, second_succeed: how many unscored episodes of each side succeed there.
        decision: what the conclusion becomes.
    """

    first_succeed: int
    second_succeed: int
    decision: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TippingPoint:
    """How a conclusion depends on the unscored.

    Attributes:
        decision: the conclusion without the unscored.
        first_unscored, second_unscored: how many episodes of the tasks that both sides played.
        turns: one a direction in which it turns; empty where nothing that they could be turns it.
    """

    decision: str
    first_unscored: int
    second_unscored: int
    turns: tuple[Turn, ...]


def rate_bounds(tasks: Iterable[TaskOutcomes]) -> Interval | None:
    """Return the success rate with all unscored episodes failed, and with all succeeded.

    Manski 1989: the truth lies between, whatever the reasons were. None where nothing was played.
    """
    played = [task.outcomes for task in tasks if task.outcomes]
    if not played:
        return None
    return Interval(_filled_mean(played, unscored=False), _filled_mean(played, unscored=True))


def difference_bounds(pairs: Iterable[TaskPair]) -> Interval | None:
    """Return first − second with all unscored episodes against the first side, and for it.

    Over the tasks that both sides played; None where there is none.
    """
    played = [pair for pair in pairs if pair.first and pair.second]
    if not played:
        return None
    first, second = [pair.first for pair in played], [pair.second for pair in played]
    return Interval(
        _filled_mean(first, unscored=False) - _filled_mean(second, unscored=True),
        _filled_mean(first, unscored=True) - _filled_mean(second, unscored=False),
    )


def tipping_point(
    pairs: Sequence[TaskPair], decide: Callable[[Sequence[TaskPair]], str], *, seed: int
) -> TippingPoint:
    """Find what the unscored episodes would have to be to turn a conclusion.

    From where they succeed as often as the scored ones of their side, it goes towards both
    extremes: those of the first side fail and those of the second succeed, and the other way
    round. The nearest place where the conclusion differs is found by halving, which takes the
    conclusion to turn once on the way. Which episodes succeed is drawn once, by the seed.

    Args:
        decide: the conclusion from pairs in which nothing is unscored, as a word; called some
            dozen times.
    """
    played = [pair for pair in pairs if pair.first and pair.second]
    counts = tuple(sum(pair.unscored[side] for pair in played) for side in (0, 1))
    decision = decide(pairs)
    fill = _Filling(played, counts, seed)
    turns = tuple(
        turn
        for extreme in ((0, counts[1]), (counts[0], 0))
        if (turn := fill.turn(extreme, decision, decide)) is not None
    )
    return TippingPoint(
        decision=decision,
        first_unscored=counts[0],
        second_unscored=counts[1],
        # Where the way begins beyond the turn, both directions begin there.
        turns=tuple(dict.fromkeys(turns)),
    )


class _Filling:
    """Pairs whose unscored episodes are given outcomes, in one drawn order."""

    def __init__(self, pairs: Sequence[TaskPair], counts: tuple[int, ...], seed: int) -> None:
        self._pairs = pairs
        self._counts = counts
        draw = random.Random(seed)  # noqa: S311
        self._orders = [draw.sample(range(count), count) for count in counts]
        rates = [success_rate(pair.sides[side] for pair in pairs) for side in (0, 1)]
        # Without any scored episode, a side is assumed to succeed half the time.
        self._begin = tuple(
            round((0.5 if rate is None else rate) * count)
            for rate, count in zip(rates, counts, strict=True)
        )

    def turn(
        self,
        extreme: tuple[int, int],
        decision: str,
        decide: Callable[[Sequence[TaskPair]], str],
    ) -> Turn | None:
        """Return the nearest turn on the way to an extreme; None where even that turns nothing."""
        if not any(self._counts):
            return None
        found = self._at(extreme, decision, decide)
        if found is None:
            return None
        steps = max(abs(end - start) for start, end in zip(self._begin, extreme, strict=True))
        known, unknown = steps, 0
        while unknown < known:
            middle = (unknown + known) // 2
            place = tuple(
                start + round((end - start) * middle / steps)
                for start, end in zip(self._begin, extreme, strict=True)
            )
            turned = self._at((place[0], place[1]), decision, decide)
            if turned is None:
                unknown = middle + 1
            else:
                known, found = middle, turned
        return found

    def _at(
        self, succeed: tuple[int, int], decision: str, decide: Callable[[Sequence[TaskPair]], str]
    ) -> Turn | None:
        became = decide(self._filled(succeed))
        if became == decision:
            return None
        return Turn(first_succeed=succeed[0], second_succeed=succeed[1], decision=became)

    def _filled(self, succeed: tuple[int, int]) -> tuple[TaskPair, ...]:
        given = [
            iter([place < count for place in order])
            for order, count in zip(self._orders, succeed, strict=True)
        ]
        return tuple(
            replace(
                pair,
                first=tuple(next(given[0]) if one is None else one for one in pair.first),
                second=tuple(next(given[1]) if one is None else one for one in pair.second),
            )
            for pair in self._pairs
        )


def _filled_mean(tasks: Sequence[tuple[bool | None, ...]], *, unscored: bool) -> float:
    shares = [
        sum(unscored if one is None else one for one in outcomes) / len(outcomes)
        for outcomes in tasks
    ]
    return math.fsum(shares) / len(shares)
