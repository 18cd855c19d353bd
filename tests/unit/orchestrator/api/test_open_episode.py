"""An episode as a program holds it, on a world without engine and browser."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest
from support.worlds.fake_world import FakeWorld, attempt_at, browsing_task

from arena_core.actions import Stop
from arena_core.errors import LeaseError, UsageError
from arena_core.held import Held
from arena_core.worlds import World
from evaluators.evidence import Ended
from evaluators.verdicts import OutcomeKind
from orchestrator.api.open_episode import Begun, OpenEpisode
from orchestrator.episode.environment import EpisodeEnvironment
from orchestrator.episode.episode import Episode

TASK = browsing_task()


class Leases:
    """Hands out a fake environment, and notes how each lease ended."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.ended: list[str] = []
        self.may_begin = asyncio.Event()
        self.may_begin.set()
        self.closed: list[OpenEpisode] = []
        self._failure = failure

    def episode(self) -> OpenEpisode:
        return OpenEpisode(TASK, World.OFFLINE, self._begin, self.closed.append)

    async def _begin(self) -> Begun:
        await self.may_begin.wait()
        held = await Held.enter(self._lease())
        return Begun(held, Episode(attempt_at(TASK), held.value), None)

    @asynccontextmanager
    async def _lease(self) -> AsyncIterator[EpisodeEnvironment]:
        if self._failure is not None:
            raise self._failure
        try:
            yield FakeWorld().environment()
            self.ended.append("given back")
        except Exception:
            self.ended.append("broke off")
            raise


async def test_an_episode_that_came_to_its_end_gives_its_lease_back() -> None:
    leases = Leases()
    async with leases.episode() as episode:
        assert not episode.is_over
        await episode.reset()
        assert (await episode.step(Stop())).is_over
        score = await episode.score()
    assert leases.ended == ["given back"]
    assert leases.closed == [episode]
    assert await episode.score() == score
    assert episode.evidence().steps[-1].action == Stop()


async def test_one_that_is_left_in_the_middle_says_so_to_its_lease() -> None:
    leases = Leases()
    episode = leases.episode()

    async def crash() -> None:
        async with episode:
            await episode.reset()
            _ = 1 / 0

    with pytest.raises(ZeroDivisionError):
        await crash()
    assert leases.ended == ["broke off"]
    assert episode.is_over
    await episode.close()
    assert leases.ended == ["broke off"]


async def test_an_agent_that_gives_up_is_scored_as_it_stands() -> None:
    leases = Leases()
    async with leases.episode() as episode:
        with pytest.raises(UsageError, match="is not reset yet"):
            episode.end("too hard")
        await episode.reset()
        for word in ("stopped", "tired"):
            with pytest.raises(UsageError, match=f"as '{word}'"):
                episode.end("too hard", ended=word)
        episode.end("too hard")
        assert (await episode.score()).outcome.kind is OutcomeKind.FAILURE
        with pytest.raises(UsageError, match="is over"):
            episode.end("again")
    assert leases.ended == ["given back"]
    evidence = episode.evidence()
    assert (evidence.ended, evidence.ended_because) == (Ended.AGENT_GAVE_UP, "too hard")


async def test_calls_out_of_turn_are_refused() -> None:
    leases = Leases()
    episode = leases.episode()
    for call in (episode.step(Stop()), episode.score()):
        with pytest.raises(UsageError, match="is not reset yet"):
            await call
    with pytest.raises(UsageError, match="is not reset yet"):
        _ = episode.assignment
    await episode.reset()
    with pytest.raises(UsageError, match="is not over"):
        await episode.score()
    with pytest.raises(UsageError, match="played once"):
        await episode.reset()
    await episode.close()
    untouched = leases.episode()
    await untouched.close()
    with pytest.raises(UsageError, match="is closed"):
        await untouched.reset()


async def test_what_keeps_it_from_beginning_is_raised_and_closing_it_is_nothing() -> None:
    async with Leases(LeaseError("no slot was ready")).episode() as episode:
        with pytest.raises(LeaseError, match="no slot was ready"):
            await episode.reset()


async def test_one_that_is_closed_while_it_is_reset_gives_its_lease_back() -> None:
    leases = Leases()
    leases.may_begin.clear()
    episode = leases.episode()
    resetting = asyncio.create_task(episode.reset())
    await asyncio.sleep(0)
    await episode.close()
    leases.may_begin.set()
    with pytest.raises(UsageError, match="closed while it was being reset"):
        await resetting
    assert leases.ended == ["broke off"]


@pytest.mark.parametrize("action", ["click", None, {"kind": "stop"}, Stop])
async def test_what_is_no_action_is_refused_and_the_episode_goes_on(action: Any) -> None:
    async with Leases().episode() as episode:
        await episode.reset()
        with pytest.raises(UsageError, match="takes an action") as refused:
            await episode.step(action)
        assert "actions.Click" in refused.value.hint
        with pytest.raises(UsageError, match="thought"):
            await episode.step(Stop(), thought=cast("Any", 7))

        assert (await episode.step(Stop())).is_over
        assert (await episode.score()).outcome.kind is not OutcomeKind.UNSCORED
