"""What a ledger lost, entered again from the evidence that lies beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Protocol

from arena_core.errors import FormatError, StoreError
from evaluators.evidence import Evidence, UnscoredReason
from orchestrator.agents.model_exchange import Spent
from orchestrator.runs.store.ledger import Attempt, AttemptState, EpisodeKey, Ledger, attempt_of
from orchestrator.runs.store.scoring import score_task

if TYPE_CHECKING:
    from orchestrator.runs.store.lock import RunLock
    from tasks.schema import Suite, Task

_UNREADABLE = f"unscored: {UnscoredReason.UNREADABLE}"
_Found = tuple[EpisodeKey, int, Evidence | None]


class RecordedRun(Protocol):
    """What of a run's folder tells of its attempts."""

    def lock(self) -> RunLock: ...

    def suite(self) -> Suite: ...

    def evidence_names(self) -> Sequence[str]: ...

    def evidence(self, name: str) -> Evidence: ...


def broke_off(evidence: Evidence) -> bool:
    """Whether an attempt ended because the machine failed: another one is fair then."""
    return evidence.fault is not None and evidence.fault.reason is UnscoredReason.INFRA


def is_whole(evidence: Evidence) -> bool:
    """Whether an attempt counts: an interrupted one has no end, a broken one is to be repeated."""
    if evidence.fault is not None:
        return not broke_off(evidence)
    return evidence.ended is not None


def lost_attempts(folder: RecordedRun, ledger: Ledger) -> tuple[str, ...]:
    """Return the names of evidence folders that a ledger does not know, in order."""
    return _lost(folder, ledger.attempts())


def _lost(folder: RecordedRun, attempts: Iterable[Attempt]) -> tuple[str, ...]:
    known = {attempt.folder for attempt in attempts}
    return tuple(name for name in folder.evidence_names() if name not in known)


def recover(folder: RecordedRun, ledger: Ledger) -> tuple[Attempt, ...]:
    """Enter the attempts that a ledger does not know, and return them.

    Of an episode that it does not know as finished, the last attempt that counts has finished
    it; else one whose evidence cannot be read; else the last, where as many broke off as the run
    allows.
    """
    tasks = {task.id: task for task in folder.suite().tasks}
    limit = folder.lock().attempts
    attempts = ledger.attempts()
    finished = {one.key for one in attempts if one.state is AttemptState.FINISHED}
    entered: list[Attempt] = []
    found = _read(folder, _lost(folder, attempts), tasks)
    for key, group in groupby(found, key=lambda one: one[0]):
        lost = list(group)
        last = None if key in finished else _finishing(lost, limit)
        for _, number, evidence in lost:
            attempt = _attempt(key, number, evidence, tasks, is_last=number == last)
            ledger.enter(attempt)
            entered.append(attempt)
    return tuple(entered)


def _read(folder: RecordedRun, names: Iterable[str], tasks: Mapping[str, Task]) -> list[_Found]:
    found: list[_Found] = []
    for name in names:
        told = attempt_of(name)
        if told is not None and told[0].task in tasks:
            found.append((*told, _readable(folder, name)))
    return sorted(found, key=lambda one: one[:2])


def _readable(folder: RecordedRun, name: str) -> Evidence | None:
    try:
        return folder.evidence(name)
    except FormatError:
        raise  # nothing is lost: another Arena reads it
    except StoreError:
        return None  # entered as unreadable, and named by whoever reads it


def _finishing(lost: Sequence[_Found], limit: int) -> int | None:
    """Return the number of the attempt that finished an episode, None where it is left open."""
    whole = [number for _, number, evidence in lost if evidence and is_whole(evidence)]
    unreadable = [number for _, number, evidence in lost if evidence is None]
    broken = [number for _, number, evidence in lost if evidence and broke_off(evidence)]
    for numbers in (whole, unreadable, broken if len(broken) >= limit else []):
        if numbers:
            return numbers[-1]
    return None


def _attempt(
    key: EpisodeKey,
    number: int,
    evidence: Evidence | None,
    tasks: Mapping[str, Task],
    *,
    is_last: bool,
) -> Attempt:
    state, outcome = AttemptState.ABANDONED, None
    if is_last:
        task = tasks[key.task]
        state = AttemptState.FINISHED
        outcome = str(score_task(task, evidence).outcome) if evidence else _UNREADABLE
    elif evidence is not None and broke_off(evidence):
        state, outcome = AttemptState.RETRIED, str(UnscoredReason.INFRA)
    return Attempt(key=key, number=number, state=state, outcome=outcome, spent=_spent(evidence))


def _spent(evidence: Evidence | None) -> Spent:
    """Return what an attempt spent on models; a replay spends nothing."""
    if evidence is None or evidence.replayed_from is not None:
        return Spent()
    return Spent.reported(evidence.input_tokens, evidence.output_tokens, evidence.usd)
