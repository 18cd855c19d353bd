"""What a driver may do: evaluate, close, cancel, end, look beside the agent."""

from __future__ import annotations

import asyncio

import pytest
from support.runs.played_episode import HEADING, KETTLE, RIGHT, episode, forever, played
from support.worlds.fake_world import WIKI, FakeWorld

from arena_core.actions import Goto
from arena_core.errors import (
    SiteGoneError,
    UsageError,
)
from evaluators.evidence import Ended


async def test_an_episode_that_is_closed_early_is_unscored_and_keeps_its_steps() -> None:
    async with episode(FakeWorld()) as one:
        await one.reset()
        await one.step(Goto(url=KETTLE))
    assert one.is_over
    evidence = one.evidence()
    assert (evidence.ended, len(evidence.steps)) == (None, 2)
    score = await one.score()
    assert str(score.outcome) == "unscored: infra"
    assert score.because == "its driver closed it after step 1"


async def test_a_right_answer_counts_only_where_its_end_was_looked_at() -> None:
    async with episode(FakeWorld()) as one:
        await one.reset()
        await one.step(RIGHT)
        assert one.evidence().ended is None
    assert one.evidence().ended is None
    score = await one.score()
    assert str(score.outcome) == "unscored: infra"
    assert score.because == "its end checks were not looked at"


async def test_an_evaluation_is_made_once_and_survives_the_close() -> None:
    world = FakeWorld(rows=(("1",),))
    check = {
        "name": "rows",
        "when": "end",
        "locate": {"by": "db", "site": "wiki", "sql": "SELECT 1"},
        "match": {"how": "exact", "value": "1"},
    }
    async with episode(world, checks=[check]) as one:
        await one.reset()
        await one.step(RIGHT)
        first = await one.score()
        assert await one.score() is first
    assert await one.score() is first
    assert world.log.count("query") == 1
    assert str(first.outcome) == "success"


async def test_what_may_have_been_written_is_reported_however_the_episode_ends() -> None:
    world = FakeWorld()
    async with episode(world) as one:
        await one.reset()
        world.requested("POST", f"{WIKI}/", site="wiki")
    assert world.log[-3:] == ["session closed", "wrote wiki", "gateway closed"]
    quiet = FakeWorld()
    await played(episode(quiet), RIGHT)
    assert quiet.written == []


async def test_closing_twice_closes_once() -> None:
    world = FakeWorld()
    one = episode(world)
    await one.reset()
    await asyncio.gather(one.close(), one.close())
    await one.close()
    assert world.log.count("gateway closed") == 1


@pytest.mark.parametrize("where", ["log in", "open", "settle"])
async def test_closing_cuts_an_opening_short_and_leaves_nothing_open(where: str) -> None:
    world, began = FakeWorld(), asyncio.Event()

    async def hang() -> None:
        began.set()
        await forever()

    world.script[where] = hang
    one = episode(world, roles={"wiki": "reader"})
    opening = asyncio.create_task(one.reset())
    await began.wait()
    await one.close()
    assert (await opening).text == ""
    assert not any(session.is_open for session in world.sessions)
    assert world.log[-1] == "gateway closed"
    assert (await one.score()).because == "its driver closed it during the opening"


async def test_closing_cuts_a_step_short_which_then_says_so() -> None:
    world = FakeWorld()
    one = episode(world)
    await one.reset()
    world.script["act"] = forever
    step = asyncio.create_task(one.step(Goto(url=KETTLE)))
    await world.acting.wait()
    await one.close()
    result = await step
    assert (result.is_over, result.because) == (True, "its driver closed it during step 1")
    assert str((await one.score()).outcome) == "unscored: infra"
    assert one.evidence().ended is None


async def test_closing_cuts_the_end_checks_short_and_the_right_answer_is_unscored() -> None:
    world, began = FakeWorld(), asyncio.Event()

    async def hang() -> None:
        began.set()
        await forever()

    world.script["lost"] = hang
    one = episode(world)
    await one.reset()
    await one.step(RIGHT)
    evaluation = asyncio.create_task(one.score())
    await began.wait()
    await one.close()
    assert str((await evaluation).outcome) == "unscored: infra"


async def test_end_checks_that_were_cancelled_can_be_looked_at_again() -> None:
    world, began = FakeWorld(), asyncio.Event()

    async def hang() -> None:
        began.set()
        await forever()

    async with episode(world) as one:
        await one.reset()
        await one.step(RIGHT)
        world.script["lost"] = hang
        evaluation = asyncio.create_task(one.score())
        await began.wait()
        evaluation.cancel()
        await asyncio.wait([evaluation])
        del world.script["lost"]
        assert str((await one.score()).outcome) == "success"


async def test_a_step_that_is_cancelled_leaves_the_episode_unscored() -> None:
    world = FakeWorld(script={"act": forever})
    async with episode(world) as one:
        await one.reset()
        step = asyncio.create_task(one.step(Goto(url=KETTLE)))
        await world.acting.wait()
        step.cancel()
        with pytest.raises(asyncio.CancelledError):
            await step
        with pytest.raises(UsageError, match="is over"):
            await one.step(RIGHT)
        score = await one.score()
    assert str(score.outcome) == "unscored: infra"
    assert score.because == "step 1 was cancelled before it was done"


async def test_two_steps_at_once_are_refused() -> None:
    world = FakeWorld()
    async with episode(world) as one:
        await one.reset()
        world.script["act"] = forever
        step = asyncio.create_task(one.step(Goto(url=KETTLE)))
        await world.acting.wait()
        with pytest.raises(UsageError, match=r"step\(\) was called while step\(\)"):
            await one.step(RIGHT)
        step.cancel()
        await asyncio.wait([step])


async def test_calls_that_make_no_sense_say_what_to_do() -> None:
    one = episode(FakeWorld())
    with pytest.raises(UsageError, match="not reset yet"):
        await one.step(RIGHT)
    await one.reset()
    with pytest.raises(UsageError, match="played once"):
        await one.reset()
    with pytest.raises(UsageError, match="is not over"):
        await one.score()
    with pytest.raises(UsageError, match="does not end"):
        one.end(Ended.STOPPED, "because")
    await one.step(RIGHT)
    with pytest.raises(UsageError, match="is over"):
        await one.step(RIGHT)
    with pytest.raises(UsageError, match="is over"):
        one.end(Ended.DEADLINE, "because")
    await one.close()
    for call in (one.step(RIGHT), one.snapshot(), one.reset()):
        with pytest.raises(UsageError):
            await call


async def test_a_driver_may_end_an_episode_which_is_scored_as_it_stands() -> None:
    one = episode(FakeWorld(pages={"h1": ("Kettle",)}), checks=[HEADING])
    async with one:
        await one.reset()
        one.end(Ended.DEADLINE, "the driver's own clock")
        assert str((await one.score()).outcome) == "success"
    assert one.evidence().ended_because == "the driver's own clock"


# looks beside the agent


async def test_a_look_beside_the_agent_is_no_evidence_and_touches_none_of_its_pages() -> None:
    world = FakeWorld(pages={"h1": ("Kettle",)})
    fresh = {**HEADING, "locate": {"by": "page", "at": "wiki:/", "selector": "h1"}}
    async with episode(world, checks=[fresh]) as one:
        await one.reset()
        seen = await one.snapshot()
        assert seen is not None
        assert (seen.step, [found.values for found in seen.located]) == (1, [("Kettle",)])
        assert len(world.sessions) == 2
        assert not world.sessions[1].is_open
        assert one.evidence().located == ()
        assert len(one.evidence().steps) == 1
        assert not one.is_over


async def test_a_world_that_breaks_under_a_look_breaks_the_episode_off() -> None:
    world = FakeWorld(script={"marks": SiteGoneError("gone")})
    async with episode(world) as one:
        await one.reset()
        assert await one.snapshot() is None
        assert str((await one.score()).outcome) == "unscored: infra"
