"""What clients get that are broken, hostile or gone: the rows of the table in serving's README."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

import httpx2
import mcp
import pytest
from mcp.client.streamable_http import streamable_http_client
from quick_cases import ONE_QUICK, SLOW
from support.runs.played_episode import forever
from support.worlds.fake_world import FakeWorld
from support.worlds.worldless_service import Service, Serving

BRUGES = {"kind": "goto", "url": "http://wiki.arena.test/wiki/A/Bruges"}
SURROGATE = r'"\ud800"'


@ONE_QUICK
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[" * 200_000,
        b"[" * 200_000 + b"]" * 200_000,
        b"null",
        b"[]",
        b'"text"',
        b"1" * 100_000,
        b'{"task": NaN}',
        b'{"task": ' + SURROGATE.encode() + b"}",
        b'{"task": "demo/x", "key": ' + SURROGATE.encode() + b"}",
        b'{"task": "demo/../../etc/passwd"}',
        b'{"task": "../x/y"}',
        b'{"task": "demo/wiki\\u0000"}',
    ],
    ids=lambda body: repr(body[:30]),
)
async def test_a_body_that_is_none_is_one_line_and_no_bug(serving: Serving, body: bytes) -> None:
    async with serving() as service:
        refused = await service.client.post("/episodes", content=body)
        assert refused.status_code in {404, 422}, refused.text
        assert "\n" not in refused.json()["error"]
        assert len(refused.text) < 2000
        assert await service.free() == 1


@ONE_QUICK
@pytest.mark.parametrize(
    "said",
    [
        '{"kind": "click", "element": 1e999}',
        '{"kind": "mouse_click", "x": NaN, "y": 1}',
        '{"kind": "stop", "answer": ' + SURROGATE + "}",
        "[" * 50_000,
        "click(" * 5_000,
        "\x00",
        "__import__('os').system('true')",
    ],
    ids=lambda said: repr(said[:30]),
)
async def test_an_action_that_is_none_does_nothing(serving: Serving, said: str) -> None:
    async with serving() as service:
        name = await service.begun()
        answer = await service.step(name, action_str=said)
        assert answer.status_code == 200, answer.text
        if "stop" not in said:
            assert answer.json()["error"]
        assert "act" not in " ".join(service.arena.worlds[0].log)


DEEP = "[" * 900 + "]" * 900


@ONE_QUICK
@pytest.mark.parametrize(
    "body",
    [
        f'{{"data": {DEEP}}}',
        f'{{"answer": {SURROGATE}}}',
        f'{{"status": "infeasible", "reason": {SURROGATE}}}',
        '{"data": NaN}',
        f'{{"data": {10**400}}}',
        f'{{"answer": "47", "usage": {{"input_tokens": {10**400}}}}}',
        '{"answer": "47", "usage": {"usd": 1e308}}',
        '{"answer": "47", "usage": {"input_tokens": "\\ud800"}}',
    ],
    ids=lambda body: repr(body[:30]),
)
async def test_an_ending_that_cannot_be_kept_is_refused_and_the_next_one_counts(
    serving: Serving, body: str
) -> None:
    async with serving() as service:
        name = await service.begun()
        refused = await service.client.post(f"/episodes/{name}/finish", content=body)
        assert refused.status_code == 422, refused.text
        assert len(refused.text) < 2000
        assert (await service.finish(name, answer="47")).json()["outcome"] == "success"


async def test_half_a_code_point_on_a_page_is_shown_as_a_replaced_letter(serving: Serving) -> None:
    async with serving() as service:
        service.arena.prepared = [FakeWorld(title="half \ud83d")]
        answer = await service.create()
        assert answer.json()["observation"]["title"] == "half \ufffd"


async def test_an_episode_that_there_is_not_is_said_so_by_every_request(serving: Serving) -> None:
    async with serving() as service:
        for method, path in (
            ("GET", ""),
            ("DELETE", ""),
            ("POST", "/step"),
            ("POST", "/finish"),
            ("POST", "/heartbeat"),
            ("GET", "/events"),
            ("GET", "/storage_state"),
            ("POST", "/mcp"),
        ):
            body = {"action": BRUGES} if path == "/step" else {}
            asked = service.client.build_request(method, f"/episodes/nosuch{path}", json=body)
            answer = await service.client.send(asked)
            assert answer.status_code == 404, path
            assert "no episode 'nosuch'" in answer.json()["error"]


@SLOW
async def test_a_flood_of_creations_takes_the_slots_there_are_and_no_more(
    serving: Serving,
) -> None:
    async with serving(slots=2) as service:
        answers = await asyncio.gather(*(service.create() for _ in range(40)))
        codes = [one.status_code for one in answers]
        assert (codes.count(201), codes.count(429)) == (2, 38)
        for one in answers:
            if one.status_code == 201:
                await service.client.delete(f"/episodes/{one.json()['episode']}")
        assert await service.free() == 2
        assert service.arena.leases == ["given back", "given back"]


async def test_a_flood_of_steps_for_one_episode_is_done_one_at_a_time(serving: Serving) -> None:
    async with serving() as service:
        name = await service.begun()
        answers = await asyncio.gather(*(service.step(name, action=BRUGES) for _ in range(20)))
        codes = [one.status_code for one in answers]
        done = codes.count(200)
        assert done >= 1
        assert done + codes.count(409) == 20
        ended = (await service.finish(name, answer="47")).json()
        assert ended["steps"] == done + 1  # and the stop


@SLOW
async def test_a_client_that_leaves_while_its_episode_is_begun_loses_it(serving: Serving) -> None:
    async with serving(idle_s=1) as service:
        opening, may_open = asyncio.Event(), asyncio.Event()

        async def opens() -> None:
            opening.set()
            await may_open.wait()

        service.arena.prepared = [FakeWorld(script={"open": opens})]
        creating = asyncio.create_task(service.create())
        await opening.wait()
        creating.cancel()
        await asyncio.gather(creating, return_exceptions=True)
        may_open.set()
        await service.until_free(1)
        assert service.arena.leases == ["given back"]


@SLOW
async def test_a_client_that_sends_half_a_request_holds_up_nobody(serving: Serving) -> None:
    async with serving() as service:
        writers = []
        for _ in range(30):
            port = urlsplit(service.served.url).port
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            head = f"POST /episodes HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 900\r\n"
            token = f"Authorization: Bearer {service.served.token}\r\n\r\n"
            writer.write((head + token + '{"task"').encode())
            await writer.drain()
            writers.append(writer)
        assert await service.free() == 1
        name = await service.begun()
        assert (await service.step(name, action=BRUGES)).status_code == 200
        for writer in writers:
            writer.close()


async def test_a_client_that_goes_in_the_middle_of_a_step_leaves_the_step_to_its_end(
    serving: Serving,
) -> None:
    """One whose connection broke may ask how the episode stands, and go on."""
    async with serving() as service:
        world, may_end = FakeWorld(), asyncio.Event()
        world.script["act"] = may_end.wait
        service.arena.prepared = [world]
        name = await service.begun()
        stepping = asyncio.create_task(service.step(name, action=BRUGES))
        await world.acting.wait()
        stepping.cancel()
        await asyncio.gather(stepping, return_exceptions=True)
        may_end.set()
        async with asyncio.timeout(10):
            while await _seen(service, name) != BRUGES["url"]:  # noqa: ASYNC110  it can only ask
                await asyncio.sleep(0.02)
        ended = (await service.finish(name, answer="47")).json()
        assert ended["outcome"] == "success"


@SLOW
async def test_two_mcp_clients_of_one_episode_act_one_at_a_time(serving: Serving) -> None:
    async with serving() as service:
        world = FakeWorld(script={"act": forever})
        service.arena.prepared = [world]
        name = await service.begun()
        url = f"{service.served.url}/episodes/{name}/mcp"
        headers = {"Authorization": f"Bearer {service.served.token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
            one = mcp.Client(streamable_http_client(url, http_client=http))
            two = mcp.Client(streamable_http_client(url, http_client=http))
            async with one, two:
                going = asyncio.create_task(one.call_tool("browser_navigate", {"url": "x"}))
                await world.acting.wait()
                refused = await two.call_tool("browser_navigate", {"url": "y"})
                assert refused.is_error
                assert "under way" in refused.model_dump_json()
                await service.client.delete(f"/episodes/{name}")
                await going


@SLOW
async def test_a_flood_of_mcp_sessions_is_refused(serving: Serving) -> None:
    async with serving() as service:
        name = await service.begun()
        asked = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "flood", "version": "0"},
            },
        }
        headers = {"Accept": "application/json, text/event-stream"}
        codes = []
        for _ in range(20):
            answer = await service.client.post(f"/episodes/{name}/mcp", json=asked, headers=headers)
            codes.append(answer.status_code)
        assert codes == [200] * 16 + [503] * 4


async def _seen(service: Service, name: str) -> str:
    state = (await service.client.get(f"/episodes/{name}")).json()
    url: str = state["observation"]["url"]
    return url
