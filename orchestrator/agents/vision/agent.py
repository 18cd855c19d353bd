"""Looks at set-of-marks pictures (WebVoyager, VisualWebArena), and acts on what is numbered."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import PositiveInt

from orchestrator.agent_interface import Agent, Assignment
from orchestrator.agents.dialogue import CallReader, Dialogue, Reader, TextReader, Words
from orchestrator.agents.model_agent import model_agent
from orchestrator.agents.offered import element_tools, task_with_files
from orchestrator.agents.prompt import grammar_of
from orchestrator.agents.prompt_files import filled, prompt_text
from orchestrator.agents.sights import MarksSight
from orchestrator.grammars.arena_json import ArenaJson
from orchestrator.model.client import ModelClient
from orchestrator.observation import SOM

Replies = Literal["tools", "json"]


def new_agent(
    client: ModelClient,
    assignment: Assignment,
    *,
    seed: int,
    replies: Replies = "tools",
    observations_kept: PositiveInt = 3,
) -> Agent:
    """Return an agent for one episode.

    Args:
        client: the model.
        assignment: the task.
        seed: the episode's own.
        replies: whether it calls functions, or says its actions as JSON.
        observations_kept: how many of the last pictures are sent.
    """
    rules = filled(__package__, f"rules_{replies}.txt", **_parts(assignment, replies))
    again = prompt_text(__package__, f"again_{replies}.txt")
    return Dialogue(
        client,
        Words(rules=rules, task=task_with_files(assignment), again=again),
        _reader(assignment, replies),
        MarksSight(assignment),
        seed=seed,
        kept=observations_kept,
    )


def _parts(assignment: Assignment, replies: Replies) -> dict[str, object]:
    limit: dict[str, object] = {"step_limit": assignment.step_limit}
    return limit | {"grammar": grammar_of(assignment)} if replies == "json" else limit


def _reader(assignment: Assignment, replies: Replies) -> Reader:
    match replies:
        case "tools":
            return CallReader(element_tools(assignment))
        case "json":
            return TextReader(ArenaJson())


VISION: Final = model_agent("vision", new_agent, observations=frozenset({SOM}))
