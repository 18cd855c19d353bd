"""AutoWebGLM's prompt: page, functions, previous commands with snippets, tabs, position, task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from orchestrator.agents.prompt_files import filled
from orchestrator.model.messages import ChatRole, Message
from orchestrator.observation import Observation, PrunedHtml, Tab

# How the prompt is wrapped: as a chat message, or as ChatGLM3 was trained to be asked.
Layout = Literal["chat", "chatglm3"]


def step_messages(
    task: str, observation: Observation, page: PrunedHtml, commands: Sequence[str], layout: Layout
) -> tuple[Message, ...]:
    """Return the one message of a step, its parts in the order of AutoWebGLM's own.

    Source: arXiv 2404.03648, figure 3 and `NewASPromptConstructor`; with the layout `chatglm3`, the
    template `Q: … A: `.
    """
    text = filled(
        __package__,
        "step.txt",
        html=page.text,
        commands="\n".join(commands) or "None",
        tabs=tab_lines(observation.tabs),
        position=position(page),
        task=task,
    )
    if layout == "chatglm3":
        text = f"Q: {text}\n\nA: "
    return (Message(ChatRole.USER, text),)


def tab_lines(tabs: Sequence[Tab]) -> str:
    """Return the tabs, numbered from 1, one a line."""
    return "\n".join(
        f"{number}. {tab.title}{' <-- current tab' if tab.is_current else ''}"
        for number, tab in enumerate(tabs, start=1)
    )


def position(page: PrunedHtml) -> str:
    """Return how far the page is scrolled and how long it is, in heights of the viewport."""
    scrolled, height = page.viewports
    return f"{_rounded(scrolled)} / {_rounded(height)}"


def _rounded(number: float) -> str:
    return f"{round(number, 1):g}"
