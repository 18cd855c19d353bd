"""Which of Arena's actions agents are offered as functions."""

from __future__ import annotations

from orchestrator.agent_interface import Assignment
from orchestrator.agents.prompt import task_of
from orchestrator.grammars.action_tools import BESIDE_A_COMPUTER, ON_ELEMENTS, ActionTools

# Arena's tasks that cannot be done ask for an answer that says so, so nobody is led to end without.
_LEFT_OUT = frozenset({"infeasible"})


def task_with_files(assignment: Assignment) -> str:
    """Return the task, its sites, and the files that can be uploaded, where there are any."""
    files = f"\n\nFiles to upload: {', '.join(assignment.files)}" if assignment.files else ""
    return f"{task_of(assignment)}{files}"


def element_tools(assignment: Assignment) -> ActionTools:
    """Return what can be done with numbered elements; uploads where the task has files."""
    left_out = _LEFT_OUT if assignment.files else _LEFT_OUT | {"upload"}
    return ActionTools(tuple(kind for kind in ON_ELEMENTS if kind not in left_out))


def browser_tools() -> ActionTools:
    """Return what there is to do beside mouse and keyboard: URLs, tabs, the end."""
    return ActionTools(tuple(kind for kind in BESIDE_A_COMPUTER if kind not in _LEFT_OUT))
