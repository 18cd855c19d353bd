"""Scores of a run's finished episodes, from their evidence alone."""

from __future__ import annotations

import os
import pickle
import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from arena_core.errors import FormatError, StoreError
from arena_core.uncollected import uncollected
from evaluators.collateral import Collateral, collateral_of
from evaluators.evidence import EpisodeFault, Evidence, UnscoredReason
from evaluators.responses import confidence_of
from evaluators.scores import Score
from evaluators.verdicts import OutcomeKind
from orchestrator.runs.store.ledger import Attempt, EpisodeKey
from orchestrator.runs.store.run_folder import RunFolder
from orchestrator.runs.store.scoring import score_task, unplayed
from orchestrator.runs.store.worker_processes import WorkerProcesses
from tasks.schema import Suite, Task
from tasks.taped import taped_suite

_HELD: Final = 4  # both worlds of a task side by side, and what is read between
# A process takes half a second of a core to start, and scores this much in about a second.
_BYTES_A_PROCESS: Final = 32_000_000
_MOST_PROCESSES: Final = 8
_HINT: Final = (
    "it ran out of memory, or code of a plug-in ended it; in one process:"
    " `arena score RUN --processes 1`"
)
_OUTLINE: Final = {"steps": (), "required": (), "located": (), "network": None, "judgements": ()}


class RecentEvidence:
    """Reads the evidence of a run, and holds what was read last."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._held: OrderedDict[str, Evidence] = OrderedDict()

    def evidence(self, name: str) -> Evidence:
        """Return an attempt's evidence."""
        found = self._held.pop(name, None) or self._folder.evidence(name)
        self._held[name] = found
        if len(self._held) > _HELD:
            self._held.popitem(last=False)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredEpisode:
    """A finished episode, its score as computed now, and its evidence.

    Attributes:
        outline: the evidence without what makes it long: steps, what locators found, requests,
            judges' replies. Where the evidence cannot be read, a fault that says so: it scores as
            unscored.
        was: the outcome that the run wrote into its ledger.
        folder: name of the evidence folder.
        path: each action with the page that it led to, without query and fragment.
        collateral: what it changed that its task does not allow; None where it is unscored, and
            where no check looked at what it changed.
        confidence: how likely the agent said at the end that it did the task right; None where it
            said nothing of it.
        read: reads the evidence of a folder of that name.
    """

    key: EpisodeKey
    task: Task
    outline: Evidence
    score: Score
    was: str
    folder: str
    path: tuple[str, ...] = ()
    collateral: Collateral | None = None
    confidence: float | None = None
    read: Callable[[str], Evidence] = field(repr=False, compare=False)

    @property
    def evidence(self) -> Evidence:
        """The whole evidence, read anew unless it was among the last that were read.

        It takes milliseconds, and megabytes as long as it is held: thousands of episodes are gone
        through one by one, and what `outline` says is taken from there.
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

    @property
    def is_attempt(self) -> bool:
        """Whether it is a try at its task of its own: branches share the steps of a root.

        They depend on each other, so no rate, interval, pass^k or comparison counts them.
        """
        return self.outline.branch is None

    def document(self) -> dict[str, str | int | float | bool | list[dict[str, str | bool]] | None]:
        """Return the score as a JSON document."""
        return {
            "world": self.key.world.value,
            "task": self.key.task,
            "repeat": self.key.repeat,
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
            **self._branch(),
            "verdicts": [
                {
                    "check": one.check,
                    "decides": one.decides,
                    "status": one.status.value,
                    "reason": one.reason,
                }
                for one in self.score.verdicts
            ],
            **self._harms(),
        }

    def _harms(self) -> dict[str, list[dict[str, str | bool]]]:
        """Return what must not happen, and whether it did; nothing where a task names none."""
        harms: list[dict[str, str | bool]] = [
            {
                "check": one.verdict.check,
                "severity": one.severity.value,
                "status": one.verdict.status.value,
                "reason": one.verdict.reason,
            }
            for one in self.score.harms
        ]
        return {"harms": harms} if harms else {}

    def _branch(self) -> dict[str, str | int]:
        branch = self.outline.branch
        return {} if branch is None else {"branch_root": branch.root, "branch_step": branch.step}


def rescore(
    folder: RunFolder, suite: Suite | None = None, *, processes: int | None = None
) -> tuple[ScoredEpisode, ...]:
    """Score every finished episode of a run.

    An episode whose evidence cannot be read is unscored, and named in its fault.

    Args:
        folder: the run.
        suite: other checks for the same tasks; None takes those the run kept.
        processes: how many work on it; None for what its length and the machine's cores ask for.
            The scores are the same.
    """
    return tuple(each_rescored(folder, suite, processes=processes))


def each_rescored(
    folder: RunFolder,
    suite: Suite | None = None,
    *,
    with_evidence: bool = False,
    processes: int | None = None,
) -> Iterator[ScoredEpisode]:
    """Score a run's finished episodes, and yield them in order; several processes work ahead.

    Arguments and errors are those of `rescore`.

    Args:
        folder: the run.
        suite: as for `rescore`.
        with_evidence: the evidence of each is asked for in its turn: it is scored here, when it is
            its turn, and its evidence not read again.
        processes: as for `rescore`.
    """
    if suite is not None and (faced := folder.lock().online_faces):
        suite = taped_suite(suite, faced)
    tasks = {task.id: task for task in (suite or folder.suite()).tasks}
    folder.judgements()  # if these cannot be read, no episode's evidence is at fault
    with folder.reading() as ledger:
        finished = ledger.finished()
    for attempt in finished:
        if attempt.key.task not in tasks:
            raise StoreError(f"{folder.path}: task '{attempt.key.task}' is not in the suite given")
    recent = RecentEvidence(folder)
    score = _Scoring(folder, tasks, recent if with_evidence else folder)
    count = 1 if with_evidence else processes or _processes(folder, finished)
    for attempt, scored in zip(finished, _scores(score, finished, count), strict=True):
        yield ScoredEpisode(
            key=attempt.key,
            task=tasks[attempt.key.task],
            outline=scored.outline,
            score=scored.score,
            was=attempt.outcome or "",
            folder=attempt.folder,
            path=scored.path,
            collateral=scored.collateral,
            confidence=scored.confidence,
            read=recent.evidence,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scored:
    """What is taken from an episode's evidence, so that it need not be held."""

    outline: Evidence
    score: Score
    path: tuple[str, ...]
    collateral: Collateral | None
    confidence: float | None


@dataclass(frozen=True, slots=True)
class _Scoring:
    """Scores attempts of a run.

    Attributes:
        source: what reads their evidence.
    """

    folder: RunFolder
    tasks: Mapping[str, Task]
    source: RunFolder | RecentEvidence

    def __call__(self, attempt: Attempt) -> _Scored:
        with uncollected():
            return self._scored(attempt)

    def _scored(self, attempt: Attempt) -> _Scored:
        evidence = self._evidence(attempt)
        outline = evidence.model_copy(update=_OUTLINE)
        task = self.tasks[attempt.key.task]
        score = score_task(task, evidence)
        return _Scored(
            outline=outline,
            score=score,
            path=_path_of(evidence),
            collateral=_collateral_of(task, evidence, score),
            confidence=confidence_of(evidence),
        )

    def _evidence(self, attempt: Attempt) -> Evidence:
        try:
            return self.source.evidence(attempt.folder)
        except FormatError:
            raise  # nothing is lost: another Arena reads it
        except StoreError as unreadable:
            # Below the run: a report is the same wherever the folder lies.
            where = unreadable.message.replace(f"{self.folder.path}/", "")
            fault = EpisodeFault(reason=UnscoredReason.UNREADABLE, message=where)
            return unplayed(self.folder.lock(), attempt.key, attempt.number, fault)


def _scores(score: _Scoring, finished: Sequence[Attempt], processes: int) -> Iterator[_Scored]:
    if processes == 1 or not _is_portable(score):
        return map(score, finished)
    workers = WorkerProcesses(score, partial(_named, score.folder), processes=processes, hint=_HINT)
    return workers.results(finished)


def _path_of(evidence: Evidence) -> tuple[str, ...]:
    return tuple(
        f"{step.action.kind} {re.split('[?#]', step.url, maxsplit=1)[0]}"
        for step in evidence.steps
        if step.action is not None
    )


def _collateral_of(task: Task, evidence: Evidence, score: Score) -> Collateral | None:
    if score.outcome.kind is OutcomeKind.UNSCORED:
        return None
    return collateral_of(task.checks, evidence, score.verdicts)


def _is_portable(score: _Scoring) -> bool:
    """Whether another process can be given the checks: what is plugged in may not be pickled."""
    try:
        pickle.dumps(score)
    except Exception:  # noqa: BLE001 - whatever a plug-in's code does then
        return False
    return True


def _named(folder: RunFolder, attempt: Attempt) -> str:
    return f"the scores of {folder.evidence_folder(attempt.folder)}"


def _processes(folder: RunFolder, finished: Sequence[Attempt]) -> int:
    """Return how many processes are worth their start: none beside this one for short runs."""
    cores = min(_cores(), _MOST_PROCESSES)
    if cores == 1:
        return 1
    length = sum(folder.evidence_length(attempt.folder) for attempt in finished)
    return max(1, min(cores, length // _BYTES_A_PROCESS))


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
