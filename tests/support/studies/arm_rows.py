"""Rows of a study with arms, and the runs that they would be of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from arena_core.worlds import World
from evaluators.evidence import UnscoredReason
from orchestrator.analysis.stats.results import EpisodeResult, StudyArm
from orchestrator.analysis.studies.study_runs import StudyRun
from support.runs.planted_results import result, runs_of

Played = Sequence[Sequence[bool | None]]


def rows(
    agent: str, outcomes: Played, arm: str = "", world: World = World.OFFLINE
) -> list[EpisodeResult]:
    """Return what an agent made of each task, repeat by repeat; what has no outcome is void."""
    return [
        in_arm_of(result(agent, world, number, repeat, success=success), arm)
        for number, played in enumerate(outcomes)
        for repeat, success in enumerate(played)
    ]


def in_arm_of(row: EpisodeResult, arm: str) -> EpisodeResult:
    """Return an episode as if it had been played in an arm of its study; '' leaves it clean."""
    if not arm:
        return row
    label = f"{row.agent} [{arm}]"
    return replace(
        row,
        agent=label,
        arm=StudyArm(arm, row.agent),
        run=f"runs/{label}",
        reason=UnscoredReason.VOID_ARM if row.success is None else None,
    )


def runs_with_arms(results: Sequence[EpisodeResult]) -> list[StudyRun]:
    """Return the runs that such rows would be of."""
    arms = {row.agent: row.arm for row in results}
    return [replace(run, arm=arms[run.label]) for run in runs_of(results)]
