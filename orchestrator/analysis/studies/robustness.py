"""How much of an agent's success is left in an arm: robustness ratios, and the tasks that break."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from arena_core.names import counted
from arena_core.worlds import World
from orchestrator.analysis.stats.intervals import bca_of_ratio
from orchestrator.analysis.stats.rates import CONFIDENCE, Interval
from orchestrator.analysis.stats.results import Cell, Compared, EpisodeTable, TaskPair
from orchestrator.analysis.studies.study_runs import StudyRun
from orchestrator.analysis.wording import percent

_NAMED: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Robustness:
    """One agent in an arm against the same agent in the clean one.

    Of each task those repeats count that both scored: a repeat that is void in the arm takes its
    clean twin along.

    Attributes:
        clean, varied: labels.
        arm: what was varied; `suite`: on which tasks.
        clean_rate, varied_rate: success, each task counting once.
        ratio: the second divided by the first; None where the clean arm has no success.
        interval: of the ratio, by a bootstrap over templates; None where `undefined` says why.
        broken: tasks that succeed less often in the arm, the largest loss first.
        unpaired: how many tasks one side has no scored episode of: void episodes are among them.
    """

    clean: str
    varied: str
    arm: str
    suite: str
    world: World
    tasks: int
    clean_rate: float | None
    varied_rate: float | None
    ratio: float | None
    interval: Interval | None
    undefined: str | None
    broken: tuple[str, ...]
    unpaired: int

    @property
    def sentence(self) -> str:
        """All of it, for people."""
        left = f"; {counted(self.unpaired, 'task')} could not be paired" if self.unpaired else ""
        start = f"Robustness of {self.clean} to {self.arm}, {self.suite}, {self.world}"
        if not self.tasks:
            return f"{start}: no task has a scored episode in both arms{left}."
        rates = f"{percent(self.varied_rate)} in the arm, {percent(self.clean_rate)} clean"
        if self.ratio is None:
            said = f"no ratio, since nothing succeeds in the clean arm ({rates})"
        else:
            sure = self.interval
            how = f"no interval: {self.undefined}" if sure is None else f"{_range(sure)}"
            said = f"{self.ratio:.2f} ({how}; {rates})"
        some = ", ".join(self.broken[:_NAMED])
        more = f" and {len(self.broken) - _NAMED} more" if len(self.broken) > _NAMED else ""
        broken = f"{counted(len(self.broken), 'task')} lost ({some}{more})"
        lost = broken if self.broken else "no task lost"
        return f"{start}: {said} on {counted(self.tasks, 'task')}; {lost}{left}."


def _range(found: Interval) -> str:
    return f"{found.low:.2f} to {found.high:.2f}"


def robustness_of(
    runs: Sequence[StudyRun], table: EpisodeTable, *, confidence: float = CONFIDENCE, seed: int = 0
) -> tuple[Robustness, ...]:
    """Return each agent's robustness to each arm that it was played in beside the clean one."""
    return tuple(_found(runs, table, confidence, seed))


def _found(
    runs: Sequence[StudyRun], table: EpisodeTable, confidence: float, seed: int
) -> Iterator[Robustness]:
    none = EpisodeTable()
    for clean, varied in product(runs, runs):
        if clean.lock.arm is not None or varied.lock.arm is None or not _are_one(clean, varied):
            continue
        for world in World:
            if world not in clean.lock.worlds or world not in varied.lock.worlds:
                continue
            sides = [
                table.cells.get(Cell(run.label, run.suite, world), none) for run in (varied, clean)
            ]
            pairs = sides[0].paired_with(sides[1], Compared.AGENTS, is_matched=True)
            names = clean.label, varied.label, varied.lock.arm, clean.suite
            yield _robustness(names, world, pairs, confidence, seed)


def _are_one(clean: StudyRun, varied: StudyRun) -> bool:
    """Whether two runs are of the same agent on the same suite, whatever its model cost.

    A study says which: it may hold two agents that differ in their labels alone.
    """
    if clean.arm or (varied.arm and clean.label != varied.arm.agent):
        return False
    first, second = (one.lock.agent.model_copy(update={"price": None}) for one in (clean, varied))
    return first == second and clean.suite == varied.suite


def _robustness(
    names: tuple[str, str, str, str],
    world: World,
    pairs: Sequence[TaskPair],
    confidence: float,
    seed: int,
) -> Robustness:
    known = [pair for pair in pairs if pair.difference is not None]
    clusters: dict[str, list[tuple[float, float]]] = {}
    for pair in known:
        varied, clean = (side.share or 0.0 for side in pair.sides)
        clusters.setdefault(pair.cluster, []).append((varied, clean))
    parts = [math.fsum(one[0] for one in tasks) for tasks in clusters.values()]
    wholes = [math.fsum(one[1] for one in tasks) for tasks in clusters.values()]
    has_ratio = math.fsum(wholes) > 0
    sure = bca_of_ratio(parts, wholes, seed=seed, confidence=confidence) if has_ratio else None
    lost = sorted((pair for pair in known if (pair.difference or 0) < 0), key=_loss)
    clean_label, varied_label, arm, suite = names
    return Robustness(
        clean=clean_label,
        varied=varied_label,
        arm=arm,
        suite=suite,
        world=world,
        tasks=len(known),
        clean_rate=math.fsum(wholes) / len(known) if known else None,
        varied_rate=math.fsum(parts) / len(known) if known else None,
        ratio=math.fsum(parts) / math.fsum(wholes) if has_ratio else None,
        interval=None if sure is None else sure.interval,
        undefined=None if sure is None else sure.undefined,
        broken=tuple(pair.id for pair in lost),
        unpaired=len(pairs) - len(known),
    )


def _loss(pair: TaskPair) -> float:
    return pair.difference or 0.0
