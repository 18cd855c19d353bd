"""Agents that hold one conversation an episode: `tools`, `vision` and `computer`."""

from __future__ import annotations

import re
from typing import Final, Literal

from pydantic import PositiveInt

from arena_core.errors import UsageError
from orchestrator.agents.action_spaces.anthropic_computer import AnthropicComputer
from orchestrator.agents.action_spaces.arena_json import ArenaJson
from orchestrator.agents.action_spaces.computer_use import PointerTools, Size
from orchestrator.agents.action_spaces.functions import Combined
from orchestrator.agents.action_spaces.gemini_computer import GeminiComputer
from orchestrator.agents.action_spaces.openai_computer import OpenAiComputer
from orchestrator.agents.action_spaces.parser import ToolActions
from orchestrator.agents.builtin.dialogue import (
    CallReader,
    Dialogue,
    MarksView,
    PictureView,
    Reader,
    TextReader,
    TreeView,
    Words,
    browser_tools,
    element_tools,
    task_with_files,
)
from orchestrator.agents.builtin.prompt import action_examples, filled, prompt_text, task_of
from orchestrator.agents.interface import Agent, Assignment
from orchestrator.agents.model.client import ModelClient
from orchestrator.agents.model_agent import Shown, model_agent
from orchestrator.browser.observation import SCREENSHOT, SOM

_PAGE_CHARACTERS: Final = 24_000


def new_tools_agent(
    client: ModelClient, assignment: Assignment, *, seed: int, observations_kept: PositiveInt = 3
) -> Agent:
    words = Words(
        rules=filled("tools/rules.txt", step_limit=assignment.step_limit),
        task=task_with_files(assignment),
        again=prompt_text("tools/again.txt"),
    )
    return Dialogue(
        client,
        words,
        CallReader(element_tools(assignment)),
        TreeView(assignment, _PAGE_CHARACTERS),
        seed=seed,
        kept=observations_kept,
    )


TOOLS: Final = model_agent("tools", new_tools_agent)


Replies = Literal["tools", "json"]


def new_vision_agent(
    client: ModelClient,
    assignment: Assignment,
    *,
    seed: int,
    replies: Replies = "tools",
    observations_kept: PositiveInt = 3,
) -> Agent:
    rules = filled(f"vision/rules_{replies}.txt", **_vision_parts(assignment, replies))
    again = prompt_text(f"vision/again_{replies}.txt")
    return Dialogue(
        client,
        Words(rules=rules, task=task_with_files(assignment), again=again),
        _vision_reader(assignment, replies),
        MarksView(assignment),
        seed=seed,
        kept=observations_kept,
    )


def _vision_parts(assignment: Assignment, replies: Replies) -> dict[str, object]:
    limit: dict[str, object] = {"step_limit": assignment.step_limit}
    return limit | {"actions": action_examples(assignment)} if replies == "json" else limit


def _vision_reader(assignment: Assignment, replies: Replies) -> Reader:
    match replies:
        case "tools":
            return CallReader(element_tools(assignment))
        case "json":
            return TextReader(ArenaJson())


VISION: Final = model_agent("vision", new_vision_agent, observations=frozenset({SOM}))


VendorSpace = Literal["generic", "openai", "anthropic", "gemini"]
_SIZE: Final = re.compile(r"([1-9]\d{1,3})x([1-9]\d{1,3})")


def new_computer_agent(
    client: ModelClient,
    assignment: Assignment,
    *,
    seed: int,
    action_space: VendorSpace = "generic",
    picture: str | None = None,
    observations_kept: PositiveInt = 3,
) -> Agent:
    most = _size(picture)
    is_grid = action_space == "gemini"
    rules = filled(
        "computer/rules.txt",
        places=prompt_text("computer/grid.txt" if is_grid else "computer/pixels.txt"),
        step_limit=assignment.step_limit,
    )
    again = prompt_text("computer/again.txt")
    return Dialogue(
        client,
        Words(rules=rules, task=task_of(assignment), again=again),
        CallReader(Combined((_vocabulary(action_space, most), browser_tools(assignment)))),
        PictureView(assignment, most, says_size=not is_grid),
        seed=seed,
        kept=observations_kept,
    )


def _vocabulary(action_space: VendorSpace, most: Size | None) -> ToolActions:
    match action_space:
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
        message = f"--agent-option picture={picture} is not a size"
        raise UsageError(message, hint="it looks like 1024x768")
    return Size(int(found[1]), int(found[2])) if found else None


def _checked(picture: str | None = None) -> Shown:
    """Refuse an invalid size before anything starts."""
    _size(picture)
    return Shown()


COMPUTER: Final = model_agent(
    "computer", new_computer_agent, observations=frozenset({SCREENSHOT}), shown=_checked
)
