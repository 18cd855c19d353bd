"""The reward module: the model judges how far it has come, with or without a golden reference."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from orchestrator.agent_interface import Assignment
from orchestrator.agents.prompt_files import filled
from orchestrator.agents.webcanvas.guide import nodes_text

# `none`: no reward module. `self`: the model judges by the task alone. `golden`: it is given the
# task's key nodes, so the agent is no contestant.
Reward = Literal["none", "self", "golden"]


class Verdict(BaseModel):
    """What the reward module says."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    status: Literal["doing", "finished", "loop"]
    score: float | None = None
    reason: str = ""
    description: str = ""

    def as_feedback(self) -> str:
        """Return it for the planning module."""
        heads = {
            "doing": "The task is not done yet.",
            "finished": "The task is judged to be finished: give the final answer.",
            "loop": "The last steps repeat themselves: try another way.",
        }
        return " ".join(filter(None, [heads[self.status], self.description, self.reason]))


def reward_rules(assignment: Assignment, reward: Reward) -> str:
    """Return what the model is told of judging; the golden reference stands nowhere else."""
    guide = ""
    if reward == "golden" and assignment.guide is not None:
        nodes = nodes_text(assignment.guide, assignment.world)
        guide = "\n\n" + filled(__package__, "guide.txt", task=assignment.intent, nodes=nodes)
    return filled(__package__, "reward.txt", guide=guide)
