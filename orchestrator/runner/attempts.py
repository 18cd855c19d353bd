"""Attempts until a trial is finished: written down before they start, saved whole, tried again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from evaluators.evidence import Evidence, UnscoredReason
from evaluators.scores import score
from orchestrator.runner.events import AttemptBroke, OnEvent, TrialEnded
from orchestrator.store.ledger import AttemptState, Ledger
from orchestrator.store.run_folder import RunFolder
from orchestrator.store.trials import Trial
from sites.errors import ArenaError, InputError, ModelError, UsageError
from tasks.schema import Task


class Attempted(Protocol):
    """What an attempt left behind."""

    @property
    def interrupted(self) -> bool:
        """Whether the user stopped it in its middle."""

    @property
    def screenshots(self) -> Mapping[str, bytes]:
        """Pictures by file name."""

    def evidence(self) -> Evidence:
        """Return everything that scoring may read."""


# Plays an attempt of a number; raises where it could not even begin.
Perform = Callable[[int], Awaitable[Attempted]]


@dataclass(slots=True, kw_only=True)
class Bookkeeper:
    """Plays trials through their attempts and keeps ledger and evidence in step."""

    folder: RunFolder
    ledger: Ledger
    limit: int
    total: int
    on_event: OnEvent
    done: int = 0

    async def play(self, trial: Trial, task: Task, perform: Perform) -> bool:
        """Play one trial to its end; False where the user interrupted it.

        Raises:
            Exception: not even the last attempt could begin, a person's input is wrong, or the
                model refuses for good; the trial stays open, so that the run can go on with it when
                that is mended.
        """
        for number_left in range(self.limit, 0, -1):
            number = self.ledger.start(trial)
            try:
                recorder = await perform(number)
            except Exception as error:
                # Whatever kills a worker here is not the agent's doing: the trial is played again.
                if number_left == 1 or cannot_go_better(error):
                    self.ledger.end(trial, number, AttemptState.ABANDONED, None)
                    raise
                self._retry(trial, number, in_one_line(error))
                continue
            evidence = recorder.evidence()
            self.folder.save_evidence(trial.folder(number), evidence, recorder.screenshots)
            if recorder.interrupted:
                self.ledger.end(trial, number, AttemptState.ABANDONED, None)
                return False
            if number_left > 1 and _may_go_better(evidence):
                self._retry(trial, number, evidence.fault.message if evidence.fault else "")
                continue
            self._finish(trial, number, task, evidence)
            return True
        return True

    def adopt_orphans(self, tasks: Mapping[str, Task]) -> None:
        """Close what an earlier process left open.

        An attempt whose evidence was written whole is finished, so nothing that was done is lost;
        any other is abandoned.
        """
        for attempt in self.ledger.attempts():
            if attempt.state is not AttemptState.STARTED:
                continue
            evidence = (
                self.folder.evidence(attempt.folder)
                if self.folder.has_evidence(attempt.folder)
                else None
            )
            if evidence is None or not _is_whole(evidence):
                self.ledger.end(attempt.trial, attempt.number, AttemptState.ABANDONED, None)
            else:
                self._finish(attempt.trial, attempt.number, tasks[attempt.trial.task], evidence)

    def _finish(self, trial: Trial, number: int, task: Task, evidence: Evidence) -> None:
        result = score(task.checks, evidence, task.requires)
        self.ledger.end(trial, number, AttemptState.FINISHED, str(result.outcome))
        self.done += 1
        self.on_event(
            TrialEnded(
                trial=trial,
                score=result,
                evidence=evidence,
                done=self.done,
                total=self.total,
            )
        )

    def _retry(self, trial: Trial, number: int, reason: str) -> None:
        self.ledger.end(trial, number, AttemptState.RETRIED, str(UnscoredReason.INFRA))
        self.on_event(AttemptBroke(trial=trial, number=number, reason=reason))


def in_one_line(failure: Exception) -> str:
    """Say what failed; of a bug its kind as well."""
    if isinstance(failure, ArenaError):
        return failure.message.splitlines()[0]
    return f"{type(failure).__name__}: {failure}".splitlines()[0]


def cannot_go_better(error: Exception) -> bool:
    """Whether another attempt ends as this one until a person mends something."""
    return isinstance(error, (InputError, UsageError)) or ends_the_run(error)


def ends_the_run(error: Exception) -> bool:
    """Whether it would befall every other trial too."""
    return isinstance(error, ModelError) and error.is_permanent


def _may_go_better(evidence: Evidence) -> bool:
    """Whether another attempt is fair: where the machine failed, not the agent or the world."""
    return evidence.fault is not None and evidence.fault.reason is UnscoredReason.INFRA


def _is_whole(evidence: Evidence) -> bool:
    """Whether an attempt counts: an interrupted one has no end, a broken one is to be repeated."""
    if evidence.fault is not None:
        return not _may_go_better(evidence)
    return evidence.ended is not None
