"""What an attempt leaves that could not be played."""

from __future__ import annotations

from typing import Any

import pytest
from tiny_run import SUITE

from arena_core.cookie import Cookie
from arena_core.errors import ArenaError, LoginError, UnknownNameError
from arena_core.worlds import World
from evaluators.evidence import UnscoredReason
from orchestrator.agents.registry import AgentOptions, make_agent
from orchestrator.episode.environment import AttemptSpec, EpisodeEnvironment
from orchestrator.episode.performance import perform
from orchestrator.episode.recorder import Recorder
from sites.atlas import load_atlas


class Loopback:
    """A browser, as far as a gateway asks one: where it may listen."""

    async def listen(self) -> str:
        return "127.0.0.1"


class Refusing:
    """Accounts that hand out no login."""

    def __init__(self, error: ArenaError) -> None:
        self.error = error

    async def cookies(self, *_: Any) -> tuple[Cookie, ...]:
        raise self.error


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (UnknownNameError("site 'wiki' has no role 'admin'"), UnscoredReason.CHECK_ERROR),
        (LoginError("could not log in"), UnscoredReason.INFRA),
    ],
)
async def test_a_task_that_does_not_fit_its_sites_is_unscored_and_stops_nothing(
    error: ArenaError, reason: UnscoredReason
) -> None:
    nobody: Any = None
    browser: Any = Loopback()
    accounts: Any = Refusing(error)
    task = SUITE.tasks[0].model_copy(update={"sites": (), "roles": {"wiki": "admin"}})
    environment = EpisodeEnvironment(
        atlas=load_atlas(()),
        world=World.OFFLINE,
        browser=browser,
        replicas={},
        accounts=accounts,
        database=nobody,
    )
    agent = make_agent("oracle", AgentOptions())
    spec = AttemptSpec(suite="tiny", task=task, repeat=0, attempt=1, agent=agent, screenshots=False)
    recorder = Recorder(spec, environment)
    await perform(recorder)
    fault = recorder.evidence().fault
    assert fault is not None
    assert (fault.reason, fault.message) == (reason, error.message)
