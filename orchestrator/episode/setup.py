"""Plays the actions of a task's `given` in a browser: an episode that nobody scores."""

from __future__ import annotations

from typing import Final

from arena_core.errors import AgentError, GivenError
from arena_core.worlds import World
from orchestrator.agents.builtin.oracle import OracleAgent
from orchestrator.episode.episode import Episode
from tasks.given import DoAs, step_in_words
from tasks.schema import Limits, Task

_SECONDS: Final = 300.0
_MORE_STEPS: Final = 2  # the end, and one that says why it could not be done


def setup_task(task: Task, site: str, step: DoAs) -> Task:
    """Return what is played for a step: its actions on one site, and no checks."""
    changes: dict[str, object] = {
        "sites": (site,),
        "roles": {} if step.role is None else {site: step.role},
        "start": (f"{site}:{step.start}",),
        "given": {},
        "limits": Limits(steps=len(step.do) + _MORE_STEPS, seconds=_SECONDS),
        "requires": (),
        "checks": (),
        "looks": (),
        "reference": step.do,
        "miniwob": None,
        "recorded": None,
    }
    return task.model_copy(update=changes)


async def play_setup(episode: Episode, site: str, step: DoAs) -> None:
    """Do the actions of a step, each when the page has settled after the one before.

    Raises:
        GivenError: one of them could not be done, or the episode broke off.
    """
    agent = OracleAgent(episode.reference, World.OFFLINE)
    observation = await episode.reset()
    why = observation.last_error
    try:
        while not episode.is_over:
            decision = await agent.decide(observation)
            done = await episode.step(decision.action)
            observation = done.observation
            why = done.because
    except AgentError as cause:
        raise _failed(site, step, cause.message) from cause
    if why is not None:
        raise _failed(site, step, why)


def _failed(site: str, step: DoAs, why: str) -> GivenError:
    return GivenError(f"site '{site}': given, {step_in_words(step)}: {why}")
