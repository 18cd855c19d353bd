"""What an attempt leaves that could not be played."""

from __future__ import annotations

from typing import Any

import pytest
from tiny_run import SUITE

from arena_core.cookie import Cookie
from arena_core.errors import LoginError, UnknownNameError
from arena_core.worlds import World
from evaluators.evidence import UnscoredReason
from orchestrator.agents.registry import AgentOptions, make_agent
from orchestrator.episode.environment import AttemptSpec, EpisodeEnvironment
from orchestrator.episode.performance import perform
from orchestrator.episode.recorder import Recorder
from sites.atlas import load_atlas
from sites.upstreams import Upstreams


class Loopback:
    """A browser, as far as a gateway asks one: where it may listen."""

    async def listen(self) -> str:
        return "127.0.0.1"


class Refusing:
    """Accounts that hand out no login."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def cookies(self, *_: Any) -> tuple[Cookie, ...]:
        raise self.error


@pytest.mark.parametrize(
    ("error", "reason", "message"),
    [
        (
            UnknownNameError("site 'wiki' has no role 'admin'"),
            UnscoredReason.CHECK_ERROR,
            "site 'wiki' has no role 'admin'",
        ),
        (LoginError("could not log in"), UnscoredReason.INFRA, "could not log in"),
        (KeyError("admin"), UnscoredReason.INTERNAL, "KeyError: 'admin'"),
    ],
)
async def test_what_breaks_off_before_the_first_step_is_unscored_and_stops_nothing(
    error: Exception, reason: UnscoredReason, message: str
) -> None:
    nobody: Any = None
    browser: Any = Loopback()
    accounts: Any = Refusing(error)
    task = SUITE.tasks[0].model_copy(update={"sites": (), "roles": {"wiki": "admin"}})
    environment = EpisodeEnvironment(
        atlas=load_atlas(()),
        upstreams=Upstreams(World.OFFLINE, {}),
        browser=browser,
        replicas={},
        accounts=accounts,
        database=nobody,
        api=nobody,
    )
    agent = make_agent("oracle", AgentOptions())
    spec = AttemptSpec(suite="tiny", task=task, repeat=0, attempt=1, agent=agent, screenshots=False)
    recorder = Recorder(spec, environment)
    await perform(recorder)
    fault = recorder.evidence().fault
    assert fault is not None
    assert (fault.reason, fault.message) == (reason, message)
    is_bug = reason is UnscoredReason.INTERNAL
    assert (fault.place or "").startswith("orchestrator/episode/performance.py:") is is_bug
