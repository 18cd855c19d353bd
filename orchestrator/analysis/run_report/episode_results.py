"""Scored episodes as the rows that statistics take."""

from __future__ import annotations

from collections.abc import Iterable

from evaluators.scores import Score
from evaluators.verdicts import CheckStatus, OutcomeKind
from orchestrator.analysis.stats.results import EpisodeResult, StudyArm
from orchestrator.runs.store.rescoring import ScoredEpisode


def results_of(
    label: str,
    suite: str,
    scored: Iterable[ScoredEpisode],
    *,
    run: str,
    arm: StudyArm | None = None,
) -> tuple[EpisodeResult, ...]:
    """Return one row an episode.

    Args:
        scored: as `rescore` gives them; no evidence is kept.
        run: what tells this run from others of the study.
        arm: of the study; None for the clean one.
    """
    return tuple(_row(label, suite, run, arm, one) for one in scored)


def _row(
    label: str, suite: str, run: str, arm: StudyArm | None, one: ScoredEpisode
) -> EpisodeResult:
    score, evidence, task = one.score, one.outline, one.task
    kind = score.outcome.kind
    return EpisodeResult(
        agent=label,
        suite=suite,
        world=one.key.world,
        task=task.id,
        repeat=one.key.repeat,
        template=task.cluster,
        sites=task.sites,
        family=task.family.value,
        success=None if kind is OutcomeKind.UNSCORED else kind is OutcomeKind.SUCCESS,
        reason=score.outcome.reason,
        completion=score.completion,
        key_nodes_met=score.key_nodes_met,
        key_nodes=score.key_nodes,
        alignment=score.alignment,
        steps=score.steps,
        seconds=evidence.played_seconds,
        usd=evidence.usd,
        tokens=evidence.input_tokens + evidence.output_tokens,
        started_at=evidence.started_at,
        run=run,
        folder=one.folder,
        first_unmet=_first_unmet(score),
        path=one.path,
        collateral=one.collateral,
        confidence=one.confidence,
        arm=arm,
    )


def _first_unmet(score: Score) -> str:
    unmet = (one.check for one in score.verdicts if one.decides and one.status is CheckStatus.UNMET)
    return next(unmet, "")
