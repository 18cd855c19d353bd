"""An episode as a program holds it, on a world without engine and browser."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest
from support.worlds.fake_world import WIKI
from support.worlds.leases import Leases

from arena_core.actions import Goto, Stop
from arena_core.errors import LeaseError, UsageError
from evaluators.evidence import Ended
from evaluators.verdicts import OutcomeKind


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


async def test_one_that_is_left_between_two_steps_gives_its_lease_back() -> None:
    """All that it has sent is known: what it has only read need not be made anew."""
    leases = Leases()
    episode = leases.episode()

    async def crash() -> None:
        async with episode:
            await episode.reset()
            _ = 1 / 0

    with pytest.raises(ZeroDivisionError):
        await crash()
    assert leases.ended == ["given back"]
    assert episode.is_over
    await episode.close()
    assert leases.ended == ["given back"]


async def test_one_that_is_left_during_a_step_says_so_to_its_lease() -> None:
    leases = Leases()
    async with leases.episode() as episode:
        await episode.reset()
        leases.world.script["act"] = asyncio.Event().wait
        leases.world.acting.clear()
        step = asyncio.create_task(episode.step(Goto(url=f"{WIKI}/one")))
        await leases.world.acting.wait()
    await step
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
    assert leases.ended == ["given back"]


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
