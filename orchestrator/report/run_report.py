"""A run as data: tasks with the worlds side by side, totals with intervals, divergences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from arena_core.worlds import World
from evaluators.evidence import Ended, Receipt, UnscoredReason
from evaluators.judgements import Judgement
from orchestrator.report.wording import agent_note, money
from orchestrator.spending import Spent
from orchestrator.stats.agreement import Agreement, Disagreement, compare, disagreements
from orchestrator.stats.summary import Summary, summarise
from orchestrator.store.judgement_lines import read_judgements
from orchestrator.store.ledger import Attempt
from orchestrator.store.lock import RunLock, SpendingLimits
from orchestrator.store.reading_scores import RunReading, readings_of
from orchestrator.store.rescoring import ScoredTrial, rescore
from orchestrator.store.run_folder import RunFolder
from tasks.schema import Task

_OF_THE_WORLD = frozenset({UnscoredReason.DRIFTED, UnscoredReason.BLOCKED})


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRow:
    """One task with its trials in each world.

    Attributes:
        trials: by world, in the order of repeats; empty where the task is not played there.
        divergences: the checks on which the first repeats of the two worlds diverge; none where one
            of them has no score.
    """

    task: Task
    trials: Mapping[World, tuple[ScoredTrial, ...]]
    divergences: tuple[Disagreement, ...]

    @property
    def diverges(self) -> bool:
        """Whether the outcomes of the first repeats differ between the worlds.

        A machine that failed says nothing about a world.
        """
        outcomes = {trials[0].score.outcome for trials in self.trials.values() if trials}
        told = {one for one in outcomes if one.reason is None or one.reason in _OF_THE_WORLD}
        return len(told) > 1

    @property
    def unscored(self) -> tuple[ScoredTrial, ...]:
        """The trials without a score."""
        return tuple(
            trial
            for trials in self.trials.values()
            for trial in trials
            if trial.score.outcome.reason is not None
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeUse:
    """What one judge was asked of a run, and what that took.

    Attributes:
        model: as its endpoint calls it.
        prompt, version: of the text that it was asked with.
        questions: that it answered.
        usd: None where no price is known.
    """

    model: str
    prompt: str
    version: int
    questions: int
    input_tokens: int
    output_tokens: int
    usd: float | None

    def __str__(self) -> str:
        cost = "at an unknown price" if self.usd is None else f"for {money(self.usd)}"
        tokens = f"{self.input_tokens:,} tokens in and {self.output_tokens:,} out"
        asked = f"{self.questions} question{'' if self.questions == 1 else 's'}"
        return f"{self.model} by {self.prompt}-{self.version}: {asked}, {tokens}, {cost}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """Everything a report shows.

    Attributes:
        pending: how many trials of the run are not finished.
        recovered: how many attempts the ledger on disk does not know, and the evidence does.
        agreement: of the two worlds; None where only one was played.
        spent: on models by all attempts, those too that came to nothing; nothing by a replay.
        unreported: of how many episodes the agent said no spending.
        judges: who judged, by model and prompt; what they took is not part of `spent`.
        attempts: every attempt, the broken and abandoned ones too.
        readings: the run as published code would score it, where its tasks were imported.
        broken_readings: one line for each installed reading that cannot be used.
    """

    folder: RunFolder
    lock: RunLock
    title: str
    rows: tuple[TaskRow, ...]
    summaries: Mapping[World, Summary]
    agreement: Agreement | None
    attempts: tuple[Attempt, ...]
    pending: int
    recovered: int
    spent: Spent = field(default_factory=Spent)
    unreported: int = 0
    judges: tuple[JudgeUse, ...] = ()
    readings: tuple[RunReading, ...] = ()
    broken_readings: tuple[str, ...] = ()

    @property
    def unreadable(self) -> tuple[ScoredTrial, ...]:
        """The trials whose evidence cannot be read: they count as unscored."""
        return tuple(trial for trial in self.unscored if trial.is_unreadable)

    @property
    def internal(self) -> tuple[ScoredTrial, ...]:
        """The trials that a bug of Arena's ended: they count as unscored."""
        return tuple(
            trial
            for trial in self.unscored
            if trial.score.outcome.reason is UnscoredReason.INTERNAL
        )

    @property
    def crashed(self) -> tuple[ScoredTrial, ...]:
        """The trials in which the agent's own code raised an exception."""
        return tuple(trial for trial in self.trials if trial.outline.ended is Ended.AGENT_CRASHED)

    @property
    def trials(self) -> tuple[ScoredTrial, ...]:
        """Every finished trial, by task and world."""
        return tuple(
            trial for row in self.rows for trials in row.trials.values() for trial in trials
        )

    @property
    def agent_note(self) -> str | None:
        """What is to be said of the agent beside its figures; None for a contestant."""
        return agent_note(self.lock.agent)

    @property
    def receipts(self) -> tuple[Receipt, ...]:
        """The proofs of every reset that made a slot ready."""
        return tuple(receipt for trial in self.trials for receipt in trial.outline.receipts)

    @property
    def costs(self) -> str | None:
        """What was spent on models, in words; None where no model was asked."""
        if self.lock.replayed is not None:
            return f"replayed from {self.lock.replayed.run}: nothing was spent"
        spent = self.spent
        if not spent.replies:
            return None
        cost = "at an unknown price" if spent.usd is None else f"for {money(spent.usd)}"
        tokens = f"{spent.input_tokens:,} tokens in and {spent.output_tokens:,} out"
        return f"{tokens}, {cost}{' (' + price + ')' if (price := self.lock.agent.price) else ''}"

    @property
    def changed_budget(self) -> str | None:
        """Who changed what the run may spend, and when; None where nobody did."""
        changes = self.lock.changed_limits
        if not changes:
            return None
        said = [f"{_in_words(one.limits)} by {one.by} at {one.at}" for one in changes]
        began = f"budget of the run: {_in_words(self.lock.limits)} as it began"
        return ", then ".join((began, *said))

    @property
    def unheld_budget(self) -> str | None:
        """That a limit could not be held, as the agent did not say what it spent; else None."""
        limits = _in_words(self.lock.current_limits)
        if limits == _in_words(SpendingLimits()) or not self.unreported:
            return None
        episodes = "1 episode" if self.unreported == 1 else f"{self.unreported} episodes"
        return (
            f"the limit of {limits} could not be held: {self.lock.agent.name} reported no spending"
            f" in {episodes}, so what these took is not in it"
        )

    @property
    def over_budget(self) -> str | None:
        """What the run's budget left unplayed, and how it is played; None where it left nothing."""
        left = [one for one in self.trials if one.score.outcome.reason is UnscoredReason.BUDGET]
        if not left:
            return None
        limits = self.lock.current_limits
        flag = "--max-tokens" if limits.max_usd is None else "--max-usd"
        episodes = "episode" if len(left) == 1 else "episodes"
        return (
            f"{left[-1].score.because}; {len(left)} {episodes} unscored:"
            f" arena eval --resume {self.folder.path} {flag} MORE plays these"
        )

    @property
    def unscored(self) -> tuple[ScoredTrial, ...]:
        """The trials without a score."""
        return tuple(trial for row in self.rows for trial in row.unscored)


def _in_words(limits: SpendingLimits) -> str:
    usd, tokens = limits.max_usd, limits.max_tokens
    parts = [] if usd is None else [money(usd)]
    parts += [] if tokens is None else [f"{tokens:,} tokens"]
    return " and ".join(parts) or "none"


def read_run(folder: RunFolder) -> RunReport:
    """Read a run, finished or not, and score it from its evidence.

    Raises:
        StoreError: lock, suite or ledger of the run cannot be read.
    """
    lock, suite = folder.lock(), folder.suite()
    scored = rescore(folder)
    with folder.reading() as ledger:
        attempts = ledger.attempts()
        recovered = ledger.recovered
        spent = ledger.spent()
        unreported = ledger.unreported()
    chosen = [task for task in suite.tasks if task.id in set(lock.tasks)]
    played: defaultdict[tuple[str, World], list[ScoredTrial]] = defaultdict(list)
    for one in scored:
        played[one.task.id, one.trial.world].append(one)
    rows = tuple(_row(task, lock.worlds, played) for task in chosen)
    by_world = {
        world: {
            row.task.id: [t.score for t in row.trials[world]] for row in rows if row.trials[world]
        }
        for world in lock.worlds
    }
    readings, broken_readings = readings_of(scored)
    wanted = sum(world in task.worlds for world in lock.worlds for task in chosen) * lock.repeats
    return RunReport(
        folder=folder,
        lock=lock,
        title=suite.title,
        rows=rows,
        summaries={world: summarise(scores) for world, scores in by_world.items()},
        agreement=compare(by_world[World.OFFLINE], by_world[World.ONLINE])
        if set(lock.worlds) == set(World)
        else None,
        attempts=attempts,
        pending=wanted - len(scored),
        recovered=recovered,
        spent=spent,
        unreported=unreported,
        judges=_judges(folder),
        readings=readings,
        broken_readings=broken_readings,
    )


def _judges(folder: RunFolder) -> tuple[JudgeUse, ...]:
    asked: defaultdict[tuple[str, str, int], list[Judgement]] = defaultdict(list)
    for one in read_judgements(folder.path):
        asked[one.model, one.prompt, one.version].append(one)
    return tuple(
        JudgeUse(
            model=model,
            prompt=prompt,
            version=version,
            questions=len(judged),
            input_tokens=sum(one.input_tokens for one in judged),
            output_tokens=sum(one.output_tokens for one in judged),
            usd=_sum(one.usd for one in judged),
        )
        for (model, prompt, version), judged in asked.items()
    )


def _sum(costs: Iterable[float | None]) -> float | None:
    """Return the sum; None where one is not known."""
    total = 0.0
    for cost in costs:
        if cost is None:
            return None
        total += cost
    return total


def _row(
    task: Task,
    worlds: tuple[World, ...],
    played: Mapping[tuple[str, World], Sequence[ScoredTrial]],
) -> TaskRow:
    trials = {world: tuple(played.get((task.id, world), ())) for world in worlds}
    offline, online = trials.get(World.OFFLINE, ()), trials.get(World.ONLINE, ())
    firsts = [*offline[:1], *online[:1]]
    has_both = len(firsts) == len(World)
    if not has_both or any(one.score.outcome.reason is not None for one in firsts):
        return TaskRow(task=task, trials=trials, divergences=())
    divergences = disagreements(firsts[0].score, firsts[1].score)
    return TaskRow(task=task, trials=trials, divergences=divergences)
