"""A run as data: scored from its evidence, with what it cost and what is left to play."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Final

from arena_core.errors import AgentCrashedError, InternalError, NothingScoredError, StoreError
from arena_core.names import counted
from arena_core.worlds import World
from evaluators.evidence import Ended, Receipt, UnscoredReason
from evaluators.judgements import Judgement
from orchestrator.agents.model_exchange import Spent
from orchestrator.analysis.run_report.episode_results import results_of
from orchestrator.analysis.run_report.step_values import StepValue, step_values
from orchestrator.analysis.run_report.tables import StudyPart, frame_of
from orchestrator.analysis.stats.agreement import Agreement, Disagreement, compare, disagreements
from orchestrator.analysis.stats.results import Compared, EpisodeTable
from orchestrator.analysis.stats.summary import Summary, summarise
from orchestrator.analysis.wording import agent_note, money
from orchestrator.runs.spec import SpendingLimits
from orchestrator.runs.store.digests import has_digest
from orchestrator.runs.store.evidence_files import read_judgements
from orchestrator.runs.store.ledger import Attempt
from orchestrator.runs.store.lock import RunLock
from orchestrator.runs.store.rescoring import ScoredEpisode, rescore
from orchestrator.runs.store.run_folder import RunFolder
from orchestrator.runs.store.scorer_reports import ScorerReport, scorer_reports_of
from tasks.needs import Tier
from tasks.schema import Task

_NAMED: Final = 10
_OF_THE_WORLD = frozenset(
    {UnscoredReason.DRIFTED, UnscoredReason.BLOCKED, UnscoredReason.NOT_FOUND_AT_START}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRow:
    """One task with its episodes in each world.

    Attributes:
        episodes: by world, in the order of repeats; empty where the task is not played there.
        divergences: the checks on which the first repeats of the two worlds diverge; none where one
            of them has no score.
    """

    task: Task
    episodes: Mapping[World, tuple[ScoredEpisode, ...]]
    divergences: tuple[Disagreement, ...]

    @property
    def diverges(self) -> bool:
        """Whether the outcomes of the first repeats differ between the worlds.

        A machine that failed says nothing about a world.
        """
        outcomes = {episodes[0].score.outcome for episodes in self.episodes.values() if episodes}
        told = {one for one in outcomes if one.reason is None or one.reason in _OF_THE_WORLD}
        return len(told) > 1

    @property
    def unscored(self) -> tuple[ScoredEpisode, ...]:
        """The episodes without a score."""
        return tuple(
            episode
            for episodes in self.episodes.values()
            for episode in episodes
            if episode.score.outcome.reason is not None
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
        asked = counted(self.questions, "question")
        return f"{self.model} by {self.prompt}-{self.version}: {asked}, {tokens}, {cost}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RunReport:
    """Everything a report shows.

    `repr` is one line; `to_pandas` has all of it.

    Attributes:
        tiers: the summary of each tier, where the tasks are of several; else empty.
        pending: how many episodes of the run are not finished.
        recovered: how many attempts the ledger on disk does not know, and the evidence does.
        agreement: of the two worlds; None where only one was played.
        spent: on models by all attempts, those too that came to nothing; nothing by a replay.
        unreported: of how many episodes the agent said no spending.
        judges: who judged, by model and prompt; what they took is not part of `spent`.
        attempts: every attempt, the broken and abandoned ones too.
        scorers: the run as published code would score it, where its tasks were imported.
        broken_scorers: one line for each installed scorer that cannot be used.
        edited: the attempts whose evidence is not what the run saved, or whose outcome is not what
            it wrote down; those that cannot be read are told apart.
        part: what it is in its study; None where it was not read as a part of one.
    """

    folder: RunFolder
    lock: RunLock
    title: str
    rows: tuple[TaskRow, ...]
    summaries: Mapping[World, Summary]
    tiers: Mapping[World, Mapping[Tier, Summary]]
    agreement: Agreement | None
    attempts: tuple[Attempt, ...]
    pending: int
    recovered: int
    spent: Spent = field(default_factory=Spent)
    unreported: int = 0
    judges: tuple[JudgeUse, ...] = ()
    scorers: tuple[ScorerReport, ...] = ()
    broken_scorers: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    part: StudyPart | None = None

    @property
    def shard_note(self) -> str | None:
        """What is to be said of a shard, and of shards that were merged; None of other runs."""
        if self.lock.shard is not None:
            what = f"shard {self.lock.shard}: the figures are of its share of the trials alone"
            return f"{what}; arena merge makes one run of all shards"
        if self.lock.merged is None:
            return None
        said = f"merged from {counted(len(self.lock.merged.shards), 'shard')}"
        differing = [one.what for one in self.lock.merged.allowed]
        if not differing:
            return said
        more = f" and {len(differing) - _NAMED} more" if len(differing) > _NAMED else ""
        return f"{said}, which differ in {', '.join(differing[:_NAMED])}{more}"

    @property
    def changed_evidence(self) -> str | None:
        """Which evidence was changed or now scores differently; None where none did."""
        if not self.edited:
            return None
        count = len(self.edited)
        whose = "1 episode is" if count == 1 else f"{count} episodes are"
        more = f" and {count - _NAMED} more" if count > _NAMED else ""
        return (
            f"{whose} not as the run recorded: the evidence was changed, or now scores differently:"
            f" {', '.join(self.edited[:_NAMED])}{more}"
        )

    def __repr__(self) -> str:
        worlds = [_rate_in_words(world, one) for world, one in self.summaries.items()]
        left = [f"{self.pending} not played"] if self.pending else []
        said = ", ".join([*worlds, *left])
        return f"<RunReport {self.folder.path.name}: {self.lock.agent.name}; {said}>"

    def to_pandas(self, table: str = "episodes") -> Any:
        """Return a table as a data frame of pandas; the extra `pandas` installs it.

        Args:
            table: `episodes`, `steps`, `checks`, `receipts` or `values`, with the columns that
                `arena export csv` documents. What is unscored or unknown is `<NA>`.

        Raises:
            PrerequisiteError: pandas is not installed; says what installs it.
            UnknownNameError: there is no such table.
        """
        return frame_of([self], table)

    @property
    def branches(self) -> str | None:
        """How many episodes no rate counts since they are branches; None where none is one."""
        roots = [one.outline.branch.root for one in self.episodes if one.outline.branch]
        if not roots:
            return None
        several, whose = counted(len(roots), "episode goes", "episodes go"), len(set(roots))
        return (
            f"{several} on from checkpoints of {counted(whose, 'other')}: they share steps, so"
            " no rate of tasks counts them"
        )

    @property
    def by_hand(self) -> str | None:
        """How long a person took, and what of it is no first try; None where an agent played."""
        played = [one for one in self.episodes if one.outline.person is not None]
        if not played:
            return None
        times = [one.outline.person for one in played if one.outline.person is not None]
        seconds, steps = (
            median(one.seconds for one in times),
            median(one.score.steps for one in played),
        )
        actions = f"{steps:g} action{'' if steps == 1 else 's'}"
        said = [f"median {seconds:.1f} s from Start to the answer, and {actions}, a task"]
        if pauses := sum(one.pauses for one in times):
            spent = sum(one.paused for one in times)
            said.append(f"{counted(pauses, 'pause')} of {spent:.0f} s in all left out")
        if again := sum(one.outline.attempt > 1 for one in played):
            several = counted(again, "task was", "tasks were")
            said.append(f"{several} started more than once: the person knew them already")
        return "; ".join(said)

    @property
    def values(self) -> tuple[StepValue, ...]:
        """What the steps are worth that the rollouts of the run go on from."""
        return () if self.lock.rollouts is None else step_values(self.episodes)

    @property
    def unreadable(self) -> tuple[ScoredEpisode, ...]:
        """The episodes whose evidence cannot be read: they count as unscored."""
        return tuple(episode for episode in self.unscored if episode.is_unreadable)

    @property
    def internal(self) -> tuple[ScoredEpisode, ...]:
        """The episodes that a bug of Arena's ended: they count as unscored."""
        return tuple(
            episode
            for episode in self.unscored
            if episode.score.outcome.reason is UnscoredReason.INTERNAL
        )

    @property
    def crashed(self) -> tuple[ScoredEpisode, ...]:
        """The episodes in which the agent's own code raised an exception."""
        return tuple(
            episode for episode in self.episodes if episode.outline.ended is Ended.AGENT_CRASHED
        )

    @property
    def episodes(self) -> tuple[ScoredEpisode, ...]:
        """Every finished episode, by task and world."""
        return tuple(
            episode
            for row in self.rows
            for episodes in row.episodes.values()
            for episode in episodes
        )

    @property
    def agent_note(self) -> str | None:
        """What is to be said of the agent beside its figures; None for a contestant."""
        return agent_note(self.lock.agent)

    @property
    def receipts(self) -> tuple[Receipt, ...]:
        """The proofs of every reset that made a slot ready."""
        return tuple(receipt for episode in self.episodes for receipt in episode.outline.receipts)

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
        began = f"budget of the run: {_in_words(self.lock.budget)} as it began"
        return ", then ".join((began, *said))

    @property
    def unheld_budget(self) -> str | None:
        """A limit that could not be enforced because the agent reported no spending; else None."""
        limits = _in_words(self.lock.current_limits)
        if limits == _in_words(SpendingLimits()) or not self.unreported:
            return None
        episodes = counted(self.unreported, "episode")
        return (
            f"the limit of {limits} could not be enforced: {self.lock.agent.name} reported no"
            f" spending in {episodes}, so their spending is not counted"
        )

    @property
    def over_budget(self) -> str | None:
        """What the run's budget left unplayed, and how it is played; None where it left nothing."""
        left = [one for one in self.episodes if one.score.outcome.reason is UnscoredReason.BUDGET]
        if not left:
            return None
        limits = self.lock.current_limits
        flag = "--max-tokens" if limits.max_usd is None else "--max-usd"
        return (
            f"{left[-1].score.because}; {counted(len(left), 'episode')} unscored:"
            f" arena eval --resume {self.folder.path} {flag} MORE plays them"
        )

    @property
    def unscored(self) -> tuple[ScoredEpisode, ...]:
        """The episodes without a score."""
        return tuple(episode for row in self.rows for episode in row.unscored)


def _rate_in_words(world: World, summary: Summary) -> str:
    unscored = summary.episodes - summary.scored
    left = f" ({unscored} unscored)" if unscored else ""
    rate = summary.success
    share = "no rate" if rate.value is None else f"{rate.value:.1%} of {rate.count} tasks"
    return f"{world} {share}{left}"


def _in_words(limits: SpendingLimits) -> str:
    usd, tokens = limits.max_usd, limits.max_tokens
    parts = [] if usd is None else [money(usd)]
    parts += [] if tokens is None else [f"{tokens:,} tokens"]
    return " and ".join(parts) or "none"


def read_run(folder: RunFolder) -> RunReport:
    """Read a run, finished or not, and score it from its evidence."""
    lock, suite = folder.lock(), folder.suite()
    scored = rescore(folder)
    with folder.reading() as ledger:
        attempts = ledger.attempts()
        recovered = ledger.recovered
        spent = ledger.spent()
        unreported = ledger.unreported()
        digests = ledger.evidence_digests()
    chosen = [task for task in suite.tasks if task.id in set(lock.tasks)]
    played: defaultdict[tuple[str, World], list[ScoredEpisode]] = defaultdict(list)
    for one in scored:
        played[one.task.id, one.key.world].append(one)
    rows = tuple(_row(task, lock.worlds, played) for task in chosen)
    attempts_of = {
        world: [one for row in rows for one in row.episodes[world] if one.is_attempt]
        for world in lock.worlds
    }
    tables = {
        world: EpisodeTable(results_of(lock.agent.name, lock.suite, mine, run=lock.run))
        for world, mine in attempts_of.items()
    }
    scorers, broken_scorers = scorer_reports_of(scored)
    return RunReport(
        folder=folder,
        lock=lock,
        title=suite.title,
        rows=rows,
        summaries={world: summarise(table) for world, table in tables.items()},
        tiers={world: _by_tier(chosen, table) for world, table in tables.items()},
        agreement=compare(tables[World.OFFLINE].paired_with(tables[World.ONLINE], Compared.WORLDS))
        if set(lock.worlds) == set(World)
        else None,
        attempts=attempts,
        pending=sum(1 for _ in lock.trials(chosen)) - len(scored),
        recovered=recovered,
        spent=spent,
        unreported=unreported,
        judges=_judges(folder),
        scorers=scorers,
        broken_scorers=broken_scorers,
        edited=tuple(one.folder for one in scored if _is_edited(folder, one, digests)),
    )


def _by_tier(tasks: Iterable[Task], table: EpisodeTable) -> Mapping[Tier, Summary]:
    tiers = {task.id: task.tier for task in tasks if task.tier is not None}
    parts = table.by(lambda row: tiers.get(row.task))
    if len(parts) < 2:  # noqa: PLR2004 - of one tier the world's own summary says all
        return {}
    return {tier: summarise(parts[tier]) for tier in Tier if tier in parts}


def _is_edited(folder: RunFolder, one: ScoredEpisode, digests: Mapping[str, str]) -> bool:
    if one.is_unreadable:
        return False
    saved = digests.get(one.folder)
    there = folder.evidence_folder(one.folder)
    return not one.is_same or (saved is not None and not has_digest(there, saved))


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
    played: Mapping[tuple[str, World], Sequence[ScoredEpisode]],
) -> TaskRow:
    episodes = {world: tuple(played.get((task.id, world), ())) for world in worlds}
    offline, online = episodes.get(World.OFFLINE, ()), episodes.get(World.ONLINE, ())
    firsts = [*offline[:1], *online[:1]]
    has_both = len(firsts) == len(World)
    if not has_both or any(one.score.outcome.reason is not None for one in firsts):
        return TaskRow(task=task, episodes=episodes, divergences=())
    divergences = disagreements(firsts[0].score, firsts[1].score)
    return TaskRow(task=task, episodes=episodes, divergences=divergences)


def require_sound(report: RunReport) -> None:
    """Refuse to end as if a run had measured what it was to measure."""
    path, total = report.folder.path, counted(len(report.episodes), "episode")
    if report.internal:
        message = f"{path}: a bug of Arena's ended {len(report.internal)} of {total}"
        again = f"arena eval --resume {path} --again internal"
        raise InternalError(
            message,
            hint=f"{_first(report.internal[0])}; the traceback: {report.folder.log_path};"
            f" once it is fixed, {again} plays them again",
        )
    if report.crashed:
        message = f"{path}: the agent's code crashed in {len(report.crashed)} of {total}"
        raise AgentCrashedError(message, hint=_first_crash(report.crashed[0]))
    if report.unscored and len(report.unscored) == len(report.episodes):
        message = f"{path}: none of {total} could be scored"
        raise NothingScoredError(message, hint=_first(report.unscored[0]))


def require_readable(path: Path, episodes: Sequence[ScoredEpisode]) -> None:
    """Refuse to end as if all evidence of a run had been read."""
    lost = [one for one in episodes if one.is_unreadable]
    if lost:
        which = f"{len(lost)} of {counted(len(episodes), 'episode')}"
        message = f"{path}: the evidence of {which} cannot be read"
        hint = f"they count as unscored; arena eval --resume {path} plays them again"
        raise StoreError(message, hint=hint)


def _first(episode: ScoredEpisode) -> str:
    text = f"the first, {episode.key.task}: {episode.score.outcome}, {episode.score.because}"
    return " ".join(text.split())


def _first_crash(episode: ScoredEpisode) -> str:
    text = f"the first, {episode.key.task}: {episode.outline.ended_because}"
    return " ".join(text.split())
