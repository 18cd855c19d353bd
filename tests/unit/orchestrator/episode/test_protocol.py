"""Pages that end their episode themselves."""

from __future__ import annotations

from typing import Any

from support.runs.played_episode import RIGHT, episode, played
from support.worlds.fake_world import FakeDocument, FakeWorld, browsing_task

from arena_core.actions import Press
from evaluators.evidence import Ended
from tasks.schema import Task


def interaction(**more: object) -> Task:
    return browsing_task(
        family="interaction",
        worlds=["offline"],
        wob={"page": "click-test", "seed": 7},
        checks=[
            {
                "name": "reward",
                "when": "end",
                "locate": {"by": "wob"},
                "match": {"how": "number", "value": 1},
            }
        ],
        **more,
    )


def page_of(*states: dict[str, Any] | None) -> FakeDocument:
    return FakeDocument({"utterance": "Press the button.", "fields": None}, list(states))


RUNNING = {"done": False, "raw": 0, "reward": 0, "reason": None}
WON = {"done": True, "raw": 1.0, "reward": 0.9, "reason": None}


async def test_a_page_that_ends_the_episode_words_it_and_rewards_it() -> None:
    world = FakeWorld(document=page_of(RUNNING, WON))
    async with episode(world, task=interaction()) as one:
        await one.reset()
        assert one.assignment.intent == "Press the button."
        assert not (await one.step(Press(keys="A"))).is_over
        result = await one.step(Press(keys="B"))
        assert result.ended is Ended.PAGE_ENDED
        assert str((await one.score()).outcome) == "success"
    record = one.evidence().miniwob
    assert record is not None
    assert (record.utterance, record.raw) == ("Press the button.", 1.0)
    assert world.sessions[0].options.viewport == (500, 320)
    assert world.sessions[0].options.shows_unnamed


async def test_a_page_that_is_left_ends_the_episode_without_a_reward() -> None:
    one = episode(FakeWorld(document=page_of(None)), task=interaction())
    score = await played(one, Press(keys="A"))
    assert (str(score.outcome), one.evidence().ended) == ("failure", Ended.PAGE_LEFT)


async def test_a_page_that_cannot_start_its_episode_is_a_fault() -> None:
    one = episode(FakeWorld(document=FakeDocument(None, [RUNNING])), task=interaction())
    assert str((await played(one)).outcome) == "unscored: infra"


async def test_an_ordinary_task_has_an_ordinary_window_and_no_page_that_ends_it() -> None:
    world = FakeWorld()
    one = episode(world)
    await played(one, RIGHT)
    assert world.sessions[0].options.viewport == (1280, 720)
    assert not world.sessions[0].options.shows_unnamed
    assert one.evidence().miniwob is None


# drivers that leave, or misuse it
