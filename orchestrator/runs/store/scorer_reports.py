"""A run's finished episodes by compatible scorers, beside their strict scores."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from arena_core.bugs import bug_in_words, is_bug, place_of
from arena_core.errors import UsageError
from arena_core.worlds import World
from evaluators.evidence import UnscoredReason
from evaluators.judgements import replies_of
from evaluators.scorers.base import SCORERS, OriginalTask, Scorer, ScorerResult, ScorerStatus
from evaluators.verdicts import OutcomeKind
from orchestrator.runs.store.rescoring import ScoredEpisode

_LOG = logging.getLogger(__name__)
_FULL: Final = 1.0
# Decided by scoring alone: what broke an attempt off stands in its evidence, and scorers see that.
_NOT_THE_AGENTS: Final = {UnscoredReason.BLOCKED, UnscoredReason.TAPE_MISS}
EpisodeDocument = Mapping[str, str | float | bool | dict[str, float] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerEpisode:
    """A finished episode with its strict score and a scorer's."""

    scored: ScoredEpisode
    score: ScorerResult

    @property
    def worth(self) -> str:
        """The score as tables show it: `1`, `0.5`, `crash`, `unscored`."""
        return self.score.status.value if self.score.value is None else f"{self.score.value:g}"

    @property
    def differs(self) -> bool:
        """Whether one ruler calls the episode a success, a failure or neither, the other not."""
        strict = self.scored.score.outcome.kind
        if self.score.value is None:
            return self.score.status is ScorerStatus.CRASH or strict is not OutcomeKind.UNSCORED
        kind = OutcomeKind.SUCCESS if self.score.value == _FULL else OutcomeKind.FAILURE
        return strict is not kind

    def document(self) -> EpisodeDocument:
        """Return the score as a JSON document."""
        return {
            "status": self.score.status.value,
            "value": self.score.value,
            "because": self.score.because,
            "metrics": dict(self.score.metrics),
            "differs": self.differs,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerReport:
    """A run as one scorer scores it.

    Attributes:
        episodes: those of the tasks that it can read.
        figures: the published figures of the run, by world and published name.
        left_out: how many finished episodes are of other tasks.
    """

    name: str
    episodes: tuple[ScorerEpisode, ...]
    figures: Mapping[World, Mapping[str, float | None]]
    left_out: int

    @property
    def differing(self) -> tuple[ScorerEpisode, ...]:
        """The episodes on which it and the strict score differ."""
        return tuple(one for one in self.episodes if one.differs)

    def counted(self, world: World) -> str:
        """Return how many episodes of a world have a score, and what the others have, in words."""
        mine = [one.score.status for one in self.episodes if one.scored.key.world is world]
        counts = ((status, mine.count(status)) for status in ScorerStatus)
        return ", ".join(f"{count} {status}" for status, count in counts if count)

    def document(self) -> dict[str, dict[str, float | None] | int]:
        """Return the figures as a JSON document."""
        worlds = {world.value: dict(figures) for world, figures in self.figures.items()}
        return {**worlds, "left_out": self.left_out, "differing": len(self.differing)}


def score_run_with(
    names: Iterable[str], scored: Sequence[ScoredEpisode]
) -> tuple[ScorerReport, ...]:
    """Score a run's finished episodes by the scorers of these names."""
    scorers = {name: SCORERS.load(name) for name in names}
    scored = [one for one in scored if one.is_attempt]
    for name, scorer in scorers.items():
        if not any(_can_read(scorer, one) for one in scored):
            wanted = " or ".join(f"`arena tasks import {form}`" for form in sorted(scorer.formats))
            message = f"the scorer '{name}' has nothing to score here: no task comes from {wanted}"
            raise UsageError(message)
    return _read(scorers, scored)


def scorer_reports_of(
    scored: Sequence[ScoredEpisode],
) -> tuple[tuple[ScorerReport, ...], tuple[str, ...]]:
    """Score a run by every installed scorer of its tasks; none where none was imported.

    Returns:
        The scorers by name, and one line for each installed one that cannot be used.
    """
    scored = [one for one in scored if one.is_attempt]
    formats = {one.task.original.format for one in scored if one.task.original is not None}
    if not formats:
        return (), ()
    usable, broken = SCORERS.load_all()
    mine = {name: one for name, one in usable.items() if not one.formats.isdisjoint(formats)}
    return _read(mine, scored), tuple(error.message for error in broken)


def documents_by_folder(
    scorers: Iterable[ScorerReport],
) -> Mapping[str, Mapping[str, EpisodeDocument]]:
    """Return the scores of each episode as JSON documents, by its folder and the scorer's name."""
    found: defaultdict[str, dict[str, EpisodeDocument]] = defaultdict(dict)
    for scorer in scorers:
        for one in scorer.episodes:
            found[one.scored.folder][scorer.name] = one.document()
    return found


def _read(
    scorers: Mapping[str, Scorer], scored: Sequence[ScoredEpisode]
) -> tuple[ScorerReport, ...]:
    """Score by all scorers one episode after the other: its evidence is read once."""
    found: dict[str, list[ScorerEpisode]] = {name: [] for name in scorers}
    for one in scored:
        for name, scorer in scorers.items():
            if one.task.original is not None and _can_read(scorer, one):
                score = _scored(scorer, one.task.original, one)
                found[name].append(ScorerEpisode(scored=one, score=score))
    return tuple(
        ScorerReport(
            name=name,
            episodes=tuple(episodes),
            figures={
                world: _figures(scorers[name], episodes, world) for world in _worlds(episodes)
            },
            left_out=len(scored) - len(episodes),
        )
        for name, episodes in found.items()
    )


def _can_read(scorer: Scorer, episode: ScoredEpisode) -> bool:
    original = episode.task.original
    return original is not None and original.format in scorer.formats


def _worlds(episodes: Iterable[ScorerEpisode]) -> tuple[World, ...]:
    played = {one.scored.key.world for one in episodes}
    return tuple(world for world in World if world in played)


def _figures(
    scorer: Scorer, episodes: Iterable[ScorerEpisode], world: World
) -> Mapping[str, float | None]:
    return scorer.aggregate([one.score for one in episodes if one.scored.key.world is world])


def _scored(scorer: Scorer, original: OriginalTask, episode: ScoredEpisode) -> ScorerResult:
    """Score one episode; a bug of the scorer hides nothing else."""
    replies = replies_of(episode.evidence.judgements)
    judged = {key: votes[0] for key, votes in replies.items() if votes}
    try:
        return _unless_barred(scorer.score(original, episode.evidence, judged), episode)
    except Exception as error:
        if not is_bug(error):
            raise
        _LOG.exception("a bug in the scorer '%s' of task '%s'", scorer.name, episode.task.id)
        because = f"a bug in the scorer: {bug_in_words(error)} at {place_of(error)}"
        return ScorerResult(status=ScorerStatus.UNSCORED, value=None, because=because)


def _unless_barred(score: ScorerResult, episode: ScoredEpisode) -> ScorerResult:
    """Take back a failure that the environment explains: the published code knows no such case."""
    strict = episode.score
    if strict.outcome.reason not in _NOT_THE_AGENTS or score.value in {None, _FULL}:
        return score
    because = f"{strict.outcome}: {strict.because}"
    return ScorerResult(status=ScorerStatus.UNSCORED, value=None, because=because)
