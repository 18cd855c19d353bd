"""Figures and actions in words, the same in the terminal and in HTML."""

from __future__ import annotations

from typing import assert_never

from arena_core.actions import (
    Action,
    Back,
    Click,
    CloseTab,
    FocusTab,
    Forward,
    Goto,
    Hover,
    NewTab,
    Press,
    Scroll,
    Select,
    Stop,
    Type,
)
from evaluators.evidence import StepEvidence
from orchestrator.observation import AgentClass
from orchestrator.stats.rates import Interval, Rate
from orchestrator.store.lock import AgentLock

_NOTES = {
    AgentClass.REFERENCE: "reference agent, not a contestant",
    AgentClass.BASELINE: "baseline agent, not a contestant",
    AgentClass.GUIDED: "guided agent, told the key nodes, not a contestant",
}


def agent_note(agent: AgentLock) -> str | None:
    """Return what is to be said wherever an agent's figures are shown; None for a contestant."""
    return _NOTES.get(agent.agent_class)


def percent(value: Rate | float | None) -> str:
    """Return a rate or share as a percentage, a dash where there is none."""
    number = value.value if isinstance(value, Rate) else value
    return "–" if number is None else f"{number:.0%}"


def interval(found: Interval | None) -> str:
    """Return an interval as percentages, nothing where there is none."""
    return "" if found is None else f"{found.low:.0%} to {found.high:.0%}"


def duration(seconds: float) -> str:
    """Return seconds for people."""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def action_in_words(action: Action, step: StepEvidence) -> str:  # noqa: C901, PLR0911 - a case each
    """Return what an agent did; the element is named as the page watcher saw it."""
    match action:
        case Click() | Hover():
            return f"{action.kind} {_element(step, action.element)}"
        case Type():
            enter = ", Enter" if action.submit else ""
            return f"type “{action.text}” into {_element(step, action.element)}{enter}"
        case Select():
            return f"choose “{action.option}” in {_element(step, action.element)}"
        case Press():
            return f"press {action.keys}"
        case Scroll():
            return f"scroll {action.direction}"
        case Goto():
            return f"open {action.url}"
        case NewTab():
            return f"open a new tab {action.url or ''}".rstrip()
        case FocusTab():
            return f"go to tab {action.index}"
        case Back() | Forward() | CloseTab():
            return action.kind.replace("_", " ")
        case Stop():
            return "stop"
        case _:
            assert_never(action)


def _element(step: StepEvidence, number: int) -> str:
    for acted in step.acted:
        name = acted.name or acted.text
        return f"{acted.role or acted.tag} “{name}”" if name else acted.role or acted.tag
    return f"element {number}"
