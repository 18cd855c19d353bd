"""Steps of an agent that drives the browser by itself: when each begins and ends, what it holds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from support.runs.played_episode import ANSWER, HEADING, KETTLE, NODE, RIGHT, episode, forever
from support.worlds.fake_world import WIKI, FakeWorld

from arena_core.actions import MouseClick, Press, Stop, Write
from arena_core.errors import BrowserError
from evaluators.evidence import Ended, StepEvidence, UnscoredReason
from evaluators.verdicts import CheckStatus
from orchestrator.browser.cdp_proxy.agent_commands import Act, Attempt, Part
from orchestrator.episode.episode import Episode
from orchestrator.episode.external.steps import OVER, ExternalSteps

CLICK = MouseClick(x=1, y=2)
JOIN = Act(part=Part.JOINS, kind="")


class Playing:
    """An episode whose agent acts from elsewhere, command by command."""

    def __init__(self, world: FakeWorld, one: Episode, steps: ExternalSteps) -> None:
        self.world = world
        self.episode = one
        self.steps = steps

    async def sends(self, kind: str = "mouse", text: str = "") -> str | None:
        """Send a command that acts; why it was refused. It waits for its answer."""
        goes_on = kind in {"write", "wheel"}
        action = CLICK if kind == "mouse" else Press(keys="Enter") if kind == "press" else None
        part = Part.CONTINUES if goes_on else Part.BEGINS
        return await self.steps.acts(
            Act(part=part, kind=kind, action=action, text=text, target="T")
        )

    async def does(self, kind: str = "mouse", text: str = "") -> str | None:
        """Send a command that acts, and let the browser answer it."""
        why = await self.sends(kind, text)
        if why is None:
            self.steps.acted()
        return why

    async def written(self, count: int) -> tuple[StepEvidence, ...]:
        """Return the agent's steps once there are so many."""
        await until(lambda: len(self.all) == count)
        return self.all

    async def finish(self) -> tuple[StepEvidence, ...]:
        """End it as an agent that says that it is done; return its steps."""
        await self.steps.finish()
        return self.all

    @property
    def all(self) -> tuple[StepEvidence, ...]:
        return self.episode.evidence().steps[1:]


async def until(is_so: Callable[[], bool]) -> None:
    """Return as soon as it is so."""
    async with asyncio.timeout(5):
        while not is_so():  # noqa: ASYNC110  evidence tells nobody that it grew
            await asyncio.sleep(0)


@asynccontextmanager
async def playing(world: FakeWorld | None = None, **task: Any) -> AsyncIterator[Playing]:
    world = world or FakeWorld(is_shared=True)
    world.is_shared = True
    async with episode(world, **task) as one:
        await one.reset()
        steps = ExternalSteps(one)
        yield Playing(world, one, steps)
        await steps.close()


async def test_a_step_is_written_when_its_page_has_settled() -> None:
    async with playing() as agent:
        assert await agent.does() is None
        (step,) = await agent.written(1)
        assert (step.index, step.action, step.settled) == (1, CLICK, True)
        assert "attend T" in agent.world.log


async def test_a_step_is_not_written_before_its_command_is_answered() -> None:
    async with playing() as agent:
        await agent.sends()
        await asyncio.sleep(0.02)
        assert agent.all == ()
        assert agent.steps.idle_s == 0.0
        agent.steps.acted()
        await agent.written(1)


async def test_an_agent_never_waits_for_a_page_and_its_step_says_so() -> None:
    world = FakeWorld(script={"settle": forever}, is_shared=True)
    async with playing(FakeWorld()) as agent:
        agent.world.script = world.script
        await agent.does()
        await asyncio.sleep(0)  # the page is being waited for
        async with asyncio.timeout(1):
            await agent.does("press")
        (first,) = agent.all
        assert (first.action, first.settled) == (CLICK, False)
        agent.world.script = {}
        _, second = await agent.finish()
        assert (second.action, second.settled) == (Press(keys="Enter"), True)


async def test_only_what_a_script_did_and_no_page_shows_yet_is_waited_for() -> None:
    """Else a click by script would count or not by how fast the agent is."""
    async with playing() as agent:
        waited: list[str] = []

        async def settle() -> None:
            agent.world.bears_out = True
            waited.append("settled")

        await agent.sends()
        agent.world.bears_out = False
        agent.world.script = {"settle": settle}
        await agent.does("press")
        (first,) = agent.all
        assert (first.settled, waited) == (True, ["settled"])
        assert agent.world.log.count("bear out") == 2


async def test_the_page_is_looked_at_before_the_next_command_is_sent() -> None:
    heading = {**HEADING, "when": "step"}
    async with playing(checks=[heading, ANSWER]) as agent:
        await agent.does()
        agent.world.pages = {"h1": ("Kettle",)}
        assert await agent.sends("press") is None
        agent.world.pages = {}
        agent.steps.acted()
        first, second = await agent.finish()
        assert [found.values for found in first.located] == [("Kettle",)]
        assert [found.values for found in second.located] == [()]


async def test_what_a_step_led_to_stands_with_it_however_fast_the_next_one_is() -> None:
    async with playing(checks=[NODE]) as agent:
        await agent.sends()
        agent.world.sessions[0].goes(KETTLE)
        agent.steps.acted()
        await agent.does("press")
        first, second = await agent.finish()
        assert [visit.url for visit in first.visits] == [KETTLE]
        assert second.visits == ()


async def test_letters_that_follow_one_another_are_one_step() -> None:
    async with playing() as agent:
        for letter in "kettle":
            await agent.does("write", letter)
        await agent.does("press")
        for letter in "tea":
            await agent.does("write", letter)
        steps = await agent.finish()
        assert [step.action for step in steps] == [
            Write(text="kettle"),
            Press(keys="Enter"),
            Write(text="tea"),
        ]


async def test_letters_after_a_pause_are_another_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orchestrator.episode.external.steps._GOES_ON_S", 0.0)
    async with playing() as agent:
        await agent.does("write", "ket")
        await agent.written(1)
        await agent.does("write", "tle")
        steps = await agent.written(2)
        assert [step.action for step in steps] == [Write(text="ket"), Write(text="tle")]


async def test_turns_of_the_wheel_are_no_letters() -> None:
    async with playing() as agent:
        for kind in ("wheel", "wheel", "write", "wheel"):
            await agent.does(kind, "k" if kind == "write" else "")
        assert len(await agent.finish()) == 3


async def test_a_release_belongs_to_the_press_and_is_no_step_of_its_own() -> None:
    async with playing() as agent:
        await agent.steps.acts(JOIN)
        agent.steps.acted()
        await agent.does()
        await agent.steps.acts(JOIN)
        agent.steps.acted()
        assert len(await agent.finish()) == 1


async def test_the_step_beyond_the_limit_is_refused_and_ends_the_episode() -> None:
    async with playing(limits={"steps": 2}) as agent:
        assert await agent.does() is None
        assert await agent.does() is None
        assert not agent.steps.over.is_set()
        why = "limit reached: 2 steps were used up; the episode is over"
        assert await agent.does() == why
        assert agent.steps.over.is_set()
        assert await agent.does() == why
        assert await agent.steps.acts(JOIN) == why
        await agent.steps.finish()
        await agent.episode.score()
        evidence = agent.episode.evidence()
        assert (evidence.ended, evidence.ended_because) == (
            Ended.STEP_LIMIT,
            "2 steps were used up",
        )
        assert len(agent.all) == 2


async def test_an_agent_that_uses_all_its_steps_may_still_answer() -> None:
    async with playing(limits={"steps": 2}) as agent:
        await agent.does()
        await agent.does()
        await agent.finish()
        await agent.episode.step(RIGHT)
        assert str((await agent.episode.score()).outcome) == "success"


@pytest.mark.parametrize("is_forged", [True, False])
async def test_an_address_that_a_script_set_meets_no_check_at_the_end_either(
    *, is_forged: bool
) -> None:
    end = {**NODE, "when": "end"}
    async with playing(checks=[end]) as agent:
        await agent.sends()
        session = agent.world.sessions[0]
        session.goes(KETTLE)
        session.is_forged = is_forged
        agent.steps.acted()
        await agent.finish()
        await agent.episode.step(RIGHT)
        (verdict,) = (await agent.episode.score()).verdicts
        assert (verdict.status is CheckStatus.UNMET) is is_forged
        assert [step.is_forged for step in agent.all] == [is_forged] * 2


async def test_letters_go_on_with_the_last_step_at_the_limit() -> None:
    async with playing(limits={"steps": 1}) as agent:
        for letter in "kettle":
            assert await agent.does("write", letter) is None
        assert str(await agent.does("press")).startswith("limit reached: ")
        assert [step.action for step in agent.all] == [Write(text="kettle")]


async def test_time_counts_while_something_is_done_and_ends_the_episode() -> None:
    async with playing(limits={"seconds": 0.1}) as agent:
        await agent.sends()
        await asyncio.sleep(0.15)
        agent.steps.acted()
        await agent.written(1)
        assert await agent.does() == "limit reached: 0.1 s were over; the episode is over"
        await agent.episode.score()
        evidence = agent.episode.evidence()
        assert (evidence.ended, evidence.ended_because) == (Ended.DEADLINE, "0.1 s were over")


async def test_time_between_steps_is_the_agents_own() -> None:
    async with playing(limits={"seconds": 0.2}) as agent:
        await agent.does()
        await agent.written(1)
        await asyncio.sleep(0.3)
        assert await agent.does() is None
        _, second = await agent.written(2)
        assert second.timings.decide_ms >= 300
        assert second.timings.act_ms < 200


async def test_a_refused_attempt_stands_in_the_notes_of_the_step_under_way() -> None:
    async with playing() as agent:
        await agent.sends()
        agent.steps.refused(
            Attempt("Page.navigate", '{"url": "file:///etc/passwd"}', "no such scheme")
        )
        agent.steps.acted()
        await agent.does("press")
        first, second = await agent.finish()
        (note,) = first.notes
        assert (note.method, note.refused) == ("Page.navigate", "no such scheme")
        assert "passwd" in note.url
        assert second.notes == ()


async def test_an_attempt_of_an_agent_that_does_nothing_else_stands_in_the_evidence() -> None:
    async with playing() as agent:
        agent.steps.refused(Attempt("Runtime.addBinding", "{}", "the name is Arena's"))
        (step,) = await agent.finish()
        assert step.action is None
        assert [note.refused for note in step.notes] == ["the name is Arena's"]


async def test_what_no_command_explains_is_a_step_of_its_own() -> None:
    async with playing(checks=[NODE]) as agent:
        agent.world.sessions[0].goes(KETTLE)
        (step,) = await agent.written(1)
        assert (step.action, [visit.url for visit in step.visits]) == (None, [KETTLE])


async def test_scripts_beyond_the_limit_end_the_episode_what_comes_late_does_not() -> None:
    async with playing(limits={"steps": 1}) as agent:
        await agent.does()
        await agent.written(1)
        agent.world.sessions[0].goes(KETTLE)
        assert not agent.steps.over.is_set()
        agent.steps.scripts(is_over=False)
        agent.world.sessions[0].goes(f"{WIKI}/wiki/A/Tea")
        assert agent.steps.over.is_set()
        assert len(agent.all) == 1


@pytest.mark.parametrize("place", ["settle", "bear out", "title"])
async def test_a_browser_that_breaks_under_a_step_is_no_fault_of_the_agents(place: str) -> None:
    async with playing() as agent:
        agent.world.script = {place: BrowserError("the browser or its driver crashed")}
        await agent.does()
        async with asyncio.timeout(5):
            await agent.steps.over.wait()
        assert await agent.does() == OVER
        assert str((await agent.episode.score()).outcome) == "unscored: infra"


async def test_a_browser_that_is_gone_when_the_agent_gives_up_is_no_fault_of_the_agents() -> None:
    """Its last step is written down, and nothing else asks the browser anything."""
    async with playing() as agent:
        await agent.does()
        await agent.written(1)
        agent.world.script = {"title": BrowserError("the browser or its driver crashed")}
        await agent.finish()
        fault = agent.episode.evidence().fault
        assert fault is not None
        assert fault.reason is UnscoredReason.INFRA


async def test_an_end_that_was_looked_at_is_not_looked_at_again() -> None:
    async with playing() as agent:
        await agent.does()
        await agent.finish()
        agent.world.script = {"title": BrowserError("the browser is closed")}
        assert len(await agent.finish()) == 1
        assert agent.episode.evidence().fault is None


async def test_nothing_is_done_once_the_agent_has_finished() -> None:
    async with playing() as agent:
        await agent.does()
        await agent.finish()
        assert await agent.does() == OVER
        agent.world.sessions[0].goes(KETTLE)
        assert len(agent.all) == 1
        await agent.episode.step(Stop(answer="1891"))
        assert str((await agent.episode.score()).outcome) == "success"


async def test_a_command_that_is_cut_short_leaves_no_step_under_way() -> None:
    """A client may be gone while its command waits for the step before to be let go."""
    async with playing() as agent:
        agent.world.script = {"settle": forever}
        await agent.does()
        await asyncio.sleep(0)
        cut = asyncio.create_task(agent.sends("press"))
        await asyncio.sleep(0)  # it is letting go of the page now
        cut.cancel()
        await asyncio.wait([cut])
        assert cut.cancelled()
        agent.world.script = {}
        await agent.does("press")
        await until(lambda: agent.steps.idle_s > 0)
        assert [step.action for step in await agent.finish()] == [CLICK, Press(keys="Enter")]


CRASHED = "the page of tab 0 crashed (crashed, SIGTRAP)"


async def test_an_agent_whose_page_crashes_by_itself_has_failed() -> None:
    """Else an agent could hide what it fails at by a script that eats memory."""
    async with playing(checks=[ANSWER]) as agent:
        agent.steps.connected()
        await agent.does()
        agent.world.broke(CRASHED)
        assert agent.steps.over.is_set()
        assert await agent.does("press") == OVER
        (step,) = await agent.finish()
        assert step.action == CLICK
        score = await agent.episode.score()
        evidence = agent.episode.evidence()
        assert evidence.ended is Ended.AGENT_CRASHED
        assert evidence.ended_because == f"{CRASHED}, which the agent drives by itself"
        assert str(score.outcome) == "failure"


async def test_an_agent_whose_page_crashes_is_scored_as_it_stands() -> None:
    async with playing(checks=[NODE, HEADING]) as agent:
        agent.steps.connected()
        agent.world.pages["h1"] = ("Kettle",)
        await agent.sends()
        agent.world.sessions[0].goes(KETTLE)
        agent.steps.acted()
        await agent.written(1)
        agent.world.broke(CRASHED)
        agent.world.pages.clear()
        await agent.finish()
        score = await agent.episode.score()
        found = [verdict.status for verdict in score.verdicts]
        assert found == [CheckStatus.MET, CheckStatus.UNMET]
        assert str(score.outcome) == "failure"


async def test_a_replica_that_died_while_the_agents_page_crashed_leaves_no_score() -> None:
    async with playing(checks=[ANSWER]) as agent:
        agent.steps.connected()
        await agent.does()
        agent.world.broke(CRASHED)
        agent.world.gone = "the container of wiki is gone"
        await agent.finish()
        assert str((await agent.episode.score()).outcome) == "unscored: infra"


async def test_a_page_that_crashes_before_any_client_came_is_the_worlds() -> None:
    async with playing(checks=[ANSWER]) as agent:
        agent.world.broke(CRASHED)
        assert agent.steps.over.is_set()
        assert str((await agent.episode.score()).outcome) == "unscored: infra"


async def test_a_page_that_is_found_hanging_at_the_end_takes_no_answer_back() -> None:
    async with playing(checks=[ANSWER]) as agent:
        agent.steps.connected()
        await agent.steps.finish()
        agent.world.broke("the page of tab 0 hangs")
        await agent.episode.step(Stop(answer="1891"))
        assert str((await agent.episode.score()).outcome) == "success"
