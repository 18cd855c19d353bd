"""Rewards of steps: key nodes when they are first met, and the outcome at the last step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evaluators.fields import When
from evaluators.verdicts import CheckStatus
from orchestrator.training.rollouts import Rollout, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class StepReward:
    """What one action earned.

    Attributes:
        key_nodes: those that it was the first to meet.
        progress: by how much completion grew; None where the episode is unscored, the task has no
            key nodes, or one of them could not be looked at. All of an episode's add up to its
            completion.
        outcome: 1 or 0 at the last action, 0 before it; None where the episode is unscored.
    """

    turn: Turn
    key_nodes: tuple[str, ...]
    progress: float | None
    outcome: float | None
    is_last: bool


def rewards_of(rollout: Rollout) -> Iterator[StepReward]:
    """Yield what each action of an episode earned, in order."""
    score = rollout.scored.score
    nodes = [one for one in score.verdicts if one.when is When.STEP]
    for place, turn in enumerate(rollout.turns):
        met = tuple(
            one.check
            for one in nodes
            if one.status is CheckStatus.MET and one.step == turn.step.index
        )
        is_last = place == len(rollout.turns) - 1
        yield StepReward(
            turn=turn,
            key_nodes=met,
            progress=None if score.completion is None else len(met) / len(nodes),
            outcome=None if rollout.success is None else float(is_last and rollout.success),
            is_last=is_last,
        )
