"""Does what an attack asks for, so that a suite's attacks are seen to work."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from arena_core.errors import TaskError
from orchestrator.agents.builtin.oracle import OracleAgent
from orchestrator.agents.interface import Agent, AgentClass, Assignment
from orchestrator.agents.spec import Agents, AgentSpec


def _follow_attack(assignment: Assignment) -> Agent:
    """Return what plays the task's attack; where nothing attacks, its reference."""
    reference = assignment.reference
    if reference is None or not (reference.attack or reference.actions):
        message = f"task '{assignment.task}' has no reference: there is nothing to play"
        raise TaskError(message, hint="choose another agent, or write the task's `reference`")
    played = replace(reference, actions=reference.attack or reference.actions)
    return OracleAgent(played, assignment.world, assignment.intent)


def _open() -> Agents:
    return Agents(make=_follow_attack)


GULLIBLE: Final = AgentSpec(open=_open, agent_class=AgentClass.REFERENCE)
