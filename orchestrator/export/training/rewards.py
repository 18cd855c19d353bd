"""The exporter `rewards`: every step of every episode with what it earned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from evaluators.fields import When
from evaluators.verdicts import CheckStatus
from orchestrator.analysis.run_report.extension_points import Written
from orchestrator.analysis.run_report.run_report import RunReport
from orchestrator.export.training.builder import DataSetBuilder, DataSetExporter, pictures_of
from orchestrator.export.training.dataset import DataSet
from orchestrator.export.training.preferences import page_of
from orchestrator.export.training.rollouts import Rollout, Turn
from orchestrator.export.training.samples import Sample, record_of, sample_of

_REWARD_FIELDS: Final = {
    "reward_progress": "by how much completion grew, by key nodes met first at this step; an"
    " episode's add up to `completion`. null: unscored, without key nodes, or not known",
    "reward_outcome": "at the last step 1 for success and 0 for failure, 0 before; null: unscored",
    "key_nodes": "those that were met first at this step",
    "outcome, reason, completion": "of the whole episode; reason: why it is unscored, else null",
    "action, error": "what was done, JSON text, and why it could not be done; empty where it could",
    "is_last, steps": "whether it is the last action, and how many there are",
    "messages, tools, images": "as in `sft`, whatever became of the step; null where the step has"
    " no reply of its own",
    "observation_digest": "digest of what was seen before; equal pages have one; empty where"
    " nothing is recorded",
}
_REWARD_LIMITS: Final = (
    "A key node may be met in any order and counts once: what an action undoes costs nothing.",
    (
        "Steps that could not be done stay in, with their `error`: without them rewards would not"
        " add up."
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepReward:
    """What one action earned.

    Attributes:
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


class RewardsExporter(DataSetExporter):
    """Every step of every episode with what it earned; unscored episodes earn nothing, not 0."""

    def export(
        self,
        runs: Sequence[RunReport],
        path: Path,
        *,
        split: str | None = None,
        include: str | None = None,
        observation: str | None = None,
    ) -> Written:
        """Write the rewards as a folder: `rewards.jsonl`, images, and the data card.

        Args:
            runs: finished or not.
            path: of the folder.
            split: as for `sft`.
            include: as for `sft`.
            observation: as for `sft`.
        """
        builder = DataSetBuilder.of(runs, split, include)

        def add(data: DataSet, rollouts: Sequence[Rollout]) -> None:
            for rollout in rollouts:
                _write_rewards(builder, data, rollout, observation)

        return builder.write(
            path,
            "rewards",
            "Rewards of steps",
            add,
            limits=_REWARD_LIMITS,
            fields=_REWARD_FIELDS,
            observation=observation,
        )


REWARDS: Final = RewardsExporter()


def _write_rewards(
    builder: DataSetBuilder, data: DataSet, rollout: Rollout, observation: str | None
) -> None:
    rewards = tuple(rewards_of(rollout))
    written = 0
    for reward in rewards:
        sample = sample_of(rollout, replace(reward.turn, has_failed=False), observation)
        usable = sample if isinstance(sample, Sample) else None
        written += data.add(
            _reward_record(builder, rollout, reward, usable, len(rewards)),
            content=None,
            pictures=() if usable is None else pictures_of(rollout, usable),
        )
    if written:
        builder.took(rollout, written)
    else:
        builder.leave_out(rollout, "it has no step" if not rewards else "all its steps removed")


def _reward_record(
    builder: DataSetBuilder, rollout: Rollout, reward: StepReward, sample: Sample | None, steps: int
) -> dict[str, Any]:
    turn, score, evidence = reward.turn, rollout.scored.score, rollout.outline
    shown: dict[str, Any] = {"messages": None, "tools": "", "images": []}
    return {
        **(shown if sample is None else record_of(sample, "chat")),
        "action": turn.action.model_dump_json(),
        "error": turn.step.error or "",
        "key_nodes": list(reward.key_nodes),
        "reward_progress": reward.progress,
        "reward_outcome": reward.outcome,
        "outcome": score.outcome.kind.value,
        "reason": None if score.outcome.reason is None else score.outcome.reason.value,
        "completion": score.completion,
        "raw_reward": None if evidence.miniwob is None else evidence.miniwob.raw,
        "is_last": reward.is_last,
        "steps": steps,
        "observation_digest": page_of(rollout, turn.seen) or "",
        **builder.about(rollout, turn, sample),
    }
