from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from support.sites.supervisor_server import READY, Answer, Question, SupervisorServer, supervisor

from arena_core.errors import ImageError, SiteError, SiteGoneError
from orchestrator.sandbox.engine.containers import Endpoint
from orchestrator.sandbox.reset import supervision as module
from orchestrator.sandbox.reset.state import FileState
from orchestrator.sandbox.reset.supervision import Supervision


@asynccontextmanager
async def supervised(
    answer: Answer | None = None,
) -> AsyncIterator[tuple[SupervisorServer, Supervision]]:
    async with supervisor(answer) as server:
        opened = await Supervision.open(server.endpoint)
        try:
            yield server, opened
        finally:
            await opened.close()


async def test_it_knows_the_generation_as_soon_as_it_is_open() -> None:
    async with supervised() as (_, opened):
        assert (opened.generation, opened.is_ready, opened.is_lost) == (1, True, False)


async def test_it_opens_when_the_first_start_is_done_and_not_before() -> None:
    starting = {**READY, "generation": 0, "state": "rewinding"}
    async with supervisor(first=starting) as server:
        opening = asyncio.create_task(Supervision.open(server.endpoint))
        await server.called.wait()
        assert not opening.done()
        server.tell(1)
        opened = await opening
        assert opened.generation == 1
        await opened.close()


async def test_a_new_generation_wakes_who_waits_for_it_and_only_a_ready_one() -> None:
    async with supervised() as (server, opened):
        waiting = asyncio.create_task(opened.generation_after(1, 5))
        server.tell(1, "rewinding")
        await opened.stamp()  # everything told so far was heard
        assert not waiting.done()
        assert not opened.is_ready
        server.tell(2)
        assert await waiting == 2


async def test_a_generation_that_is_there_already_is_not_waited_for() -> None:
    async with supervised() as (_, opened):
        assert await opened.generation_after(0, 0.001) == 1


async def test_a_supervisor_that_stays_silent_is_waited_for_until_the_deadline() -> None:
    async with supervised() as (_, opened):
        with pytest.raises(SiteError, match=r"no generation after 1 within 0\.01 s: it is at 1"):
            await opened.generation_after(1, 0.01)


async def test_services_that_do_not_end_are_waited_for_until_the_deadline() -> None:
    async with supervised(lambda question: {"ask": question["ask"]}) as (server, opened):
        with pytest.raises(SiteError, match=r"did not end the services within 0\.01 s"):
            await opened.close_services(0.01)
        closing = asyncio.create_task(opened.close_services(5))
        server.tell(1, "closing")
        server.tell(1, "closed")
        await closing
        assert not opened.is_ready


async def test_answers_belong_to_their_questions_in_order() -> None:
    numbers = iter(range(100))

    def answer(question: Question) -> object:
        return {"ask": question["ask"], "stamp": str(next(numbers))}

    async with supervised(answer) as (_, opened):
        stamps = await asyncio.gather(*(opened.stamp() for _ in range(20)))
        assert stamps == [str(number) for number in range(20)]


async def test_the_answer_to_a_question_that_was_given_up_goes_to_nobody() -> None:
    answers = iter([None, {"ask": "stamp", "stamp": "late"}, {"ask": "stamp", "stamp": "new"}])

    async with supervised(lambda _: next(answers)) as (server, opened):
        first = asyncio.create_task(opened.stamp())
        await asyncio.sleep(0)
        first.cancel()
        second = asyncio.create_task(opened.stamp())
        await asyncio.sleep(0.01)
        server.say(server.lines[0], {"ask": "stamp", "stamp": "newest"})
        assert await second == "newest"


async def test_an_answer_that_never_comes_is_an_error_after_its_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_STAMP_S", 0.01)
    async with supervised(lambda _: None) as (_, opened):
        with pytest.raises(SiteError, match=r"does not answer `stamp` within 0\.01 s"):
            await opened.stamp()


async def test_files_are_entries_of_the_tree_in_order_of_their_paths() -> None:
    entry = {"kind": "f", "mode": "644", "owner": "1:1", "content": "aa"}

    def answer(question: Question) -> object:
        assert question == {"ask": "files", "folders": ["/f/media"]}
        return {"ask": "files", "files": [{"path": "/f/b", **entry}, {"path": "/f/a", **entry}]}

    async with supervised(answer) as (_, opened):
        found = await opened.files(("/f/media",))
        assert [one.path for one in found] == ["/f/a", "/f/b"]
        assert found[0] == FileState(path="/f/a", kind="f", mode="644", owner="1:1", content="aa")


async def test_a_tree_of_many_thousand_files_is_one_long_line() -> None:
    entry = {"kind": "f", "mode": "644", "owner": "1:1", "content": "a" * 64}
    many = [{"path": f"/f/{number:06}", **entry} for number in range(20_000)]
    async with supervised(lambda _: {"ask": "files", "files": many}) as (_, opened):
        assert len(await opened.files(("/f",))) == 20_000


async def test_a_question_that_cannot_be_answered_says_why() -> None:
    refused = {"ask": "files", "error": "Permission denied: /f"}
    async with supervised(lambda _: refused) as (_, opened):
        with pytest.raises(SiteError, match="cannot answer `files`: Permission denied: /f"):
            await opened.files(("/f",))


async def test_the_end_of_the_connection_reaches_whoever_waits_at_once() -> None:
    async with supervised(lambda _: None) as (server, opened):
        waiting = [
            asyncio.create_task(opened.generation_after(1, 60)),
            asyncio.create_task(opened.stamp()),
        ]
        await asyncio.sleep(0.01)
        server.hang_up()
        for task in waiting:
            with pytest.raises(SiteGoneError, match="closed the connection"):
                await asyncio.wait_for(task, 5)
        assert opened.is_lost
        with pytest.raises(SiteGoneError):
            await opened.stamp()


async def test_noise_on_the_line_ends_the_connection_with_a_clear_word() -> None:
    async with supervised(lambda _: "noise") as (_, opened):
        with pytest.raises(SiteGoneError, match="says what cannot be read"):
            await opened.stamp()


async def test_nothing_that_listens_is_a_replica_that_is_gone() -> None:
    async with supervisor() as server:
        endpoint = server.endpoint
    with pytest.raises(SiteGoneError, match=f"{endpoint} cannot be reached"):
        await Supervision.open(Endpoint(endpoint.host, endpoint.port))


async def test_a_port_that_hangs_up_at_once_is_a_replica_that_is_gone() -> None:
    async with supervisor(first=None) as server:
        opening = asyncio.create_task(Supervision.open(server.endpoint))
        await server.called.wait()
        server.hang_up()
        with pytest.raises(SiteGoneError, match="closed the connection"):
            await asyncio.wait_for(opening, 5)


async def test_a_supervisor_of_another_folder_than_the_manifests_is_refused() -> None:
    async with supervisor() as server:
        with pytest.raises(ImageError, match="restores /f; the manifest says /srv/elsewhere"):
            await Supervision.open(server.endpoint, "/srv/elsewhere")


async def test_a_question_that_it_does_not_know_says_which_command_builds_a_newer_one() -> None:
    async with supervised(lambda question: {**question, "error": "no such question"}) as (_, old):
        with pytest.raises(ImageError, match="knows no question `scratch`") as caught:
            await old.scratch()
        assert caught.value.hint == "arena build"
