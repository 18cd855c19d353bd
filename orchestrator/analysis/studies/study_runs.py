"""A run as part of a study or a comparison: its lock, its first prompt, one row an episode."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from arena_core.errors import StoreError, UsageError
from arena_core.worlds import World
from orchestrator.analysis.run_report.episode_results import results_of
from orchestrator.analysis.run_report.evidence import message_in_words
from orchestrator.analysis.stats.results import EpisodeResult, EpisodeTable, StudyArm
from orchestrator.episode.jsonl_files import read_exchanges
from orchestrator.runs.store.lock import RunLock, require_whole
from orchestrator.runs.store.rescoring import ScoredEpisode, each_rescored
from orchestrator.runs.store.run_folder import RunFolder
from tasks.schema import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptMessage:
    """One message of a prompt; an image stands as the name of its file in brackets."""

    role: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The first request of a run's first episode that asked a model.

    It is an example: each request of each episode is in the evidence. Secrets are redacted there.

    Attributes:
        agent, suite: labels.
        episode: the folder of the attempt.
        model: that was asked.
        messages: in order; texts beyond 20,000 letters are cut, and say so.
        tools: the functions that were offered, as JSON; empty where there were none.
    """

    agent: str
    suite: str
    episode: str
    model: str
    messages: tuple[PromptMessage, ...]
    tools: str


def first_prompt(agent: str, suite: str, folder: RunFolder) -> Prompt | None:
    """Return the first request of a run's first episode that asked a model; None without one."""
    for name in folder.evidence_names():
        try:
            kept = read_exchanges(folder.evidence_folder(name))
        except StoreError:  # no figure needs it: another episode shows what was asked
            continue
        if kept:
            request: dict[str, Any] = dict(kept[0].exchange.request)
            messages = request.get("messages")
            tools = request.get("tools")
            said = map(message_in_words, messages if isinstance(messages, list) else ())
            return Prompt(
                agent=agent,
                suite=suite,
                episode=name,
                model=str(request.get("model") or ""),
                messages=tuple(PromptMessage(role=role, text=text) for role, text in said),
                tools=json.dumps(tools, ensure_ascii=False, indent=1) if tools else "",
            )
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRun:
    """A run as part of a study or a comparison.

    Attributes:
        label: of its agent, as every figure names it; `suite`: the same of its suite.
        name: what `EpisodeResult.run` says of its episodes.
        arm: of its study; None for a clean run, and where no study names arms.
        pending: how many episodes it is still to play, by world.
        worlds_of: in which worlds each chosen task can be played.
        lengths: how many actions each task's reference takes in the first of these; None where
            that is unknown.
        is_added: it came into its study after that was registered.
        published: how many of the chosen tasks were imported, by the published set.
        splits: how many of the chosen tasks their suite puts into which split.
        prompt: the first that its agent asked a model.
        folder: where its evidence is; None of rows that came from no run.
    """

    label: str
    suite: str
    name: str
    lock: RunLock
    pending: Mapping[World, int]
    worlds_of: Mapping[str, tuple[World, ...]]
    lengths: Mapping[str, int | None]
    is_added: bool = False
    published: Mapping[str, int] = field(default_factory=dict)
    splits: Mapping[str, int] = field(default_factory=dict)
    prompt: Prompt | None = None
    arm: StudyArm | None = None
    folder: RunFolder | None = None

    @property
    def player(self) -> str:
        """The label of its agent, whatever the arm."""
        return self.label if self.arm is None else self.arm.agent


def without_arms(
    runs: Sequence[StudyRun], table: EpisodeTable
) -> tuple[tuple[StudyRun, ...], EpisodeTable]:
    """Return the runs of a study's clean arm, and their episodes alone."""
    clean = tuple(run for run in runs if run.arm is None)
    names = {run.name for run in clean}
    return clean, table.where(lambda row: row.run in names)


def read_study_run(
    label: str,
    suite: str,
    name: str,
    folder: RunFolder,
    *,
    is_added: bool = False,
    arm: StudyArm | None = None,
) -> tuple[StudyRun, tuple[EpisodeResult, ...]]:
    """Read a run, finished or not, score it from its evidence, and return it with its rows."""
    lock, tasks = folder.lock(), folder.suite()
    require_whole(folder.path, lock)
    chosen = [task for task in tasks.tasks if task.id in set(lock.tasks)]
    rows = results_of(label, suite, _attempts(folder), run=name, arm=arm)
    run = StudyRun(
        label=label,
        suite=suite,
        name=name,
        lock=lock,
        pending=_pending(lock, chosen, rows),
        worlds_of={task.id: task.worlds for task in chosen},
        lengths={task.id: task.reference_length(next(iter(task.worlds), None)) for task in chosen},
        is_added=is_added,
        published=Counter(task.original.format for task in chosen if task.original is not None),
        splits=Counter(task.split for task in chosen if task.split is not None),
        prompt=first_prompt(label, suite, folder),
        arm=arm,
        folder=folder,
    )
    return run, rows


def _attempts(folder: RunFolder) -> Iterator[ScoredEpisode]:
    """Score a run's episodes, each of which must be a try at its task of its own."""
    for one in each_rescored(folder):
        if not one.is_attempt:
            message = f"{folder.path}: {one.folder} goes on from a checkpoint of another episode"
            hint = "branches are no attempts that rates or pass^k may count; name another run"
            raise UsageError(message, hint=hint)
        yield one


def _pending(
    lock: RunLock, tasks: Sequence[Task], rows: Iterable[EpisodeResult]
) -> dict[World, int]:
    ended = Counter(row.world for row in rows)
    return {
        world: lock.repeats * sum(world in task.worlds for task in tasks) - ended[world]
        for world in lock.worlds
    }
