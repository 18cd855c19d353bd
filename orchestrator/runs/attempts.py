"""Attempts until an episode is finished: written down before they start and saved whole."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final, Protocol

from arena_core.bugs import bug_in_words, is_bug, place_of
from arena_core.errors import (
    ArenaError,
    ForkError,
    GivenError,
    InputError,
    ModelError,
    RepeatedFaultError,
    StoreError,
    UsageError,
)
from arena_core.logs import log_context
from arena_core.names import counted
from arena_core.worlds import World
from evaluators.evidence import Ended, EpisodeFault, Evidence, UnscoredReason
from evaluators.scores import Score
from evaluators.verdicts import Outcome, OutcomeKind
from orchestrator.runs.events import AttemptBegan, AttemptBroke, EpisodeEnded, OnEvent, ProgressNote
from orchestrator.runs.run_budget import RunBudget
from orchestrator.runs.store.digests import digest_of_folder, has_digest
from orchestrator.runs.store.ledger import Attempt, AttemptState, EpisodeKey, Ledger
from orchestrator.runs.store.recovery import broke_off, is_whole, recover
from orchestrator.runs.store.run_folder import RunFolder
from orchestrator.runs.store.scoring import score_task, unplayed
from orchestrator.runs.store.secrets import without_secrets
from tasks.schema import Task

_MOST: Final = 3  # episodes in a row
_AT_ONCE_S: Final = 2.0
_NUMBER: Final = re.compile(r"\d+")


@dataclass(slots=True)
class FaultSpree:
    """What one worker's last episodes ended with, where each broke off before it was played.

    Such an episode is not finished, though it has used up its attempts: it takes no time, so that a
    worker whose tools are broken would go through all there are.
    """

    _reason: str = ""
    _opens_again: list[Callable[[], None]] = field(default_factory=list)

    def note(self, evidence: Evidence, opens_again: Callable[[], None]) -> None:
        """Take note of an episode that has ended.

        Args:
            evidence: of its last attempt.
            opens_again: makes it one that is still to be played.
        """
        fault = evidence.fault
        is_at_once = evidence.seconds < _AT_ONCE_S and not evidence.steps
        if fault is None or not broke_off(evidence) or not is_at_once:
            self._reason = ""
            self._opens_again.clear()
            return
        reason = _NUMBER.sub("#", fault.message)
        if reason != self._reason:
            self._reason = reason
            self._opens_again.clear()
        self._opens_again.append(opens_again)
        if len(self._opens_again) >= _MOST:
            for one in self._opens_again:
                one()
            message = f"{_MOST} episodes in a row broke off before they began: {fault.message}"
            hint = "they are still to be played: see `arena doctor`, then go on with --resume"
            raise RepeatedFaultError(message, hint=hint)


_LOG = logging.getLogger(__name__)


class AttemptResult(Protocol):
    """What an attempt left behind."""

    @property
    def interrupted(self) -> bool:
        """Whether the user stopped it in its middle."""

    @property
    def files(self) -> Mapping[str, bytes]:
        """What is kept beside the evidence, by file name."""

    def evidence(self) -> Evidence:
        """Return everything that scoring may read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedEpisode:
    """An episode that an agent failed, and when it had ended."""

    key: EpisodeKey
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """A failure that says nothing of the agent after all, and why."""

    key: EpisodeKey
    task: Task
    fault: EpisodeFault


class TaskWatch(Protocol):
    """Knows of live tasks whether they hold while an agent plays them."""

    async def before(self, name: str) -> EpisodeFault | None:
        """Return why a task is not to be played now; None where it is."""

    async def failed(self, episode: FailedEpisode) -> None:
        """Take note of a failure, and find out whether its task still holds."""

    def take_undone(self) -> tuple[Undone, ...]:
        """Return the failures that turned out to say nothing of the agent; each once."""


# Plays an attempt of a number; raises where it could not even begin.
Perform = Callable[[int], Awaitable[AttemptResult]]


@dataclass(slots=True)
class Progress:
    """How many episodes there are, and how many are finished; shared by runs played together."""

    total: int
    done: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptRunner:
    """Plays episodes through their attempts and keeps ledger and evidence in step.

    Attributes:
        limit: how often an episode is tried.
        agent: whose episodes they are, where several play side by side; empty elsewhere.
        again: why a finished episode that is unscored is played again.
        watch: says of episodes online whether their task holds; None where nobody looks.
    """

    folder: RunFolder
    ledger: Ledger
    limit: int
    progress: Progress
    on_event: OnEvent
    budget: RunBudget = field(default_factory=RunBudget)
    agent: str = ""
    again: frozenset[UnscoredReason] = frozenset()
    watch: TaskWatch | None = None

    async def play(
        self, key: EpisodeKey, task: Task, perform: Perform, spree: FaultSpree | None = None
    ) -> bool:
        """Play one episode to its end; False where the user interrupted it.

        Args:
            key: of what is played.
            task: of the episode.
            perform: plays an attempt.
            spree: of the worker that plays; None where nobody watches.

        A bug ends the episode as `unscored: internal`: another attempt would hide it. Where the
        run's budget for models is spent, it ends as `unscored: budget`, and nothing is started.
        """
        done = await self._play(key, task, perform, spree)
        await self.ledger.saved()
        return done

    async def _play(
        self, key: EpisodeKey, task: Task, perform: Perform, spree: FaultSpree | None
    ) -> bool:
        for number_left in range(self.limit, 0, -1):
            if (fault := await self._not_to_play(key)) is not None:
                self._end_unplayed(key, task, fault)
                return True
            number = self.ledger.start(key)
            await self.ledger.saved()
            self.on_event(AttemptBegan(key=key, number=number, agent=self.agent))
            try:
                with log_context(world=key.world, episode=_name(key), attempt=number):
                    recorder, evidence = await _performed(perform, number)
            except Exception as error:
                if self._is_ended_by(error, key, number, task):
                    return True
                # A machine that fails is not the agent's doing: the episode is played again.
                if number_left == 1 or cannot_go_better(error):
                    self.ledger.end(key, number, AttemptState.ABANDONED, None)
                    raise
                self._retry(key, number, in_one_line(error))
                continue
            digest = self._saved(key, number, task, evidence, recorder.files)
            if digest is None:
                return True
            if recorder.interrupted:
                self.ledger.end(key, number, AttemptState.ABANDONED, None, digest)
                return False
            if number_left > 1 and broke_off(evidence):
                reason = evidence.fault.message if evidence.fault else ""
                self._retry(key, number, reason, digest)
                continue
            outcome = self._finish(key, number, task, evidence, digest).outcome
            if spree is not None:
                spree.note(evidence, partial(self._open_again, key, number))
            await self._look_again(key, outcome, evidence)
            return True
        return True

    def is_finished(self, key: EpisodeKey) -> bool:
        """Whether an episode has a score, or is unscored for good."""
        return any(one.key == key for one in self.ledger.finished())

    def open_unscored(self, world: World) -> tuple[EpisodeKey, ...]:
        """Make episodes of a world that ended unscored ones that are still to be played."""
        found = [one for one in self.ledger.finished() if one.key.world is world]
        unscored = [one for one in found if is_unscored(one.outcome)]
        for one in unscored:
            self._open_again(one.key, one.number)
        return tuple(one.key for one in unscored)

    def recover(self, tasks: Mapping[str, Task]) -> None:
        """Bring the ledger in step with the evidence on disk, before anything is played.

        What the ledger lost is entered again from the evidence. A finished episode whose evidence
        cannot be read is opened again, and so is one that a budget ended which is larger now, and
        one that is unscored for a reason of `again`. What an earlier process left open is closed:
        an attempt whose evidence was written whole is finished, so nothing that was done is lost;
        any other is abandoned.
        """
        lost = recover(self.folder, self.ledger)
        if lost:
            self.on_event(
                ProgressNote(
                    f"entered into the ledger from the evidence: {counted(len(lost), 'attempt')}"
                )
            )
        digests = self.ledger.evidence_digests()
        attempts = self.ledger.attempts()
        for attempt in attempts:
            if attempt.state is not AttemptState.FINISHED:
                continue
            if self._stays_finished(attempt, digests.get(attempt.folder)):
                continue
            if self._is_open_again(self._evidence(attempt), tasks[attempt.key.task]):
                self.ledger.end(attempt.key, attempt.number, AttemptState.ABANDONED, None)
        for attempt in attempts:
            if attempt.state is AttemptState.STARTED:
                self._adopt(attempt, tasks[attempt.key.task])

    def _saved(
        self,
        key: EpisodeKey,
        number: int,
        task: Task,
        evidence: Evidence,
        files: Mapping[str, bytes],
    ) -> str | None:
        """Write evidence and return its digest; None where a bug ended the episode instead."""
        try:
            return self.folder.save_evidence(key.folder(number), evidence, files)
        except Exception as error:
            if not is_bug(error):
                raise
            _LOG.exception("a bug kept the evidence from being written")
            self._end_by_bug(key, number, task, error)
            return None

    def _is_ended_by(self, error: Exception, key: EpisodeKey, number: int, task: Task) -> bool:
        """End an episode by an error that another attempt would not help; False where it may."""
        if isinstance(error, GivenError | ForkError):
            is_fork = isinstance(error, ForkError)
            reason = UnscoredReason.FORK if is_fork else UnscoredReason.CHECK_ERROR
            fault = EpisodeFault(reason=reason, message=error.message)
            self._end_unstarted(key, number, task, fault)
            return True
        if is_bug(error):
            self._end_by_bug(key, number, task, error)
            return True
        return False

    def _end_by_bug(self, key: EpisodeKey, number: int, task: Task, bug: Exception) -> None:
        fault = EpisodeFault(
            reason=UnscoredReason.INTERNAL, message=bug_in_words(bug), place=place_of(bug)
        )
        self._end_unstarted(key, number, task, fault)

    async def _not_to_play(self, key: EpisodeKey) -> EpisodeFault | None:
        """Return why an episode is not to be played; None where it is."""
        if spent := self.budget.exhausted:
            return EpisodeFault(reason=UnscoredReason.BUDGET, message=spent)
        if self.watch is None or key.world is not World.ONLINE:
            return None
        fault = await self.watch.before(key.task)
        self._undo(self.watch)
        return fault

    async def _look_again(self, key: EpisodeKey, outcome: Outcome, evidence: Evidence) -> None:
        """Let the watch find out whether an episode failed at a task that holds."""
        if self.watch is not None and is_failed_online(key, outcome):
            await self.watch.failed(FailedEpisode(key=key, at=ended_at(evidence)))
            self._undo(self.watch)

    def _undo(self, watch: TaskWatch) -> None:
        """Unscore what a look has shown to be no failure of the agent."""
        undone = {one.key: one for one in watch.take_undone()}
        for attempt in self.ledger.finished() if undone else ():
            if (one := undone.get(attempt.key)) is not None:
                self.end_after_all(attempt, one.task, one.fault)

    def end_after_all(self, finished: Attempt, task: Task, fault: EpisodeFault) -> None:
        """End a finished episode once more, by a fault that became known after it.

        The attempt that finished it stays beside the new one, whose evidence it is, with the fault.
        """
        key = finished.key
        evidence = self.folder.evidence(finished.folder)
        files = self.folder.files_beside(finished.folder)
        self.ledger.end(key, finished.number, AttemptState.RETRIED, str(fault.reason))
        number = self.ledger.start(key)
        self.progress.done -= 1
        changed = evidence.model_copy(update={"fault": fault, "attempt": number})
        digest = self.folder.save_evidence(key.folder(number), changed, files)
        self._finish(key, number, task, changed, digest)

    def _end_unplayed(self, key: EpisodeKey, task: Task, fault: EpisodeFault) -> None:
        number = self.ledger.start(key)
        self.on_event(AttemptBegan(key=key, number=number, agent=self.agent))
        self._end_unstarted(key, number, task, fault)

    def _end_unstarted(self, key: EpisodeKey, number: int, task: Task, fault: EpisodeFault) -> None:
        evidence = unplayed(self.folder.lock(), key, number, fault)
        digest = self.folder.save_evidence(key.folder(number), evidence, {})
        self._finish(key, number, task, evidence, digest)

    def _open_again(self, key: EpisodeKey, number: int) -> None:
        self.ledger.end(key, number, AttemptState.ABANDONED, None)
        self.progress.done -= 1

    def _stays_finished(self, attempt: Attempt, digest: str | None) -> bool:
        """Whether an episode has a score, and its files are as they were saved with it.

        They need not be read then, which takes ten times as long.
        """
        if digest is None or self.again or is_unscored(attempt.outcome):
            return False
        return has_digest(self.folder.evidence_folder(attempt.folder), digest)

    def _is_open_again(self, evidence: Evidence | None, task: Task) -> bool:
        """Whether a finished episode is to be played after all."""
        if evidence is None:
            return True
        if self.again and score_task(task, evidence).outcome.reason in self.again:
            return True
        is_of_budget = evidence.fault is not None and evidence.fault.reason is UnscoredReason.BUDGET
        return is_of_budget and self.budget.exhausted is None

    def _adopt(self, attempt: Attempt, task: Task) -> None:
        has_evidence = self.folder.has_evidence(attempt.folder)
        evidence = self._evidence(attempt) if has_evidence else None
        digest = None
        if has_evidence:
            digest = digest_of_folder(self.folder.evidence_folder(attempt.folder))
        if digest is None or evidence is None or not is_whole(evidence):
            self.ledger.end(attempt.key, attempt.number, AttemptState.ABANDONED, None, digest)
        else:
            self._finish(attempt.key, attempt.number, task, evidence, digest)

    def _evidence(self, attempt: Attempt) -> Evidence | None:
        """Return an attempt's evidence; None where it cannot be read, and says so."""
        try:
            return self.folder.evidence(attempt.folder)
        except StoreError as unreadable:
            self.on_event(ProgressNote(f"{in_one_line(unreadable)}; the episode is played again"))
            return None

    def _finish(
        self, key: EpisodeKey, number: int, task: Task, evidence: Evidence, digest: str
    ) -> Score:
        result = score_task(task, evidence)
        self.ledger.end(key, number, AttemptState.FINISHED, str(result.outcome), digest)
        self.progress.done += 1
        with log_context(world=key.world, episode=_name(key), attempt=number):
            _LOG.info("%s: %s", result.outcome, result.because)
        ended = EpisodeEnded(
            key=key,
            score=result,
            evidence=evidence,
            done=self.progress.done,
            total=self.progress.total,
            agent=self.agent,
        )
        self.ledger.when_saved(partial(self.on_event, ended))
        return result

    def _retry(self, key: EpisodeKey, number: int, reason: str, digest: str | None = None) -> None:
        self.ledger.end(key, number, AttemptState.RETRIED, str(UnscoredReason.INFRA), digest)
        with log_context(world=key.world, episode=_name(key), attempt=number):
            _LOG.warning("the attempt is made again: %s", reason)
        self.on_event(AttemptBroke(key=key, number=number, reason=reason, agent=self.agent))


def is_unscored(outcome: str | None) -> bool:
    """Whether an outcome, as ledgers have it, is no score."""
    return (outcome or "").partition(":")[0] == OutcomeKind.UNSCORED


def is_failed_online(key: EpisodeKey, outcome: Outcome) -> bool:
    """Whether an agent played an episode at live origins and failed."""
    return key.world is World.ONLINE and outcome.kind is OutcomeKind.FAILURE


def ended_at(evidence: Evidence) -> datetime:
    """Return when an episode had ended, by this machine's clock; long ago where nobody knows."""
    try:
        began = datetime.fromisoformat(evidence.started_at).astimezone(UTC)
        return began + timedelta(seconds=evidence.seconds)
    except (ValueError, OverflowError):
        return datetime.min.replace(tzinfo=UTC)


def _name(key: EpisodeKey) -> str:
    return f"{key.task}-r{key.repeat}"


async def _performed(perform: Perform, number: int) -> tuple[AttemptResult, Evidence]:
    """Perform one attempt, and log its beginning and its end."""
    _LOG.info("attempt %d begins", number)
    try:
        result = await perform(number)
        evidence = without_secrets(result.evidence())
    except ArenaError as failure:
        _LOG.warning("the attempt broke off: %s", in_one_line(failure))
        _LOG.debug("how it broke off", exc_info=failure)
        raise
    except Exception:
        _LOG.exception("a bug ended the attempt")
        raise
    fault = evidence.fault
    ended = f"broke off: {fault.reason}: {fault.because}" if fault else f"ended: {evidence.ended}"
    if evidence.ended is Ended.AGENT_CRASHED:
        ended = f"{ended}: {evidence.ended_because}"
    _LOG.log(
        logging.WARNING if fault else logging.INFO,
        "the attempt %s",
        ended,
        extra={
            "seconds": evidence.seconds,
            "steps": len(evidence.steps),
            "input_tokens": evidence.input_tokens,
            "output_tokens": evidence.output_tokens,
        },
    )
    return result, evidence


def in_one_line(failure: Exception) -> str:
    """Say what failed; of a bug its kind and place as well."""
    if isinstance(failure, ArenaError):
        return failure.message.splitlines()[0]
    if is_bug(failure):
        return f"{bug_in_words(failure)} at {place_of(failure)}"
    return bug_in_words(failure)


def cannot_go_better(error: Exception) -> bool:
    """Whether another attempt ends as this one until a person fixes something."""
    return isinstance(error, (InputError, UsageError)) or ends_the_run(error)


def ends_the_run(error: Exception) -> bool:
    """Whether it would befall every other episode too."""
    return isinstance(error, ModelError) and error.is_permanent
