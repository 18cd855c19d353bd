"""What `sample` asks of agents, before anything is played."""

from __future__ import annotations

import pytest

from arena_core.errors import UsageError
from orchestrator import Arena
from orchestrator.api.events import ArenaEvent, WarningNote


def test_a_model_is_sampled_with_a_temperature_unless_one_says_otherwise() -> None:
    said: list[ArenaEvent] = []
    arena = Arena(on_event=said.append)
    assert arena._heated("chat", {"model": "m"}) == {"model": "m", "temperature": 1.0}
    assert arena._heated("chat", {"temperature": "0.5"}) == {"temperature": "0.5"}
    assert arena._heated("random", {}) == {}
    assert said == []


@pytest.mark.parametrize(("agent", "options"), [("oracle", {}), ("chat", {"temperature": 0})])
def test_rollouts_that_may_all_be_equal_are_warned_of(
    agent: str, options: dict[str, object]
) -> None:
    said: list[ArenaEvent] = []
    Arena(on_event=said.append)._heated(agent, options)
    [warning] = said
    assert isinstance(warning, WarningNote)
    assert "may all be equal" in warning.text


def test_bands_need_a_run_that_measured_them() -> None:
    with pytest.raises(UsageError, match="bands are of earlier runs"):
        Arena().plan_sample(bands=["hard"])
    with pytest.raises(UsageError, match="no band 'x'"):
        Arena().plan_sample(bands=["x"], measured=["none"])


def test_without_bands_every_task_of_the_world_is_sampled() -> None:
    planned = Arena().plan_sample(["shop-*"], suite="demo")
    assert planned.chosen == tuple(one.task for one in planned.tasks)
    assert all(one.startswith("shop-") for one in planned.chosen)
