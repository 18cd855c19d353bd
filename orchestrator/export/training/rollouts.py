"""Episodes as training reads them: each action with what was seen, asked and answered before it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from arena_core.actions import Action, Wait
from arena_core.errors import FormatError, StoreError
from evaluators.evidence import Evidence, StepEvidence
from evaluators.verdicts import OutcomeKind
from orchestrator.analysis.run_report.run_report import RunReport
from orchestrator.episode.jsonl_files import (
    OBSERVATIONS_FILE,
    KeptExchange,
    read_exchanges,
    read_lines,
)
from orchestrator.runs.store.lock import RunLock
from orchestrator.runs.store.rescoring import ScoredEpisode
from orchestrator.runs.store.secrets import typed_unseen
from tasks.schema import Task

Seen = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One action of an episode, with what led to it.

    Attributes:
        seen: what the agent saw before it, as the evidence keeps it; None where nothing is kept.
        after: what it saw then; None as well after a stop.
        asked: the exchange whose reply chose the action: the last of the step that has a reply.
            None where no model was asked for this step.
        has_failed: it could not be done, or one of those that the same reply chose after it.
    """

    step: StepEvidence
    action: Action
    seen: Seen | None
    after: Seen | None
    asked: KeptExchange | None
    has_failed: bool

    @property
    def does_nothing(self) -> bool:
        """Whether it stands for a reply without an action, or for nothing but another look."""
        action = self.action
        if not isinstance(action, Wait):
            return False
        return action.seconds == 0 and action.text is None and action.gone is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """One finished episode of a run.

    Attributes:
        turns: of a branch those alone that are its own; its root's stand in no data set as its.
        typed: into password fields, at any of its steps.
        unreadable: why what was seen and asked cannot be read; empty where it can.
    """

    report: RunReport
    scored: ScoredEpisode
    turns: tuple[Turn, ...]
    typed: tuple[str, ...] = ()
    unreadable: str = ""

    @property
    def lock(self) -> RunLock:
        return self.report.lock

    @property
    def task(self) -> Task:
        return self.scored.task

    @property
    def outline(self) -> Evidence:
        """What it left behind, without its steps."""
        return self.scored.outline

    @property
    def success(self) -> bool | None:
        """Whether it succeeded; None where it is unscored."""
        kind = self.scored.score.outcome.kind
        return None if kind is OutcomeKind.UNSCORED else kind is OutcomeKind.SUCCESS

    @property
    def folder(self) -> Path:
        """Where its evidence lies."""
        return self.report.folder.evidence_folder(self.scored.folder)

    @property
    def goal(self) -> str:
        if self.outline.miniwob is not None:
            return self.outline.miniwob.utterance
        return self.task.prompt or self.task.intent

    @property
    def asked_models(self) -> bool:
        return any(turn.asked is not None for turn in self.turns)


def template_of(task: Task) -> str:
    """Return what a task is an instance of: its template, its page of MiniWoB++, or itself."""
    if task.template is not None:
        return task.template
    if task.original is not None and task.original.template is not None:
        return f"{task.original.format}:{task.original.template}"
    return task.id if task.miniwob is None else task.miniwob.page


def rollouts_by_task(runs: Sequence[RunReport]) -> Iterator[tuple[Task, tuple[Rollout, ...]]]:
    """Yield the episodes of several runs by task, those of one task at a time in memory.

    Equal tasks of several runs come together; a task of the same id with another content does not.
    """
    episodes = [(report, one) for report in runs for one in report.episodes]
    episodes.sort(key=lambda pair: _task_key(pair[1].task))
    for _, group in groupby(episodes, key=lambda pair: _task_key(pair[1].task)):
        found = tuple(rollout_of(report, one) for report, one in group)
        yield found[0].task, found


def rollout_of(report: RunReport, scored: ScoredEpisode) -> Rollout:
    """Read what an episode saw and asked; where that is damaged, `unreadable` says so."""
    folder = report.folder.evidence_folder(scored.folder)
    branch = scored.outline.branch
    shared = 0 if branch is None else branch.step
    every = scored.evidence.steps
    steps = [one for one in every if one.action is not None and one.index > shared]
    try:
        asked = _deciding(read_exchanges(folder))
        seen = {int(line["step"]): line for line in read_lines(folder / OBSERVATIONS_FILE)}
    except FormatError:
        raise
    except (StoreError, LookupError, TypeError, ValueError) as cause:
        why = cause.message if isinstance(cause, StoreError) else f"{folder}: no observations"
        return Rollout(report=report, scored=scored, turns=(), unreadable=why)
    turns = tuple(_turns(steps, asked, seen))
    typed = tuple(text for step in every if (text := typed_unseen(step)))
    return Rollout(report=report, scored=scored, turns=turns, typed=typed)


def _deciding(exchanges: Iterable[KeptExchange]) -> dict[int, KeptExchange]:
    """Return by step the last exchange with a reply: those before it were answered as unusable."""
    return {
        one.step: one
        for one in exchanges
        if one.exchange.reply is not None and one.exchange.error is None
    }


def _turns(
    steps: Sequence[StepEvidence], asked: Mapping[int, KeptExchange], seen: Mapping[int, Seen]
) -> Iterator[Turn]:
    for place, step in enumerate(steps):
        if step.action is None:
            continue
        # A reply may choose several actions, which are played one a step without asking again.
        own = [step]
        for later in steps[place + 1 :]:
            if later.index in asked:
                break
            own.append(later)
        is_chosen = step.index in asked
        failed = any(one.error is not None for one in (own if is_chosen else [step]))
        yield Turn(
            step=step,
            action=step.action,
            seen=seen.get(step.index - 1),
            after=seen.get(step.index),
            asked=asked.get(step.index),
            has_failed=failed,
        )


def _task_key(task: Task) -> tuple[str, str]:
    return task.id, task.model_dump_json()
