"""Reports without secrets: what exporters are given of runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from arena_core.actions import Type, Write
from arena_core.logs import REDACTED
from evaluators.evidence import Evidence, StepEvidence
from evaluators.scores import Score
from evaluators.verdicts import Verdict
from orchestrator.analysis.run_report.run_report import RunReport, TaskRow
from orchestrator.runs.store.rescoring import ScoredEpisode
from orchestrator.runs.store.secrets import SecretSearch, typed_unseen
from tasks.schema import Task


def without_secrets(runs: Iterable[RunReport], secrets: SecretSearch) -> tuple[RunReport, ...]:
    """Return reports in whose texts `[redacted]` stands in the place of each secret.

    Texts are those of evidence, scores and tasks: what was typed, thought, answered, seen and asked
    for. What was typed into a field whose value evidence does not hold, a password's, is one too,
    in the whole episode. Scores and outcomes are what they were. Pictures and other files of an
    episode are left as they are.
    """
    redaction = _Redaction(secrets)
    return tuple(replace(run, rows=tuple(redaction.row(row) for row in run.rows)) for run in runs)


class _Redaction:
    def __init__(self, secrets: SecretSearch) -> None:
        self._secrets = secrets
        self._last: tuple[Evidence, Evidence] | None = None

    def row(self, row: TaskRow) -> TaskRow:
        episodes = {
            world: tuple(self._episode(one) for one in found)
            for world, found in row.episodes.items()
        }
        return replace(row, task=self._task(row.task), episodes=episodes)

    def _episode(self, episode: ScoredEpisode) -> ScoredEpisode:
        return replace(
            episode,
            task=self._task(episode.task),
            outline=_redacted(episode.outline, self._secrets),
            score=self._score(episode.score),
            read=partial(self._evidence, episode.read),
        )

    def _evidence(self, read: Callable[[str], Evidence], name: str) -> Evidence:
        """Read evidence; that of the episode at hand, which is asked for often, is kept."""
        evidence = read(name)
        if self._last is None or self._last[0] is not evidence:
            self._last = evidence, self._of_episode(evidence)
        return self._last[1]

    def _of_episode(self, evidence: Evidence) -> Evidence:
        hidden = {step.index: text for step in evidence.steps if (text := typed_unseen(step))}
        if not hidden:
            return _redacted(evidence, self._secrets)
        steps = tuple(_cleared(one) if one.index in hidden else one for one in evidence.steps)
        secrets = self._secrets.and_also(hidden.values())
        return _redacted(evidence.model_copy(update={"steps": steps}), secrets)

    def _task(self, task: Task) -> Task:
        found = {"intent": self._secrets.redacted(task.intent)}
        if task.original is None:
            return task if found["intent"] == task.intent else task.model_copy(update=found)
        record = _walked(task.original.record, self._secrets)
        original = task.original.model_copy(update={"record": record})
        return task.model_copy(update={**found, "original": original})

    def _score(self, score: Score) -> Score:
        return replace(
            score,
            because=self._secrets.redacted(score.because),
            verdicts=self._verdicts(score.verdicts),
            required=self._verdicts(score.required),
        )

    def _verdicts(self, verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
        clean = self._secrets.redacted
        return tuple(
            replace(
                one,
                reason=clean(one.reason),
                found=tuple(map(clean, one.found)),
                expected=clean(one.expected),
            )
            for one in verdicts
        )


def _redacted(evidence: Evidence, secrets: SecretSearch) -> Evidence:
    if not secrets.finds(evidence.model_dump_json()):
        return evidence
    walked = _walked(evidence.model_dump(mode="json"), secrets)
    return Evidence.model_validate_json(json.dumps(walked))


def _walked(value: Any, secrets: SecretSearch) -> Any:
    match value:
        case str():
            return secrets.redacted(value)
        case dict():
            return {key: _walked(one, secrets) for key, one in value.items()}
        case list() | tuple():
            return [_walked(one, secrets) for one in value]
        case _:
            return value


def _cleared(step: StepEvidence) -> StepEvidence:
    """Return a step without what was typed, however short it is."""
    if not isinstance(step.action, Type | Write):
        return step
    return step.model_copy(update={"action": step.action.model_copy(update={"text": REDACTED})})
