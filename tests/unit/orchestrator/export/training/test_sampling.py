"""What `sample` asks of agents, before anything is played."""

from __future__ import annotations

import pytest

from arena_core.errors import UsageError
from orchestrator import Arena
from orchestrator.export.training.sampling import heated


def test_a_model_is_sampled_with_a_temperature_unless_one_says_otherwise() -> None:
    said: list[str] = []
    assert heated("chat", {"model": "m"}, said.append) == {"model": "m", "temperature": 1.0}
    assert heated("chat", {"temperature": "0.5"}, said.append) == {"temperature": "0.5"}
    assert heated("random", {}, said.append) == {}
    assert said == []


@pytest.mark.parametrize(("agent", "options"), [("oracle", {}), ("chat", {"temperature": 0})])
def test_rollouts_that_may_all_be_equal_are_warned_of(
    agent: str, options: dict[str, object]
) -> None:
    said: list[str] = []
    heated(agent, options, said.append)
    [warning] = said
    assert "may all be equal" in warning


def test_bands_need_a_run_that_measured_them() -> None:
    with pytest.raises(UsageError, match="bands are of earlier runs"):
        Arena().runs.plan_sample(bands=["hard"])
    with pytest.raises(UsageError, match="no band 'x'"):
        Arena().runs.plan_sample(bands=["x"], measured=["none"])


def test_without_bands_every_task_of_the_world_is_sampled() -> None:
    planned = Arena().runs.plan_sample(["shop-*"], suite="demo")
    assert planned.chosen == tuple(one.task for one in planned.tasks)
    assert all(one.startswith("shop-") for one in planned.chosen)
