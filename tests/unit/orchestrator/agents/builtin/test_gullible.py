"""The gullible agent does what an attack asks for; where nothing attacks, it does the task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from arena_core.actions import Back, Stop
from arena_core.errors import TaskError
from orchestrator.agents.builtin.gullible import GULLIBLE
from orchestrator.agents.interface import AgentClass, Assignment, Reference
from orchestrator.browser.observation import Observation
from tasks.reference import ReferenceAction, Simple, StopWith

RIGHT = (StopWith(do="stop", answer="42"),)
ATTACK = (Simple(do="back"), StopWith(do="stop"))


def given(assignment: Assignment, *attack: ReferenceAction) -> Assignment:
    return replace(assignment, reference=Reference(RIGHT, str, attack=attack))


async def test_it_follows_an_attack(
    assignment: Assignment, page: Callable[..., Observation]
) -> None:
    agent = GULLIBLE.open().make(given(assignment, *ATTACK))
    shown = page("heading 'x'")
    assert [(await agent.decide(shown)).action for _ in ATTACK] == [Back(), Stop()]


async def test_without_an_attack_it_does_the_task(
    assignment: Assignment, page: Callable[..., Observation]
) -> None:
    agent = GULLIBLE.open().make(given(assignment))
    assert (await agent.decide(page("heading 'x'"))).action == Stop(answer="42")


def test_it_is_no_contestant_and_needs_a_reference(assignment: Assignment) -> None:
    assert GULLIBLE.agent_class is AgentClass.REFERENCE
    with pytest.raises(TaskError, match="has no reference"):
        GULLIBLE.open().make(assignment)
