"""A person plays an episode of a world without browser: how it ends, and what is written down."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from support.runs.played_episode import ANSWER, KETTLE, NODE, episode, forever
from support.worlds.fake_world import WIKI, FakeSession, FakeWorld

from arena_core.actions import Infeasible, MouseClick, Stop, Write
from arena_core.errors import BrowserError, SiteError, UsageError
from evaluators.evidence import ElementEvent, Ended, UnscoredReason
from evaluators.scores import score
from orchestrator.browser.tabs.watcher import EventReport, Hand
from orchestrator.episode.episode_runner import PlayedAttempt
from orchestrator.episode.external.episode import Finish, Status
from orchestrator.episode.person.agent import Card, Consent, PersonAgent
from orchestrator.episode.person.runner import LOST, PersonRunner
from orchestrator.episode.person.stopwatch import Stopwatch

CONSENT = Consent(version=1, sha256="0" * 64)
DONE = Finish(answer="1891")


def click(path: str = "#a") -> EventReport:
    hand = Hand(button="left", x=1, y=2)
    return EventReport(
        event=ElementEvent.CLICK, url="u", path=path, tag="a", role="link", name="", text="",
        value=None, hand=hand,
    )  # fmt: skip


def typed(text: str | None, path: str = "#field") -> EventReport:
    return EventReport(
        event=ElementEvent.INPUT, url="u", path=path, tag="input", role="textbox", name="", text="",
        value=text,
    )  # fmt: skip


@dataclass
class FakeDesk:
    """A desk whose person does what a test says, once the clock runs."""

    says: Finish | None = DONE
    does: Callable[[Stopwatch], Any] = lambda _: None
    told: list[str] = field(default_factory=list)
    cards: list[Card] = field(default_factory=list)

    async def invite(self, card: Card) -> bool:
        return True

    async def play(self, card: Card, clock: Stopwatch) -> Finish:
        self.cards.append(card)
        if (doing := self.does(clock)) is not None:
            await doing
        if self.says is None:
            await forever()
        assert self.says is not None
        return self.says

    def tell(self, text: str) -> None:
        self.told.append(text)


async def play(
    world: FakeWorld, desk: FakeDesk, interrupted: asyncio.Event | None = None, **task: Any
) -> PlayedAttempt:
    world.is_shared = True
    agent = PersonAgent(person="P07", consent=CONSENT, desk=desk)
    runner = PersonRunner(agent=agent, interrupted=interrupted or asyncio.Event())
    async with asyncio.timeout(10):
        return await runner.play(episode(world, **task))


def session_of(world: FakeWorld) -> FakeSession:
    return world.sessions[-1]


async def test_an_answer_ends_the_episode_and_is_scored() -> None:
    played = await play(FakeWorld(), FakeDesk())
    evidence = played.evidence()
    assert (played.interrupted, evidence.ended, evidence.answer) == (False, Ended.STOPPED, "1891")
    assert [step.action for step in evidence.steps] == [None, Stop(answer="1891")]
    assert evidence.person is not None


async def test_the_person_is_told_the_intent_and_the_tasks_own_seconds() -> None:
    desk = FakeDesk()
    await play(FakeWorld(), desk, limits={"seconds": 77})
    (card,) = desk.cards
    assert (card.intent, card.limit_s) == ("Tell when the kettle was invented.", 77)


@pytest.mark.parametrize(
    ("said", "ended", "action"),
    [
        (
            Finish(status=Status.INFEASIBLE, because="why"),
            Ended.INFEASIBLE,
            Infeasible(reason="why"),
        ),
        (Finish(status=Status.GAVE_UP), Ended.AGENT_GAVE_UP, None),
        (Finish(), Ended.STOPPED, Stop()),
    ],
)
async def test_how_a_person_ends(said: Finish, ended: Ended, action: object) -> None:
    evidence = (await play(FakeWorld(), FakeDesk(says=said))).evidence()
    assert (evidence.ended, evidence.steps[-1].action) == (ended, action)


async def test_a_step_limit_does_not_hold_for_a_person() -> None:
    world = FakeWorld()

    def clicks(_: Stopwatch) -> None:
        for number in range(20):
            session_of(world).does(click(f"#a{number}"))

    played = await play(world, FakeDesk(does=clicks), limits={"steps": 3})
    assert sum(step.action == MouseClick(x=1, y=2) for step in played.evidence().steps) == 20


async def test_who_goes_on_before_a_page_has_settled_loses_nothing_of_the_step_before() -> None:
    world = FakeWorld()

    def two(_: Stopwatch) -> None:
        session_of(world).does(click(), KETTLE)
        session_of(world).does(click("#b"), f"{WIKI}/wiki/A/Other")

    played = await play(world, FakeDesk(does=two), checks=[ANSWER, NODE])
    first, second = played.evidence().steps[1:3]
    assert [one.logical for one in first.visits] == ["wiki:/article/Kettle"]
    assert (first.logical, second.logical) == ("wiki:/article/Kettle", "wiki:/article/Other")
    assert [one.path for one in (*first.acted, *second.acted)] == ["#a", "#b"]


async def test_a_text_that_is_typed_slowly_is_one_step_which_has_all_of_it() -> None:
    world = FakeWorld()

    async def types(clock: Stopwatch) -> None:
        for text in ("t", "ti", "tin"):
            session_of(world).does(typed(text))
            for _ in range(50):
                await asyncio.sleep(0)  # the page settles, and the step is written down

    steps = (await play(world, FakeDesk(does=types))).evidence().steps
    assert [step.action for step in steps[1:-1]] == [Write(text="tin")]
    assert [one.value for one in steps[1].acted] == ["tin"]


async def test_who_types_on_while_the_page_changes_its_address_types_one_text() -> None:
    world = FakeWorld()

    async def types(clock: Stopwatch) -> None:
        for text in ("t", "ti", "tin"):
            session_of(world).does(typed(text))
            for _ in range(50):
                await asyncio.sleep(0)
            session_of(world).goes(f"{WIKI}/?q={text}")
            for _ in range(50):
                await asyncio.sleep(0)

    steps = (await play(world, FakeDesk(does=types))).evidence().steps
    assert sum(step.action is not None for step in steps) == 2  # with the answer


async def test_an_action_ends_a_pause() -> None:
    world = FakeWorld()
    stands: list[bool] = []

    def pauses(clock: Stopwatch) -> None:
        clock.pause()
        stands.append(clock.is_paused)
        session_of(world).does(click())
        stands.append(clock.is_paused)

    evidence = (await play(world, FakeDesk(does=pauses))).evidence()
    assert stands == [True, False]
    assert evidence.person is not None
    assert evidence.person.pauses == 1


async def test_a_window_that_is_closed_is_no_failure_and_leaves_the_task_open() -> None:
    world, desk = FakeWorld(), FakeDesk(says=None)
    desk.does = lambda _: world.browser_gone.set()
    played = await play(world, desk)
    fault = played.evidence().fault
    assert played.interrupted
    assert fault is not None
    assert (fault.reason, fault.message) == (UnscoredReason.INFRA, LOST)
    assert desk.told


async def test_a_person_who_stops_is_in_the_middle_of_nothing_that_counts() -> None:
    stop = asyncio.Event()
    desk = FakeDesk(says=None, does=lambda _: stop.set())
    played = await play(FakeWorld(), desk, stop)
    assert (played.interrupted, played.evidence().ended) == (True, None)


async def test_time_that_is_up_is_scored_as_it_stands() -> None:
    desk = FakeDesk(says=None)
    evidence = (await play(FakeWorld(), desk, limits={"seconds": 0.05})).evidence()
    assert (evidence.ended, evidence.ended_because) == (Ended.DEADLINE, "0.05 s were over")
    assert desk.told == ["Time is up: the task is scored as it stands."]


async def test_a_page_that_crashes_under_a_person_is_nobodys_failure() -> None:
    world = FakeWorld()
    desk = FakeDesk(says=None, does=lambda _: world.broke("the page crashed"))
    played = await play(world, desk)
    assert not played.interrupted
    fault = played.evidence().fault
    assert fault is not None
    assert fault.reason is UnscoredReason.INFRA


async def test_a_browser_that_fails_while_a_step_is_written_is_no_failure_either() -> None:
    world = FakeWorld()

    def clicks(_: Stopwatch) -> None:
        world.script["settle"] = BrowserError("gone")
        session_of(world).does(click())

    evidence = (await play(world, FakeDesk(says=None, does=clicks))).evidence()
    assert evidence.fault is not None
    assert str(score((), evidence).outcome) == "unscored: infra"


async def test_a_world_that_does_not_open_asks_nobody() -> None:
    desk = FakeDesk()
    played = await play(FakeWorld(script={"open": SiteError("no wiki")}), desk)
    assert (desk.cards, played.evidence().person) == ([], None)


@pytest.mark.parametrize("person", ["", "Ada Lovelace", "a@b.c", "P" * 33, "P\n", "../x", "-p"])
def test_what_is_no_pseudonym_is_refused(person: str) -> None:
    with pytest.raises(UsageError, match="pseudonym"):
        PersonAgent(person=person, consent=CONSENT, desk=FakeDesk())
