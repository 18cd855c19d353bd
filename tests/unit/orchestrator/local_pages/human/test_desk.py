"""The control page's server: who may talk to it, and what may be said when."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from aiohttp import ClientSession

from orchestrator.episode.external.episode import Finish, Status
from orchestrator.episode.person.agent import Card
from orchestrator.episode.person.stopwatch import Stopwatch
from orchestrator.local_pages.human.desk import ControlDesk, Phase, consent, consent_text
from orchestrator.local_pages.serving import HEADER

CARD = Card(task="kettle", intent="Tell <b>when</b>.", limit_s=180)


class Person:
    """Talks to the desk as the control page does."""

    def __init__(self, desk: ControlDesk, client: ClientSession) -> None:
        self.desk = desk
        self.client = client
        self.base, _, self.token = desk.url.partition("/#")

    async def says(self, kind: str, **more: object) -> int:
        return await self.sends(json.dumps({"kind": kind, "turn": self.desk.state["turn"], **more}))

    async def sends(self, body: str, headers: Mapping[str, str] | None = None) -> int:
        given = {HEADER: self.token} if headers is None else headers
        async with self.client.post(f"{self.base}/say", data=body, headers=given) as answer:
            return answer.status

    async def is_asked(self, phase: Phase) -> None:
        async with asyncio.timeout(5):
            while self.desk.state["phase"] != phase:  # noqa: ASYNC110  the desk tells pages alone
                await asyncio.sleep(0)


@pytest.fixture
async def person() -> AsyncIterator[Person]:
    async with ControlDesk.open(asyncio.Event()) as desk, ClientSession() as client:
        yield Person(desk, client)


async def starts(person: Person) -> asyncio.Task[Finish]:
    """Start a task, and return what tells how the person ends it."""
    inviting = asyncio.create_task(person.desk.invite(CARD))
    await person.is_asked(Phase.INVITED)
    assert await person.says("start") == 200
    assert await inviting
    clock = Stopwatch()
    clock.start()
    playing = asyncio.create_task(person.desk.play(CARD, clock))
    await person.is_asked(Phase.RUNNING)
    return playing


async def test_nothing_is_asked_before_the_text_was_agreed_to(person: Person) -> None:
    agreeing = asyncio.create_task(person.desk.agrees())
    await person.is_asked(Phase.CONSENT)
    assert person.desk.state["consent"] == consent_text()
    for kind in ("start", "done", "stop", "later"):
        assert await person.says(kind) == 409
    assert await person.says("refuse") == 200
    assert not await agreeing
    assert person.desk.state["consent"] is None


async def test_a_task_is_started_once(person: Person) -> None:
    inviting = asyncio.create_task(person.desk.invite(CARD))
    await person.is_asked(Phase.INVITED)
    found = sorted(await asyncio.gather(person.says("start"), person.says("start")))
    assert found == [200, 409]
    assert await inviting
    assert await person.says("start") == 409


async def test_nobody_is_done_who_did_not_start(person: Person) -> None:
    inviting = asyncio.create_task(person.desk.invite(CARD))
    await person.is_asked(Phase.INVITED)
    for kind in ("done", "cannot", "give_up", "pause", "go_on"):
        assert await person.says(kind, answer="47" if kind == "done" else "") == 409
    assert await person.says("start") == 200
    assert await inviting
    assert await person.says("done", answer="47") == 409  # the window opens, no clock runs yet


async def test_a_page_that_is_behind_says_nothing_of_the_next_task(person: Person) -> None:
    playing = await starts(person)
    late = json.dumps({"kind": "done", "turn": person.desk.state["turn"] - 1, "answer": "late"})
    assert await person.sends(late) == 409
    assert await person.says("done", answer=" 47 ") == 200
    assert await playing == Finish(answer="47")
    assert await person.says("done", answer="48") == 409


@pytest.mark.parametrize(
    ("kind", "more", "finish"),
    [
        ("done", {"answer": ""}, Finish()),
        ("done", {"answer": "a\x00b\x1b[31m\x9bc\r\nd"}, Finish(answer="ab[31mc\nd")),
        ("cannot", {"reason": " no stock "}, Finish(status=Status.INFEASIBLE, because="no stock")),
        ("give_up", {}, Finish(status=Status.GAVE_UP)),
    ],
)
async def test_what_a_person_ends_with(
    person: Person, kind: str, more: dict[str, object], finish: Finish
) -> None:
    playing = await starts(person)
    assert await person.says(kind, **more) == 200
    assert await playing == finish


async def test_what_is_too_long_or_no_message_is_refused_and_changes_nothing(
    person: Person,
) -> None:
    playing = await starts(person)
    turn = person.desk.state["turn"]
    assert await person.says("done", answer="x" * 10_001) == 400
    assert await person.says("done", answer="x" * 1_000_000) == 413
    assert await person.says("cannot", reason="x" * 2_001) == 400
    bad: list[Any] = ["", "[]", "{", "null", '{"kind": "done"}', '{"kind": "fly", "turn": 1}']
    bad += [json.dumps({"kind": "done", "turn": turn, "verdict": "success"})]
    bad += [json.dumps({"kind": "done", "turn": str(turn)}), "[" * 50_000]
    for body in bad:
        assert await person.sends(body) == 400
    assert not playing.done()
    playing.cancel()


async def test_the_clock_stands_in_a_pause_and_for_good_when_the_person_is_done(
    person: Person,
) -> None:
    inviting = asyncio.create_task(person.desk.invite(CARD))
    await person.is_asked(Phase.INVITED)
    await person.says("start")
    await inviting
    clock = Stopwatch()
    clock.start()
    playing = asyncio.create_task(person.desk.play(CARD, clock))
    await person.is_asked(Phase.RUNNING)
    await person.says("pause")
    assert person.desk.state["paused"]
    await person.says("go_on")
    assert not person.desk.state["paused"]
    await person.says("done", answer="47")
    counted = clock.seconds
    await playing
    assert clock.seconds == counted


async def test_later_and_stop_leave_a_task(person: Person) -> None:
    for kind in ("later", "stop"):
        inviting = asyncio.create_task(person.desk.invite(CARD))
        await person.is_asked(Phase.INVITED)
        assert not person.desk.was_stopped
        await person.says(kind)
        assert not await inviting
    assert person.desk.stop.is_set()
    assert person.desk.was_stopped


async def test_who_stops_in_a_task_has_not_answered_it(person: Person) -> None:
    playing = await starts(person)
    await person.says("stop")
    await asyncio.sleep(0)
    assert not playing.done()  # whoever plays it ends it, without an answer
    playing.cancel()


async def test_the_page_learns_of_what_changes(person: Person) -> None:
    url = f"{person.base}/events?token={person.token}"
    async with person.client.get(url) as answer:
        assert answer.content_type == "text/event-stream"
        first = json.loads((await answer.content.readuntil(b"\n\n"))[6:])
        assert first["phase"] == "waiting"
        inviting = asyncio.create_task(person.desk.invite(CARD))
        second = json.loads((await answer.content.readuntil(b"\n\n"))[6:])
        assert (second["intent"], second["limit_s"]) == ("Tell <b>when</b>.", 180)
        inviting.cancel()


def test_the_text_that_was_agreed_to_is_known_by_its_hash() -> None:
    """Whoever changes the text raises its version, and this test says so."""
    assert (consent().version, consent().sha256[:16]) == (1, "ca89c15c03081783")
    assert "password fields" in consent_text()
