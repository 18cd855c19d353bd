"""Calls functions made from Arena's own actions, on the accessibility tree."""

from __future__ import annotations

from typing import Final

from pydantic import PositiveInt

from orchestrator.agent_interface import Agent, Assignment
from orchestrator.agents.dialogue import CallReader, Dialogue, Words
from orchestrator.agents.model_agent import model_agent
from orchestrator.agents.offered import element_tools, task_with_files
from orchestrator.agents.prompt_files import filled, prompt_text
from orchestrator.agents.sights import TreeSight
from orchestrator.model.client import ModelClient

_PAGE_CHARACTERS: Final = 24_000


def new_agent(
    client: ModelClient, assignment: Assignment, *, seed: int, observations_kept: PositiveInt = 3
) -> Agent:
    """Return an agent for one episode.

    Args:
        client: the model.
        assignment: the task.
        seed: the episode's own.
        observations_kept: how many of the last pages are sent whole.
    """
    words = Words(
        rules=filled(__package__, "rules.txt", step_limit=assignment.step_limit),
        task=task_with_files(assignment),
        again=prompt_text(__package__, "again.txt"),
    )
    return Dialogue(
        client,
        words,
        CallReader(element_tools(assignment)),
        TreeSight(assignment, _PAGE_CHARACTERS),
        seed=seed,
        kept=observations_kept,
    )


TOOLS: Final = model_agent("tools", new_agent)
