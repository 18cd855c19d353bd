"""A run's finished episodes in compatible readings, beside their strict scores."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from arena_core.bugs import bug_in_words, is_bug, place_of
from arena_core.errors import UsageError
from arena_core.worlds import World
from evaluators.judgements import replies_of
from evaluators.original import OriginalTask
from evaluators.readings.base import READINGS, Reading, ReadingScore, ReadingStatus
from evaluators.verdicts import OutcomeKind
from orchestrator.store.rescoring import ScoredTrial

_LOG = logging.getLogger(__name__)
_FULL: Final = 1.0
TrialDocument = Mapping[str, str | float | bool | dict[str, float] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTrial:
    """A finished trial with its strict score and its score in a reading."""

    scored: ScoredTrial
    score: ReadingScore

    @property
    def worth(self) -> str:
        """The score as tables show it: `1`, `0.5`, `crash`, `unscored`."""
        return self.score.status.value if self.score.value is None else f"{self.score.value:g}"

    @property
    def differs(self) -> bool:
        """Whether one ruler calls the episode a success, a failure or neither, the other not."""
        strict = self.scored.score.outcome.kind
        if self.score.value is None:
            return self.score.status is ReadingStatus.CRASH or strict is not OutcomeKind.UNSCORED
        kind = OutcomeKind.SUCCESS if self.score.value == _FULL else OutcomeKind.FAILURE
        return strict is not kind

    def document(self) -> TrialDocument:
        """Return the score as a JSON document."""
        return {
            "status": self.score.status.value,
            "value": self.score.value,
            "because": self.score.because,
            "metrics": dict(self.score.metrics),
            "differs": self.differs,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReading:
    """A run in one reading.

    Attributes:
        trials: those of the tasks that it can read.
        figures: the published figures of the run, by world and published name.
        left_out: how many finished trials are of other tasks.
    """

    name: str
    trials: tuple[ReadTrial, ...]
    figures: Mapping[World, Mapping[str, float | None]]
    left_out: int

    @property
    def differing(self) -> tuple[ReadTrial, ...]:
        """The trials on which it and the strict score differ."""
        return tuple(one for one in self.trials if one.differs)

    def counted(self, world: World) -> str:
        """Return how many trials of a world have a score, and what the others have, in words."""
        mine = [one.score.status for one in self.trials if one.scored.trial.world is world]
        counts = ((status, mine.count(status)) for status in ReadingStatus)
        return ", ".join(f"{count} {status}" for status, count in counts if count)

    def document(self) -> dict[str, dict[str, float | None] | int]:
        """Return the figures as a JSON document."""
        worlds = {world.value: dict(figures) for world, figures in self.figures.items()}
        return {**worlds, "left_out": self.left_out, "differing": len(self.differing)}


def read_run_as(names: Iterable[str], scored: Sequence[ScoredTrial]) -> tuple[RunReading, ...]:
    """Score a run's finished trials in the readings of these names.

    Raises:
        UnknownNameError, PluginError: there is no such reading, or it cannot be used.
        UsageError: no trial is of a task that one of them can read.
    """
    readings = {name: READINGS.load(name) for name in names}
    for name, reading in readings.items():
        if not any(_can_read(reading, one) for one in scored):
            wanted = " or ".join(f"`arena tasks import {form}`" for form in sorted(reading.formats))
            message = f"the reading '{name}' has nothing to score here: no task comes from {wanted}"
            raise UsageError(message)
    return _read(readings, scored)


def readings_of(scored: Sequence[ScoredTrial]) -> tuple[tuple[RunReading, ...], tuple[str, ...]]:
    """Score a run in every installed reading of its tasks; none where none was imported.

    Returns:
        The readings by name, and one line for each installed one that cannot be used.
    """
    formats = {one.task.original.format for one in scored if one.task.original is not None}
    if not formats:
        return (), ()
    usable, broken = READINGS.load_all()
    mine = {name: one for name, one in usable.items() if not one.formats.isdisjoint(formats)}
    return _read(mine, scored), tuple(error.message for error in broken)


def documents_by_folder(
    readings: Iterable[RunReading],
) -> Mapping[str, Mapping[str, TrialDocument]]:
    """Return the scores of each trial as JSON documents, by its folder and the reading's name."""
    found: defaultdict[str, dict[str, TrialDocument]] = defaultdict(dict)
    for reading in readings:
        for one in reading.trials:
            found[one.scored.folder][reading.name] = one.document()
    return found


def _read(readings: Mapping[str, Reading], scored: Sequence[ScoredTrial]) -> tuple[RunReading, ...]:
    """Score in all readings one trial after the other: its evidence is read once."""
    found: dict[str, list[ReadTrial]] = {name: [] for name in readings}
    for one in scored:
        for name, reading in readings.items():
            if one.task.original is not None and _can_read(reading, one):
                score = _scored(reading, one.task.original, one)
                found[name].append(ReadTrial(scored=one, score=score))
    return tuple(
        RunReading(
            name=name,
            trials=tuple(trials),
            figures={world: _figures(readings[name], trials, world) for world in _worlds(trials)},
            left_out=len(scored) - len(trials),
        )
        for name, trials in found.items()
    )


def _can_read(reading: Reading, trial: ScoredTrial) -> bool:
    original = trial.task.original
    return original is not None and original.format in reading.formats


def _worlds(trials: Iterable[ReadTrial]) -> tuple[World, ...]:
    played = {one.scored.trial.world for one in trials}
    return tuple(world for world in World if world in played)


def _figures(
    reading: Reading, trials: Iterable[ReadTrial], world: World
) -> Mapping[str, float | None]:
    return reading.aggregate([one.score for one in trials if one.scored.trial.world is world])


def _scored(reading: Reading, original: OriginalTask, trial: ScoredTrial) -> ReadingScore:
    """Score one trial; a bug of the reading hides nothing else."""
    replies = replies_of(trial.evidence.judgements)
    judged = {key: votes[0] for key, votes in replies.items() if votes}
    try:
        return reading.score(original, trial.evidence, judged)
    except Exception as error:
        if not is_bug(error):
            raise
        _LOG.exception("a bug in the reading '%s' of task '%s'", reading.name, trial.task.id)
        because = f"a bug in the reading: {bug_in_words(error)} at {place_of(error)}"
        return ReadingScore(status=ReadingStatus.UNSCORED, value=None, because=because)
