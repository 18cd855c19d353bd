"""Looks at screenshots and names places in them, in the vocabularies of computer use.

The vendors' own tools need the vendors' own APIs; here their vocabularies are function tools, which
any OpenAI-compatible endpoint takes.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from pydantic import PositiveInt

from arena_core.errors import UsageError
from orchestrator.agent_interface import Agent, Assignment
from orchestrator.agents.dialogue import CallReader, Dialogue, Words
from orchestrator.agents.model_agent import Shown, model_agent
from orchestrator.agents.offered import browser_tools
from orchestrator.agents.prompt import task_of
from orchestrator.agents.prompt_files import filled, prompt_text
from orchestrator.agents.sights import PictureSight
from orchestrator.grammars.anthropic_computer import AnthropicComputer
from orchestrator.grammars.functions import Combined
from orchestrator.grammars.gemini_computer import GeminiComputer
from orchestrator.grammars.grammar import ToolGrammar
from orchestrator.grammars.openai_computer import OpenAiComputer
from orchestrator.grammars.pixels import Size
from orchestrator.grammars.pointer_tools import PointerTools
from orchestrator.model.client import ModelClient
from orchestrator.observation import SCREENSHOT

Dialect = Literal["generic", "openai", "anthropic", "gemini"]
_SIZE: Final = re.compile(r"([1-9]\d{1,3})x([1-9]\d{1,3})")


def new_agent(
    client: ModelClient,
    assignment: Assignment,
    *,
    seed: int,
    dialect: Dialect = "generic",
    picture: str | None = None,
    observations_kept: PositiveInt = 3,
) -> Agent:
    """Return an agent for one episode.

    Args:
        client: the model.
        assignment: the task.
        seed: the episode's own.
        dialect: whose vocabulary the functions have.
        picture: how large pictures are sent at most, `1024x768`; as they are where it is None.
            Places are scaled back.
        observations_kept: how many of the last pictures are sent.
    """
    most = _size(picture)
    is_grid = dialect == "gemini"
    rules = filled(
        __package__,
        "rules.txt",
        places=prompt_text(__package__, "grid.txt" if is_grid else "pixels.txt"),
        step_limit=assignment.step_limit,
    )
    again = prompt_text(__package__, "again.txt")
    return Dialogue(
        client,
        Words(rules=rules, task=task_of(assignment), again=again),
        CallReader(Combined((_vocabulary(dialect, most), browser_tools()))),
        PictureSight(assignment, most, says_size=not is_grid),
        seed=seed,
        kept=observations_kept,
    )


def _vocabulary(dialect: Dialect, most: Size | None) -> ToolGrammar:
    match dialect:
        case "generic":
            return PointerTools(most)
        case "openai":
            return OpenAiComputer(most)
        case "anthropic":
            return AnthropicComputer(most)
        case "gemini":
            return GeminiComputer()


def _size(picture: str | None) -> Size | None:
    found = _SIZE.fullmatch(picture) if picture is not None else None
    if picture is not None and found is None:
        message = f"--agent-option picture={picture} is no size"
        raise UsageError(message, hint="it looks like 1024x768")
    return Size(int(found[1]), int(found[2])) if found else None


def _checked(picture: str | None = None) -> Shown:
    """Refuse a size that is none before anything starts."""
    _size(picture)
    return Shown()


COMPUTER: Final = model_agent(
    "computer", new_agent, observations=frozenset({SCREENSHOT}), shown=_checked
)
