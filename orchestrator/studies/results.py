"""Runs as rows: one an episode, with what of a run's files the analysis needs beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from arena_core.worlds import World
from evaluators.verdicts import OutcomeKind
from orchestrator.stats.results import EpisodeResult
from orchestrator.store.lock import RunLock
from orchestrator.store.rescoring import ScoredTrial, each_rescored
from orchestrator.store.run_folder import RunFolder
from tasks.schema import SolveWob, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRun:
    """A run as part of a study or a comparison.

    Attributes:
        label: of its agent, as every figure names it; `suite`: the same of its suite.
        name: what `EpisodeResult.run` says of its episodes.
        pending: how many episodes it is still to play, by world.
        worlds_of: in which worlds each chosen task can be played.
        lengths: how many actions each task's reference takes in the first of these; None where
            that is unknown.
        is_added: it came into its study after that was registered.
    """

    label: str
    suite: str
    name: str
    lock: RunLock
    pending: Mapping[World, int]
    worlds_of: Mapping[str, tuple[World, ...]]
    lengths: Mapping[str, int | None]
    is_added: bool = False


def read_study_run(
    label: str, suite: str, name: str, folder: RunFolder, *, is_added: bool = False
) -> tuple[StudyRun, tuple[EpisodeResult, ...]]:
    """Read a run, finished or not, score it from its evidence, and return it with its rows.

    Raises:
        StoreError: lock, suite or ledger of the run cannot be read.
    """
    lock, tasks = folder.lock(), folder.suite()
    chosen = [task for task in tasks.tasks if task.id in set(lock.tasks)]
    rows = results_of(label, suite, each_rescored(folder), run=name)
    run = StudyRun(
        label=label,
        suite=suite,
        name=name,
        lock=lock,
        pending=_pending(lock, chosen, rows),
        worlds_of={task.id: task.worlds for task in chosen},
        lengths={task.id: _length(task) for task in chosen},
        is_added=is_added,
    )
    return run, rows


def results_of(
    label: str, suite: str, scored: Iterable[ScoredTrial], *, run: str
) -> tuple[EpisodeResult, ...]:
    """Return one row an episode.

    Args:
        label: of the agent.
        suite: as the study calls it.
        scored: as `rescore` gives them; no evidence is kept.
        run: what tells this run from others of the study.
    """
    return tuple(_row(label, suite, run, one) for one in scored)


def _row(label: str, suite: str, run: str, one: ScoredTrial) -> EpisodeResult:
    score, evidence, task = one.score, one.outline, one.task
    kind = score.outcome.kind
    return EpisodeResult(
        agent=label,
        suite=suite,
        world=one.trial.world,
        task=task.id,
        repeat=one.trial.repeat,
        template=task.template or task.id,
        sites=task.sites,
        family=task.family.value,
        success=None if kind is OutcomeKind.UNSCORED else kind is OutcomeKind.SUCCESS,
        reason=score.outcome.reason,
        completion=score.completion,
        key_nodes_met=score.key_nodes_met,
        key_nodes=score.key_nodes,
        alignment=score.alignment,
        steps=score.steps,
        seconds=evidence.seconds,
        usd=evidence.usd,
        tokens=evidence.input_tokens + evidence.output_tokens,
        started_at=evidence.started_at,
        run=run,
        folder=one.folder,
    )


def _pending(
    lock: RunLock, tasks: Sequence[Task], rows: Iterable[EpisodeResult]
) -> dict[World, int]:
    ended = Counter(row.world for row in rows)
    return {
        world: lock.repeats * sum(world in task.worlds for task in tasks) - ended[world]
        for world in lock.worlds
    }


def _length(task: Task) -> int | None:
    """Return how many actions the reference takes; a page's solver takes as many as it needs."""
    first = next(iter(task.worlds), None)
    actions = [one for one in task.reference_actions if one.only in {None, first}]
    if not actions or any(isinstance(one, SolveWob) for one in actions):
        return None
    return len(actions)
