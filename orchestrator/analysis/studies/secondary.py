"""Outcomes beside success that were registered: two sides' cost, completion or pass^k, described.

They are intervals and no tests: what a study asks is its questions, and a second list of p-values
would take from their correction or escape it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from math import comb
from operator import attrgetter
from typing import Final, assert_never

from orchestrator.analysis.stats.rates import Interval, mean_of
from orchestrator.analysis.stats.results import Compared, EpisodeResult, EpisodeTable, pair_key
from orchestrator.analysis.studies.questions import Question, Stage, sides_of
from orchestrator.analysis.wording import money

_MINUS: Final = "−"
_NO_ROWS: Final = EpisodeTable()


class Outcome(StrEnum):
    """What is compared beside success.

    `completion`: share of key nodes; `pass_hat`: that all of k plays of a task succeed; `usd`,
    `tokens`, `seconds`, `steps`: of an episode.
    """

    COMPLETION = "completion"
    PASS_HAT = "pass_hat"  # noqa: S105 - pass^k of τ-bench
    USD = "usd"
    TOKENS = "tokens"
    SECONDS = "seconds"
    STEPS = "steps"


_READ: Final[Mapping[Outcome, Callable[[EpisodeResult], float | None]]] = {
    Outcome.COMPLETION: attrgetter("completion"),
    Outcome.USD: attrgetter("cost"),
    Outcome.TOKENS: attrgetter("tokens"),
    Outcome.SECONDS: attrgetter("seconds"),
    Outcome.STEPS: attrgetter("steps"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Secondary:
    """A secondary outcome as it was registered.

    Attributes:
        question: which sides are compared, held at what.
        k: of `pass_hat`; None of others.
    """

    question: Question
    outcome: Outcome
    k: int | None = None

    @property
    def title(self) -> str:
        """What is compared, in words."""
        match self.outcome:
            case Outcome.COMPLETION:
                return "key nodes met"
            case Outcome.PASS_HAT:
                return f"success in all of {self.k} plays (pass^{self.k})"
            case Outcome.USD:
                return "US dollars an episode"
            case Outcome.TOKENS | Outcome.SECONDS | Outcome.STEPS:
                return f"{self.outcome.value} an episode"
            case _:
                assert_never(self.outcome)

    @property
    def is_share(self) -> bool:
        """Whether it lies between 0 and 1."""
        return self.outcome in {Outcome.COMPLETION, Outcome.PASS_HAT}

    def said(self, value: float) -> str:
        """Return a value, or a difference of two, in words."""
        sign, size = (_MINUS if value < 0 else ""), abs(value)
        match self.outcome:
            case Outcome.COMPLETION | Outcome.PASS_HAT:
                return f"{sign}{size:.0%}"
            case Outcome.USD:
                return f"{sign}{money(size)}"
            case Outcome.TOKENS:
                return f"{sign}{size:,.0f}"
            case Outcome.SECONDS:
                return f"{sign}{size:,.1f} s"
            case Outcome.STEPS:
                return f"{sign}{size:,.1f}"
            case _:
                assert_never(self.outcome)


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondaryOutcome:
    """What a study says of a secondary outcome.

    Attributes:
        first, second: mean over the paired tasks of the mean over their scored episodes.
        effect: first minus second; `interval`: of it, at 1 - alpha, by templates, not corrected.
        tasks: how many both sides have a figure of; `unpaired`: how many one side lacks.
        undefined: why there is no effect; empty where there is one.
    """

    asked: Secondary
    title: str
    sentence: str
    stage: Stage
    is_interim: bool
    first: float | None
    second: float | None
    effect: float | None
    interval: Interval | None
    tasks: int
    unpaired: int
    undefined: str = ""


@dataclass(frozen=True, slots=True)
class _Pair:
    """One task's figure on both sides."""

    cluster: str
    first: float
    second: float


def secondary_of(
    asked: Iterable[Secondary],
    table: EpisodeTable,
    stages: Mapping[str, Stage],
    *,
    confidence: float,
) -> tuple[SecondaryOutcome, ...]:
    """Describe each secondary outcome, in their order."""
    return tuple(
        _described(one, table, stages.get(one.question.id, Stage()), confidence) for one in asked
    )


def _described(
    asked: Secondary, table: EpisodeTable, stage: Stage, confidence: float
) -> SecondaryOutcome:
    of = asked.question.of
    first, second = (side.scored.by(pair_key(of)) for side in sides_of(asked.question, table))
    pairs: list[_Pair] = []
    unpaired, undefined = 0, ""
    for task in dict.fromkeys((*first, *second)):
        mine, other = first.get(task, _NO_ROWS), second.get(task, _NO_ROWS)
        if of is Compared.ARMS:
            mine, other = mine.with_repeats_of(other), other.with_repeats_of(mine)
        values = _value(asked, mine), _value(asked, other)
        if values[0] is None or values[1] is None:
            unpaired += 1
            if asked.outcome is Outcome.USD and mine and other:
                undefined = "the cost of some scored episodes is unknown"
        else:
            pairs.append(_Pair(mine.cluster, values[0], values[1]))
    if not pairs:
        undefined = undefined or "no task has a figure on both sides"
    ours = theirs = effect = interval = None
    if not undefined:
        ours = math.fsum(pair.first for pair in pairs) / len(pairs)
        theirs = math.fsum(pair.second for pair in pairs) / len(pairs)
        differences = [(pair.cluster, pair.first - pair.second) for pair in pairs]
        effect, interval = mean_of(differences, confidence=confidence)
        if interval is not None and asked.is_share:
            interval = Interval(max(-1.0, interval.low), min(1.0, interval.high))
    found = SecondaryOutcome(
        asked=asked,
        title=asked.title,
        sentence="",
        stage=stage,
        is_interim=stage.is_interim,
        first=ours,
        second=theirs,
        effect=effect,
        interval=interval,
        tasks=len(pairs),
        unpaired=unpaired,
        undefined=undefined,
    )
    return replace(found, sentence=_sentence(found, confidence))


def _value(asked: Secondary, rows: EpisodeTable) -> float | None:
    """Return a task's figure on one side; None where it has none."""
    if asked.outcome is Outcome.PASS_HAT:
        plays, k = len(rows), asked.k or 1
        won = sum(row.success is True for row in rows)
        return comb(won, k) / comb(plays, k) if plays >= k else None
    read = _READ[asked.outcome]
    values = [value for row in rows if (value := read(row)) is not None]
    is_whole = len(values) == len(rows) or asked.outcome is Outcome.COMPLETION
    return math.fsum(values) / len(values) if values and is_whole else None


def _sentence(found: SecondaryOutcome, confidence: float) -> str:
    asked, stage, of = found.asked, found.stage, found.asked.question
    if found.first is None or found.second is None or found.effect is None:
        return f"No figure: {found.undefined}."
    span, said = found.interval, ""
    if span is not None:
        said = f" ({confidence:.0%} interval {asked.said(span.low)} to {asked.said(span.high)})"
    interim = f"Interim, {stage.ended} of {stage.planned} episodes. " if stage.is_interim else ""
    on = "the one task" if found.tasks == 1 else f"the same {found.tasks} tasks"
    on += f", {of.agent}" if of.of is Compared.ARMS and of.agent else ""
    on += f", in arm {of.arm}" if of.arm else ""
    first, second = of.sides
    return (
        f"{interim}{asked.title[0].upper()}{asked.title[1:]}, on {on}: {first}"
        f" {asked.said(found.first)}, {second} {asked.said(found.second)}; difference"
        f" {asked.said(found.effect)}{said}."
    )
