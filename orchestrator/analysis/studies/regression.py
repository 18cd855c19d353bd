"""Whether a run holds the bar: no significant drop below a baseline, and a least success."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final

from arena_core.errors import ArenaError, NothingScoredError, UsageError
from arena_core.names import counted, listed
from arena_core.worlds import World
from evaluators.verdicts import CheckStatus, OutcomeKind
from orchestrator.analysis.run_report.run_report import RunReport, require_sound
from orchestrator.analysis.stats.paired import ALPHA, PairedComparison, compare_pairs, paired_test
from orchestrator.analysis.stats.results import TaskPair, success_rate
from orchestrator.analysis.stats.sequential import holm
from orchestrator.analysis.studies.baseline import Baseline, digest_of_task
from orchestrator.analysis.wording import p_said, percent, points, points_span
from orchestrator.runs.store.rescoring import ScoredEpisode

_SEED: Final = 0  # as of `arena compare`, so that both give one p
_ROUNDING: Final = 1e-9


class BarVerdict(StrEnum):
    """What is to be said of a run.

    `unknown`: what is unscored could have been a failure, and as one it would break the bar.
    """

    HELD = "held"
    DROPPED = "dropped"
    BELOW = "below"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """What an agent is held to: a baseline, a least success, or both.

    Attributes:
        against: a baseline's file, or the folder of a run.
        min_success: least success in each world, as a share.
        alpha: level of the test, corrected over the worlds.
        allow: in what the baseline may differ: `suite` (changed tasks, which do not count),
            `tasks`, `worlds`, `arm`, `staged`, `tapes`.
    """

    against: Path | str | None = None
    min_success: float | None = None
    alpha: float = ALPHA
    allow: Collection[str] = ()

    def baseline(self) -> Baseline | None:
        """Return the baseline that there is; refuse a bar that is none."""
        if self.against is None and self.min_success is None:
            message = "there is nothing to hold the agent to"
            raise UsageError(message, hint="--against BASELINE, --min-success SHARE, or both")
        if self.min_success is not None and not 0 < self.min_success <= 1:
            raise UsageError(f"a least success is a share up to 1, not {self.min_success:g}")
        if not 0 < self.alpha < 0.5:  # noqa: PLR2004  the level of a test
            raise UsageError(f"alpha lies between 0 and 0.5, not at {self.alpha:g}")
        return None if self.against is None else Baseline.read(self.against)

    def require_breakable(self, baseline: Baseline, worlds: Sequence[World]) -> None:
        """Refuse a bar that nothing could break."""
        count = max((_clusters_that_can_drop(baseline, world) for world in worlds), default=0)
        smallest = min(1.0, 2 * 2.0**-count)
        if self.min_success is None and smallest > self.alpha:
            groups = counted(count, "group of tasks", "groups of tasks")
            message = (
                f"no drop could be significant: the baseline succeeds in {groups}, and were all of"
                f" them lost, p would be {smallest:.3g}, above {self.alpha:g}"
            )
            hint = "take more tasks, or an absolute bar: --min-success SHARE"
            raise UsageError(message, hint=hint)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldTask:
    """One task in one world, now and in the baseline.

    Attributes:
        pair: the run's outcomes first; the baseline's are empty where it does not count there.
        failed: the first episode that failed; None where none did.
    """

    task: str
    world: World
    pair: TaskPair
    failed: ScoredEpisode | None

    @property
    def is_lost(self) -> bool:
        """Whether it succeeds less often than in the baseline."""
        return (self.pair.difference or 0.0) < 0

    @property
    def why(self) -> str:
        """The first check of that episode that is not met, with its reason and the last step."""
        if self.failed is None:
            return ""
        unmet = (
            f"{one.check}: {one.reason}"
            for one in self.failed.score.verdicts
            if one.decides and one.status is CheckStatus.UNMET
        )
        why = next(unmet, self.failed.score.because)
        return f"{why} (step {self.failed.score.steps}, {self.failed.folder})"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldWorld:
    """A world of the run.

    Attributes:
        rate: the mean of the tasks' shares of successes; None where none is scored.
        least: the same with all that is unscored as failures.
        compared: with the baseline, the run first; None without one.
        p: of no difference, after Holm's correction over the worlds; None as `compared`.
        worst_p: the same with all that is unscored in the run as failures.
        worst_effect: the difference then.
        verdict: of this world alone.
    """

    world: World
    tasks: tuple[HeldTask, ...]
    unscored: int
    rate: float | None
    least: float
    compared: PairedComparison | None
    p: float | None
    worst_p: float | None
    worst_effect: float
    verdict: BarVerdict


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class HeldRun:
    """A run that was held to a bar.

    Attributes:
        baseline: None where only `min_success` was asked for.
        notes: what differs from how the baseline was played, and what does not count.
    """

    report: RunReport
    baseline: Baseline | None
    min_success: float | None
    alpha: float
    worlds: tuple[HeldWorld, ...]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<HeldRun {self.report.folder.path.name}: {self.verdict}>"

    @property
    def verdict(self) -> BarVerdict:
        """The worst of the worlds'."""
        found = {one.verdict for one in self.worlds}
        order = (BarVerdict.DROPPED, BarVerdict.BELOW, BarVerdict.UNKNOWN)
        return next((one for one in order if one in found), BarVerdict.HELD)

    @property
    def because(self) -> str:
        """One sentence for each world that decides."""
        decides = [one for one in self.worlds if one.verdict is self.verdict]
        return "; ".join(self._said(one) for one in decides)

    @property
    def lost(self) -> tuple[HeldTask, ...]:
        """The tasks that succeed less often than in the baseline."""
        return tuple(task for one in self.worlds for task in one.tasks if task.is_lost)

    def require_held(self) -> None:
        """Raise where the bar is not held, or where that is not known.

        Raises:
            InternalError, AgentCrashedError, NothingScoredError: as `arena eval` ends; the last
                one also where what is unscored could hide a drop.
            ArenaError: a significant drop, or too little success.
        """
        require_sound(self.report)
        path = self.report.folder.path
        message = f"{path}: {self.because}"
        if self.verdict is BarVerdict.UNKNOWN:
            hint = f"arena eval --resume {path} --again REASON plays them again"
            raise NothingScoredError(message, hint=f"{hint}; then arena ci --run {path}")
        if self.verdict is not BarVerdict.HELD:
            lost = listed(f"{one.task} ({one.world})" for one in self.lost)
            raise ArenaError(message, hint=f"worse than the baseline: {lost}")

    def _said(self, one: HeldWorld) -> str:
        rate = f"{one.world}: {percent(one.rate)} success"
        below = f"less than {percent(self.min_success)}"
        unscored = counted(one.unscored, "episode is unscored", "episodes are unscored")
        match one.verdict:
            case BarVerdict.BELOW:
                return f"{rate}, {below}"
            case BarVerdict.UNKNOWN:
                return f"{rate}, but {unscored}: as failures they would break the bar"
            case BarVerdict.DROPPED | BarVerdict.HELD:
                return f"{rate}, {self._compared(one)}"

    def _compared(self, one: HeldWorld) -> str:
        if one.compared is None:
            return f"at least {percent(self.min_success)}"
        significant = "a significant drop" if one.verdict is BarVerdict.DROPPED else "no drop shown"
        by = f"{points(one.compared.effect)} points against the baseline"
        sure = points_span(one.compared.interval, none="")
        return f"{significant}: {by}{f' ({sure})' if sure else ''}, {p_said(one.p)}"


def hold(
    report: RunReport,
    baseline: Baseline | None,
    *,
    min_success: float | None,
    alpha: float,
    notes: Iterable[str] = (),
) -> HeldRun:
    """Hold a finished run to a bar; `Bar` says what that is.

    The comparison is that of `arena compare`. What is unscored counts as nothing, but where it
    would break the bar as failures, the verdict is `unknown`: it must not hide a drop.
    """
    tasks = {world: tuple(_tasks(report, baseline, world)) for world in report.lock.worlds}
    pairs = {world: [one.pair for one in mine] for world, mine in tasks.items()}
    worst = {world: list(map(_at_worst, mine)) for world, mine in pairs.items()}
    found = {world: compare_pairs(mine, seed=_SEED) for world, mine in pairs.items()}
    ps = holm([one.p for one in found.values()])
    worst_ps = holm([paired_test(mine, seed=_SEED).p for mine in worst.values()])
    held = []
    for (world, mine), p, worst_p in zip(tasks.items(), ps, worst_ps, strict=True):
        sides = [one.pair.sides[0] for one in mine]
        one = HeldWorld(
            world=world,
            tasks=mine,
            unscored=sum(side.unscored for side in sides),
            rate=success_rate(sides),
            least=success_rate([pair.sides[0] for pair in worst[world]]) or 0.0,
            compared=None if baseline is None else found[world],
            p=p,
            worst_p=worst_p,
            worst_effect=math.fsum(pair.difference or 0.0 for pair in worst[world]),
            verdict=BarVerdict.HELD,
        )
        held.append(_judged(one, min_success, alpha))
    return HeldRun(
        report=report,
        baseline=baseline,
        min_success=min_success,
        alpha=alpha,
        worlds=tuple(held),
        notes=(*notes, *(() if baseline is None else _notes(report, baseline, held, alpha))),
    )


def _judged(one: HeldWorld, min_success: float | None, alpha: float) -> HeldWorld:
    least = 0.0 if min_success is None else min_success - _ROUNDING
    effect = 0.0 if one.compared is None else one.compared.effect or 0.0
    if effect < 0 and one.p is not None and one.p <= alpha:
        verdict = BarVerdict.DROPPED
    elif one.rate is not None and one.rate < least:
        verdict = BarVerdict.BELOW
    elif one.rate is None or one.least < least or _could_drop(one, alpha):
        verdict = BarVerdict.UNKNOWN
    else:
        verdict = BarVerdict.HELD
    return replace(one, verdict=verdict)


def _could_drop(one: HeldWorld, alpha: float) -> bool:
    return one.worst_effect < 0 and one.worst_p is not None and one.worst_p <= alpha


def _tasks(report: RunReport, baseline: Baseline | None, world: World) -> Iterator[HeldTask]:
    there = {} if baseline is None else baseline.of(world)
    for row in report.rows:
        episodes = row.episodes[world]
        if not episodes:
            continue
        known = there.get(row.task.id)
        counts = known is not None and known.same == digest_of_task(row.task)
        cluster = row.task.template or row.task.id
        then = tuple(map(_success, known.outcomes)) if known is not None and counts else ()
        now = tuple(_success(one.score.outcome.kind) for one in episodes)
        failures = (one for one in episodes if one.score.outcome.kind is OutcomeKind.FAILURE)
        pair = TaskPair(f"{world}/{report.lock.suite}/{row.task.id}", cluster, now, then)
        yield HeldTask(task=row.task.id, world=world, pair=pair, failed=next(failures, None))


def _success(kind: OutcomeKind) -> bool | None:
    return None if kind is OutcomeKind.UNSCORED else kind is OutcomeKind.SUCCESS


def _at_worst(pair: TaskPair) -> TaskPair:
    return replace(pair, first=tuple(bool(one) for one in pair.first))


def _clusters_that_can_drop(baseline: Baseline, world: World) -> int:
    return len(
        {one.template for one in baseline.of(world).values() if OutcomeKind.SUCCESS in one.outcomes}
    )


def _notes(
    report: RunReport, baseline: Baseline, worlds: Sequence[HeldWorld], alpha: float
) -> Iterator[str]:
    least = math.ceil(math.log2(2 / alpha))
    yield f"no drop in fewer than {least} tasks, with none better, is significant at {alpha:g}"
    images = sorted(
        tag for tag, image in report.lock.images.items() if baseline.images.get(tag) != image
    )
    if images:
        said = "other builds of the sites than the baseline's"
        yield f"{said}: {listed(images)}; a difference may be one of sites"
    if report.lock.repeats != baseline.repeats:
        yield f"{report.lock.repeats} repeats, and {baseline.repeats} in the baseline"
    if report.lock.browser != baseline.browser:
        yield f"browser {report.lock.browser}, and {baseline.browser} in the baseline"
    for one in worlds:
        if blank := [task.task for task in one.tasks if not _any_scored(task.pair.second)]:
            yield f"{one.world}: no drop shows where the baseline has no score: {listed(blank)}"


def _any_scored(outcomes: Sequence[bool | None]) -> bool:
    return any(one is not None for one in outcomes)
