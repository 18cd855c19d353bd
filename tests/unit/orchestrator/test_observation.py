"""What an agent sees stands by itself; what was imported from there before is still found."""

from __future__ import annotations

import pytest

from orchestrator import agent_interface, observation, observation_forms


@pytest.mark.parametrize("name", ["Agent", "AgentClass", "Assignment", "Decision", "Told"])
def test_agents_that_were_written_before_find_their_interface(name: str) -> None:
    assert getattr(observation, name) is getattr(agent_interface, name)


@pytest.mark.parametrize("name", ["OBSERVATIONS", "ObservationForm", "ObservedPage", "PageNode"])
def test_forms_that_were_written_before_find_their_page(name: str) -> None:
    assert getattr(observation, name) is getattr(observation_forms, name)


def test_another_name_is_an_error_like_any_modules() -> None:
    with pytest.raises(AttributeError, match=r"'orchestrator\.observation' has no attribute 'No'"):
        _ = observation.No  # type: ignore[attr-defined]
