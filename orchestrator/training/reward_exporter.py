"""The exporter `rewards`: every step of every episode with what it earned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from orchestrator.report.run_report import RunReport
from orchestrator.report.seams import Written
from orchestrator.training.dataset import DataSet
from orchestrator.training.gathering import Gathering, cannot_write, pictures_of
from orchestrator.training.pairs import page_of
from orchestrator.training.records import record_of
from orchestrator.training.rollouts import Rollout
from orchestrator.training.samples import Sample, sample_of
from orchestrator.training.step_rewards import StepReward, rewards_of

_REWARD_FIELDS: Final = {
    "reward_progress": "by how much completion grew, by key nodes met first at this step; an"
    " episode's add up to `completion`. null: unscored, without key nodes, or not known",
    "reward_outcome": "at the last step 1 for success and 0 for failure, 0 before; null: unscored",
    "key_nodes": "those that were met first at this step",
    "outcome, completion": "of the whole episode",
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


class RewardsExporter:
    """Every step of every episode with what it earned; unscored episodes earn nothing, not 0."""

    suffix = ""
    is_folder = True
    searches_secrets = True

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
            split: as of `sft`.
            include: as of `sft`.
            observation: as of `sft`.

        Raises:
            InputError, UnknownNameError: the split file or `include` is wrong.
            StoreError: the folder cannot be written.
        """
        gathering = Gathering.of(runs, split, include)
        try:
            with DataSet(path, "rewards", gathering.secrets) as data:
                for _, rollouts in gathering.tasks():
                    for rollout in rollouts:
                        _write_rewards(gathering, data, rollout, observation)
            return gathering.finish(
                data, "rewards", "Rewards of steps", limits=_REWARD_LIMITS, fields=_REWARD_FIELDS
            )
        except OSError as cause:
            raise cannot_write(path, cause) from cause


REWARDS: Final = RewardsExporter()


def _write_rewards(
    gathering: Gathering, data: DataSet, rollout: Rollout, observation: str | None
) -> None:
    rewards = tuple(rewards_of(rollout))
    written = 0
    for reward in rewards:
        sample = sample_of(rollout, replace(reward.turn, has_failed=False), observation)
        usable = sample if isinstance(sample, Sample) else None
        written += data.add(
            _reward_record(gathering, rollout, reward, usable, len(rewards)),
            content=None,
            pictures=() if usable is None else pictures_of(rollout, usable),
        )
    if written:
        gathering.took(rollout, written)
    else:
        gathering.leave_out(rollout, "it has no step" if not rewards else "all its steps removed")


def _reward_record(
    gathering: Gathering, rollout: Rollout, reward: StepReward, sample: Sample | None, steps: int
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
        "outcome": str(score.outcome),
        "completion": score.completion,
        "raw_reward": None if evidence.wob is None else evidence.wob.raw,
        "is_last": reward.is_last,
        "steps": steps,
        "observation_digest": page_of(rollout, turn.seen) or "",
        **gathering.about(rollout, turn, sample),
    }
