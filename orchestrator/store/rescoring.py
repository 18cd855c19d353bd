"""Scores of a run's finished episodes, from their evidence alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from arena_core.errors import FormatError, StoreError
from evaluators.evidence import EpisodeFault, Evidence, UnscoredReason
from evaluators.scores import Score
from orchestrator.store.ledger import Attempt
from orchestrator.store.recent_evidence import RecentEvidence
from orchestrator.store.run_folder import RunFolder
from orchestrator.store.scoring import score_task, unplayed
from orchestrator.store.trials import Trial
from tasks.schema import Suite, Task

_OUTLINE: Final = {"steps": (), "required": (), "located": (), "network": None, "judgements": ()}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredTrial:
    """A finished trial, its score as computed now, and its evidence.

    Attributes:
        outline: the evidence without what makes it long: steps, what locators found, requests,
            judges' replies. Where the evidence cannot be read, a fault that says so: it scores as
            unscored.
        was: the outcome that the run wrote into its ledger.
        folder: name of the evidence folder.
        read: reads the evidence of a folder of that name.
    """

    trial: Trial
    task: Task
    outline: Evidence
    score: Score
    was: str
    folder: str
    read: Callable[[str], Evidence] = field(repr=False, compare=False)

    @property
    def evidence(self) -> Evidence:
        """The whole evidence, read anew unless it was among the last that were read.

        It takes milliseconds, and megabytes as long as it is held: thousands of episodes are gone
        through one by one, and what `outline` says is taken from there.

        Raises:
            StoreError: it cannot be read any more.
        """
        return self.outline if self.is_unreadable else self.read(self.folder)

    @property
    def is_unreadable(self) -> bool:
        """Whether its evidence cannot be read."""
        return self.score.outcome.reason is UnscoredReason.UNREADABLE

    @property
    def is_same(self) -> bool:
        """Whether the outcome is what the run wrote down."""
        return str(self.score.outcome) == self.was

    def document(self) -> dict[str, str | int | float | bool | list[dict[str, str | bool]] | None]:
        """Return the score as a JSON document."""
        return {
            "world": self.trial.world.value,
            "task": self.trial.task,
            "repeat": self.trial.repeat,
            "outcome": str(self.score.outcome),
            "because": self.score.because,
            "was": self.was,
            "key_nodes_met": self.score.key_nodes_met,
            "key_nodes": self.score.key_nodes,
            "completion": self.score.completion,
            "steps": self.score.steps,
            "efficiency": self.score.efficiency,
            "alignment": self.score.alignment,
            "input_tokens": self.outline.input_tokens,
            "output_tokens": self.outline.output_tokens,
            "usd": self.outline.usd,
            "replayed_from": self.outline.replayed_from,
            "verdicts": [
                {
                    "check": one.check,
                    "decides": one.decides,
                    "status": one.status.value,
                    "reason": one.reason,
                }
                for one in self.score.verdicts
            ],
        }


def rescore(folder: RunFolder, suite: Suite | None = None) -> tuple[ScoredTrial, ...]:
    """Score every finished trial of a run.

    Args:
        folder: the run.
        suite: other checks for the same tasks; None takes those the run kept.

    An episode whose evidence cannot be read is unscored, and named in its fault.

    Raises:
        StoreError: lock, suite or ledger cannot be read, or `suite` lacks a task of the run.
    """
    return tuple(each_rescored(folder, suite))


def each_rescored(folder: RunFolder, suite: Suite | None = None) -> Iterator[ScoredTrial]:
    """Score a run's finished trials one after the other, each when it is its turn.

    The evidence of the one at hand is not read again. Arguments and errors are those of `rescore`.
    """
    tasks = {task.id: task for task in (suite or folder.suite()).tasks}
    folder.judgements()  # where these cannot be read, that is no fault of an episode's evidence
    with folder.reading() as ledger:
        finished = ledger.finished()
    recent = RecentEvidence(folder)
    for attempt in finished:
        task = tasks.get(attempt.trial.task)
        if task is None:
            message = f"{folder.path}: task '{attempt.trial.task}' is not in the suite given"
            raise StoreError(message)
        evidence = _evidence(folder, attempt, recent)
        yield ScoredTrial(
            trial=attempt.trial,
            task=task,
            outline=evidence.model_copy(update=_OUTLINE),
            score=score_task(task, evidence),
            was=attempt.outcome or "",
            folder=attempt.folder,
            read=recent.read,
        )


def _evidence(folder: RunFolder, attempt: Attempt, recent: RecentEvidence) -> Evidence:
    try:
        return recent.read(attempt.folder)
    except FormatError:
        raise  # nothing is lost: another Arena reads it
    except StoreError as unreadable:
        fault = EpisodeFault(reason=UnscoredReason.UNREADABLE, message=unreadable.message)
        return unplayed(folder.lock(), attempt.trial, attempt.number, fault)
