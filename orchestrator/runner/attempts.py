"""Attempts until a trial is finished: written down before they start, saved whole, tried again."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from arena_core.bugs import bug_in_words, is_bug, place_of
from arena_core.errors import ArenaError, InputError, ModelError, StoreError, UsageError
from evaluators.evidence import Ended, EpisodeFault, Evidence, UnscoredReason
from orchestrator.logs.context import log_context
from orchestrator.runner.events import AttemptBegan, AttemptBroke, OnEvent, ProgressNote, TrialEnded
from orchestrator.runner.run_budget import RunBudget
from orchestrator.store.digests import digest_of_folder
from orchestrator.store.ledger import Attempt, AttemptState, Ledger
from orchestrator.store.recovery import broke_off, is_whole, recover
from orchestrator.store.run_folder import RunFolder
from orchestrator.store.scoring import score_task, unplayed
from orchestrator.store.trials import Trial
from tasks.schema import Task

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


# Plays an attempt of a number; raises where it could not even begin.
Perform = Callable[[int], Awaitable[AttemptResult]]


@dataclass(slots=True)
class Progress:
    """How many trials there are, and how many are finished; shared by runs played together."""

    total: int
    done: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRunner:
    """Plays trials through their attempts and keeps ledger and evidence in step.

    Attributes:
        limit: how often a trial is tried.
        agent: whose trials they are, where several play side by side; empty elsewhere.
    """

    folder: RunFolder
    ledger: Ledger
    limit: int
    progress: Progress
    on_event: OnEvent
    budget: RunBudget = field(default_factory=RunBudget)
    agent: str = ""

    async def play(self, trial: Trial, task: Task, perform: Perform) -> bool:
        """Play one trial to its end; False where the user interrupted it.

        Raises:
            Exception: not even the last attempt could begin, a person's input is wrong, or the
                model refuses for good; the trial stays open, so that the run can go on with it when
                that is mended.

        A bug ends the trial as `unscored: internal`: another attempt would hide it. Where the run's
        budget for models is spent, the trial ends as `unscored: budget`, and nothing is started.
        """
        for number_left in range(self.limit, 0, -1):
            if (spent := self.budget.exhausted) is not None:
                self._end_unplayed(trial, task, spent)
                return True
            number = self.ledger.start(trial)
            self.on_event(AttemptBegan(trial=trial, number=number, agent=self.agent))
            try:
                with log_context(world=trial.world, trial=_name(trial), attempt=number):
                    recorder, evidence = await _performed(perform, number)
            except Exception as error:
                if is_bug(error):
                    self._end_by_bug(trial, number, task, error)
                    return True
                # A machine that fails is not the agent's doing: the trial is played again.
                if number_left == 1 or cannot_go_better(error):
                    self.ledger.end(trial, number, AttemptState.ABANDONED, None)
                    raise
                self._retry(trial, number, in_one_line(error))
                continue
            digest = self.folder.save_evidence(trial.folder(number), evidence, recorder.files)
            if recorder.interrupted:
                self.ledger.end(trial, number, AttemptState.ABANDONED, None, digest)
                return False
            if number_left > 1 and broke_off(evidence):
                reason = evidence.fault.message if evidence.fault else ""
                self._retry(trial, number, reason, digest)
                continue
            self._finish(trial, number, task, evidence, digest)
            return True
        return True

    def recover(self, tasks: Mapping[str, Task]) -> None:
        """Bring the ledger in step with the evidence on disk, before anything is played.

        What the ledger lost is entered again from the evidence. A finished trial whose evidence
        cannot be read is opened again, and so is one that a budget ended which is larger now. What
        an earlier process left open is closed: an attempt whose evidence was written whole is
        finished, so nothing that was done is lost; any other is abandoned.
        """
        lost = recover(self.folder, self.ledger)
        if lost:
            self.on_event(
                ProgressNote(f"entered into the ledger from the evidence: {len(lost)} attempts")
            )
        for attempt in self.ledger.finished():
            if self._is_open_again(self._evidence(attempt)):
                self.ledger.end(attempt.trial, attempt.number, AttemptState.ABANDONED, None)
        for attempt in self.ledger.attempts():
            if attempt.state is AttemptState.STARTED:
                self._adopt(attempt, tasks[attempt.trial.task])

    def _end_by_bug(self, trial: Trial, number: int, task: Task, bug: Exception) -> None:
        fault = EpisodeFault(
            reason=UnscoredReason.INTERNAL, message=bug_in_words(bug), place=place_of(bug)
        )
        evidence = unplayed(self.folder.lock(), trial, number, fault)
        digest = self.folder.save_evidence(trial.folder(number), evidence, {})
        self._finish(trial, number, task, evidence, digest)

    def _end_unplayed(self, trial: Trial, task: Task, spent: str) -> None:
        number = self.ledger.start(trial)
        self.on_event(AttemptBegan(trial=trial, number=number, agent=self.agent))
        fault = EpisodeFault(reason=UnscoredReason.BUDGET, message=spent)
        evidence = unplayed(self.folder.lock(), trial, number, fault)
        digest = self.folder.save_evidence(trial.folder(number), evidence, {})
        self._finish(trial, number, task, evidence, digest)

    def _is_open_again(self, evidence: Evidence | None) -> bool:
        """Whether a finished trial is to be played after all."""
        if evidence is None:
            return True
        is_of_budget = evidence.fault is not None and evidence.fault.reason is UnscoredReason.BUDGET
        return is_of_budget and self.budget.exhausted is None

    def _adopt(self, attempt: Attempt, task: Task) -> None:
        has_evidence = self.folder.has_evidence(attempt.folder)
        evidence = self._evidence(attempt) if has_evidence else None
        if evidence is None or not is_whole(evidence):
            self.ledger.end(attempt.trial, attempt.number, AttemptState.ABANDONED, None)
        else:
            digest = digest_of_folder(self.folder.evidence_folder(attempt.folder))
            self._finish(attempt.trial, attempt.number, task, evidence, digest)

    def _evidence(self, attempt: Attempt) -> Evidence | None:
        """Return an attempt's evidence; None where it cannot be read, and says so."""
        try:
            return self.folder.evidence(attempt.folder)
        except StoreError as unreadable:
            self.on_event(ProgressNote(f"{in_one_line(unreadable)}; the episode is played again"))
            return None

    def _finish(
        self, trial: Trial, number: int, task: Task, evidence: Evidence, digest: str
    ) -> None:
        result = score_task(task, evidence)
        self.ledger.end(trial, number, AttemptState.FINISHED, str(result.outcome), digest)
        self.progress.done += 1
        with log_context(world=trial.world, trial=_name(trial), attempt=number):
            _LOG.info("%s: %s", result.outcome, result.because)
        self.on_event(
            TrialEnded(
                trial=trial,
                score=result,
                evidence=evidence,
                done=self.progress.done,
                total=self.progress.total,
                agent=self.agent,
            )
        )

    def _retry(self, trial: Trial, number: int, reason: str, digest: str | None = None) -> None:
        self.ledger.end(trial, number, AttemptState.RETRIED, str(UnscoredReason.INFRA), digest)
        with log_context(world=trial.world, trial=_name(trial), attempt=number):
            _LOG.warning("the attempt is made again: %s", reason)
        self.on_event(AttemptBroke(trial=trial, number=number, reason=reason, agent=self.agent))


def _name(trial: Trial) -> str:
    return f"{trial.task}-r{trial.repeat}"


async def _performed(perform: Perform, number: int) -> tuple[AttemptResult, Evidence]:
    """Perform one attempt, and log its beginning and its end."""
    _LOG.info("attempt %d begins", number)
    try:
        result = await perform(number)
        evidence = result.evidence()
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
    """Whether another attempt ends as this one until a person mends something."""
    return isinstance(error, (InputError, UsageError)) or ends_the_run(error)


def ends_the_run(error: Exception) -> bool:
    """Whether it would befall every other trial too."""
    return isinstance(error, ModelError) and error.is_permanent
