"""The HTTP service: what its answers say, and what it refuses."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import stat
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import httpx
import httpx2
import mcp
import pytest
from mcp.client.streamable_http import streamable_http_client
from quick_cases import ONE_QUICK, SLOW
from support.runs.played_episode import forever
from support.worlds.fake_world import FakeWorld, nothing
from support.worlds.worldless_service import Serving

from arena_core.errors import LeaseError, PortTakenError, SiteGoneError, UsageError
from orchestrator.serve.server import _bound, serve

BRUGES = {"kind": "goto", "url": "http://wiki.arena.test/wiki/A/Bruges"}


async def test_an_episode_is_played_and_scored(serving: Serving) -> None:
    async with serving() as service:
        created = (await service.create()).json()
        assert created["goal"].startswith("How many bells")
        assert created["goal_object"] == [{"type": "text", "text": created["goal"]}]
        assert created["max_steps"] == 20
        assert created["site_urls"] == {"wiki": "http://wiki.arena.test/"}
        assert created["observation"]["parts"]["axtree"].startswith("a page at")
        name = created["episode"]
        stepped = (await service.step(name, action=BRUGES)).json()
        assert stepped["observation"]["url"] == BRUGES["url"]
        assert (stepped["reward"], stepped["terminated"], stepped["truncated"]) == (0, False, False)
        ended = (await service.finish(name, answer="47")).json()
        assert (ended["outcome"], ended["reason"], ended["reward"]) == ("success", None, 1.0)
        assert ended["key_nodes"] == {"met": 1, "of": 1}
        assert (await service.finish(name, answer="48")).json() == ended
        assert service.arena.leases == ["given back"]
        assert await service.free() == 1
        assert (await service.step(name, action=BRUGES)).status_code == 409
        seen = (await service.client.get(f"/episodes/{name}")).json()
        assert seen["observation"]["url"] == BRUGES["url"]
        (listed,) = (await service.client.get("/episodes")).json()
        assert listed == {key: one for key, one in seen.items() if key != "observation"}


async def test_an_action_may_be_a_call_of_browsergyms_action_space(serving: Serving) -> None:
    async with serving() as service:
        name = await service.begun()
        stepped = (await service.step(name, action_str=f"goto('{BRUGES['url']}')")).json()
        assert (stepped["observation"]["url"], stepped["error"]) == (BRUGES["url"], None)
        stepped = (await service.step(name, action_str='send_msg_to_user("47")')).json()
        assert (stepped["reward"], stepped["terminated"]) == (1.0, True)


async def test_a_stop_among_the_steps_ends_and_scores_it_too(serving: Serving) -> None:
    async with serving() as service:
        name = await service.begun()
        stop = {"kind": "stop", "answer": "46"}
        stepped = (await service.step(name, action_str=json.dumps(stop))).json()
        assert (stepped["reward"], stepped["terminated"], stepped["truncated"]) == (0, True, False)
        assert stepped["result"]["outcome"] == "failure"
        assert await service.free() == 1
        ended = (await service.finish(name, answer="47")).json()
        assert ended["outcome"] == "failure"


async def test_no_answer_gives_away_what_a_check_expects(serving: Serving) -> None:
    """A client that fails on purpose would know the answer for its next episode."""
    async with serving() as service:
        suite = service.task.rpartition("/")[0]
        tasks = await service.client.get("/tasks", params={"suite": suite})
        assert [one["id"] for one in tasks.json()] == [f"{suite}/one", f"{suite}/two"]
        name = await service.begun()
        said = [tasks.text, (await service.finish(name, answer="12")).text]
        said.append((await service.client.get(f"/episodes/{name}")).text)
        for text in said:
            # The suite's path is the test's own, and may have any number in it.
            assert re.search(r"\b47\b", text.replace(suite, "")) is None
            assert "wiki:/article/Bruges" not in text
            assert "reference" not in text
            assert "family" not in text  # one of them says that the task cannot be done


async def test_what_the_agent_says_of_its_end_is_scored_as_it_stands(serving: Serving) -> None:
    async with serving() as service:
        name = await service.begun()
        refused = await service.finish(name, status="gave_up", answer="47")
        assert refused.status_code == 422
        ended = (await service.finish(name, status="gave_up", reason="too hard")).json()
        assert (ended["outcome"], ended["reward"]) == ("failure", 0.0)
        assert ended["ended"] == "agent_gave_up"
        name = await service.begun()
        ended = (await service.finish(name, status="infeasible", reason="no such page")).json()
        assert (ended["outcome"], ended["reward"]) == ("failure", 0.0)


async def test_the_same_key_is_the_same_episode_and_another_request_is_refused(
    serving: Serving,
) -> None:
    async with serving(slots=2) as service:
        both = await asyncio.gather(service.create(key="a"), service.create(key="a"))
        first, second = [one.json() for one in both]
        assert first == second
        assert await service.free() == 1
        assert (await service.create(key="a", world="online")).status_code == 409
        other = await service.create(key="b")
        assert other.json()["episode"] != first["episode"]
        await service.finish(first["episode"])
        assert (await service.create(key="a")).json() == first


async def test_who_asks_for_more_than_there_are_slots_is_told_to_wait(serving: Serving) -> None:
    async with serving() as service:
        name = await service.begun()
        full = await service.create()
        assert full.status_code == 429
        assert int(full.headers["Retry-After"]) > 0
        await service.client.delete(f"/episodes/{name}")
        assert (await service.create()).status_code == 201


async def test_what_cannot_begin_is_no_episode_and_takes_no_slot(serving: Serving) -> None:
    async with serving() as service:
        broken = SiteGoneError("site 'wiki': its container was removed")
        service.arena.prepared = [FakeWorld(script={"open": broken}), FakeWorld()]
        failed = await service.create(key="a")
        assert failed.status_code == 503
        result = failed.json()["result"]
        assert (result["outcome"], result["reason"], result["reward"]) == (
            "unscored",
            "infra",
            None,
        )
        assert "container was removed" in failed.json()["error"]
        assert (await service.client.get("/episodes")).json() == []
        assert await service.free() == 1
        assert (await service.create(key="a")).status_code == 201


async def test_a_lease_that_fails_is_no_failure_of_the_client(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no_lease(*_: object, **__: object) -> None:
        message = "no slot was ready within 900 s"
        raise LeaseError(message, hint="arena status")

    async with serving() as service:
        monkeypatch.setattr(service.arena._episodes, "begin", no_lease)
        failed = await service.create()
        assert failed.status_code == 503
        assert failed.json() == {"error": "no slot was ready within 900 s", "hint": "arena status"}
        assert await service.free() == 1


async def test_a_site_that_dies_is_unscored_and_never_a_zero(serving: Serving) -> None:
    async with serving() as service:
        world = FakeWorld()
        service.arena.prepared = [world]
        name = await service.begun()
        world.script["act"] = SiteGoneError("site 'wiki': its container is gone")
        stepped = (await service.step(name, action=BRUGES)).json()
        assert (stepped["reward"], stepped["terminated"]) == (None, True)
        result = stepped["result"]
        assert (result["outcome"], result["reason"], result["reward"]) == (
            "unscored",
            "infra",
            None,
        )
        ended = (await service.finish(name)).json()
        assert (ended["outcome"], ended["reward"]) == ("unscored", None)
        assert await service.free() == 1


async def test_one_that_is_given_back_in_the_middle_counts_for_nothing(serving: Serving) -> None:
    async with serving() as service:
        name = await service.begun()
        given = (await service.client.delete(f"/episodes/{name}")).json()
        assert (given["outcome"], given["reward"]) == ("unscored", None)
        assert given["because"] == "its client gave it back"
        assert service.arena.leases == ["given back"]
        assert (await service.client.delete(f"/episodes/{name}")).json() == given


async def test_an_idle_episode_is_taken_back(serving: Serving) -> None:
    async with serving(idle_s=0.3) as service:
        name = await service.begun()
        await service.until_free(1)
        state = (await service.client.get(f"/episodes/{name}")).json()
        assert state["result"]["outcome"] == "unscored"
        assert "no request came for 0.3 s" in state["result"]["because"]
        assert service.arena.leases == ["given back"]


async def test_a_step_that_takes_longer_than_the_idle_time_is_not_idle(serving: Serving) -> None:
    async with serving(idle_s=0.2) as service:
        world, may_end = FakeWorld(), asyncio.Event()
        world.script["act"] = may_end.wait
        service.arena.prepared = [world]
        name = await service.begun()
        stepping = asyncio.create_task(service.step(name, action=BRUGES))
        await world.acting.wait()
        await asyncio.sleep(0.5)
        may_end.set()
        assert (await stepping).json()["terminated"] is False


async def test_the_end_of_the_connection_that_holds_an_episode_takes_it_back_at_once(
    serving: Serving,
) -> None:
    async with serving() as service:
        name = await service.begun()
        events = f"/episodes/{name}/events"
        async with service.client.stream("GET", events) as following:
            await anext(following.aiter_lines())
        async with service.client.stream("GET", events, params={"hold": True}) as held:
            lines = held.aiter_lines()
            await anext(lines)
            await service.step(name, action=BRUGES)
            seen = [await anext(lines) for _ in range(3)]
            assert "event: step" in seen
            assert await service.free() == 0
        await service.until_free(1)
        state = (await service.client.get(f"/episodes/{name}")).json()
        assert "its client is gone" in state["result"]["because"]


async def test_a_second_request_for_an_episode_waits_for_nothing(serving: Serving) -> None:
    async with serving() as service:
        world = FakeWorld(script={"act": forever})
        service.arena.prepared = [world]
        name = await service.begun()
        stepping = asyncio.create_task(service.step(name, action=BRUGES))
        await world.acting.wait()
        assert (await service.step(name, action=BRUGES)).status_code == 409
        assert (await service.finish(name)).status_code == 409
        given = (await service.client.delete(f"/episodes/{name}")).json()
        assert given["outcome"] == "unscored"
        assert (await stepping).json()["result"]["outcome"] == "unscored"
        assert await service.free() == 1


async def test_an_action_that_cannot_be_read_does_nothing_and_uses_a_step_up(
    serving: Serving,
) -> None:
    async with serving() as service:
        name = await service.begun(task=service.task.replace("/one", "/two"))
        for _ in range(2):
            stepped = (await service.step(name, action_str="please click")).json()
            assert stepped["error"]
            assert stepped["truncated"] is False
        last = (await service.step(name, action_str="")).json()
        assert (last["truncated"], last["terminated"], last["reward"]) == (True, False, 0.0)
        assert last["result"]["steps"] == 3
        assert "act" not in " ".join(service.arena.worlds[0].log)


@ONE_QUICK
@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"action": BRUGES, "action_str": "x"},
        {"action": {"kind": "fly"}},
        {"action": {"kind": "goto", "url": "x", "force": True}},
        {"action": [1]},
        {"action_str": 5},
        {"nonsense": 1},
    ],
)
async def test_a_request_of_the_wrong_shape_is_one_line_and_changes_nothing(
    serving: Serving, asked: dict[str, object]
) -> None:
    async with serving() as service:
        name = await service.begun()
        refused = await service.step(name, **asked)
        assert refused.status_code == 422
        assert "\n" not in refused.json()["error"]
        assert (await service.finish(name)).json()["steps"] == 1


@ONE_QUICK
@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({"task": "demo/none-such"}, 404),
        ({"task": "nowhere/none-such"}, 404),
        ({"task": "no-suite"}, 422),
        ({"world": "mars"}, 422),
        ({"world": "online"}, 422),
        ({"observe": ["smell"]}, 404),
        ({"observes": ["axtree"]}, 422),
        ({"seed": -1}, 422),
        ({"limits": {"steps": 0}}, 422),
        ({"limits": {"seconds": 1e9}}, 422),
        ({"limits": {"tokens": 1}}, 422),
        ({"viewport": [1280]}, 422),
        ({"viewport": [10, 10]}, 422),
        ({"endpoints": ["telnet"]}, 422),
        ({"endpoints": ["cdp", "mcp"]}, 422),
        ({"idle_seconds": 0}, 422),
        ({"idle_seconds": 61}, 422),
    ],
)
async def test_an_episode_that_there_cannot_be_is_refused(
    serving: Serving, asked: dict[str, object], status: int
) -> None:
    async with serving() as service:
        refused = await service.create(**asked)
        assert refused.status_code == status, refused.text
        assert refused.json()["error"]
        assert await service.free() == 1


@ONE_QUICK
@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/nothing", 404), ("PUT", "/episodes", 405), ("GET", "/episodes/x/y", 404)],
)
async def test_an_unknown_route_is_an_error_like_every_other(
    serving: Serving, method: str, path: str, status: int
) -> None:
    async with serving() as service:
        answer = await service.client.request(method, path)
        assert answer.status_code == status
        assert answer.json()["error"].startswith(f"{method} {path}: ")
        assert "openapi.json" in answer.json()["hint"]


@SLOW
async def test_tools_that_look_show_what_was_seen_last_once_the_episode_is_over(
    serving: Serving,
) -> None:
    async with serving() as service:
        created = (await service.create(observe=["axtree"])).json()
        headers = {"Authorization": service.client.headers["Authorization"]}
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            mcp.Client(streamable_http_client(created["mcp_url"], http_client=http)) as client,
        ):
            await client.call_tool("browser_navigate", {"url": BRUGES["url"]})
            ended = await client.call_tool("submit_answer", {"answer": "47"})
            assert ended.structured_content is not None
            assert ended.structured_content["outcome"] == "success"
            for tool, asked in (("browser_snapshot", {}), ("browser_tabs", {"action": "list"})):
                seen = await client.call_tool(tool, asked)
                assert BRUGES["url"] in _text(seen)
            for tool, asked in (("browser_navigate_back", {}), ("submit_answer", {"answer": "1"})):
                refused = await client.call_tool(tool, asked)
                assert refused.is_error
                assert "the episode is over" in _text(refused)
                assert refused.structured_content == ended.structured_content


def _text(said: Any) -> str:
    return "".join(part.text for part in said.content)


@SLOW
async def test_who_does_not_know_the_token_or_is_a_web_page_is_refused(serving: Serving) -> None:
    async with serving() as service:
        url, token = service.served.url, service.served.token
        good = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(base_url=url) as stranger:

            async def status(**headers: str) -> int:
                return (await stranger.get("/health", headers=headers)).status_code

            assert await status() == 401
            assert await status(Authorization="Bearer wrong") == 401
            assert await status(**good) == 200
            assert await status(**good, Origin="http://evil.example") == 403
            assert await status(**good, Origin="null") == 403
            assert await status(**good, Host="evil.example") == 403
            assert await status(**good, Host="localhost:1") == 403
            long = {"task": "x" * 2**21}
            assert (await stranger.post("/episodes", json=long, headers=good)).status_code == 413

            body = iter([b"x" * 2**20, b"x" * 2**20])
            chunked = await stranger.post("/episodes", content=_each(body), headers=good)
            assert chunked.status_code in {400, 413}
        described = (await service.client.get("/openapi.json")).json()
        assert set(described["paths"]) >= {"/tasks", "/episodes", "/episodes/{name}/step"}


async def _each(parts: Iterable[bytes]) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def test_the_token_is_its_users_alone_and_gone_with_the_service(serving: Serving) -> None:
    async with serving() as service:
        path = service.served.token_file
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert path.read_text(encoding="ascii").strip() == service.served.token
    assert not path.exists()


async def test_the_end_of_the_service_gives_everything_back(serving: Serving) -> None:
    async with serving(slots=2) as service:
        stuck = FakeWorld(script={"act": forever, "open": nothing})
        service.arena.prepared = [stuck]
        name = await service.begun()
        await service.begun()
        stepping = asyncio.create_task(service.step(name, action=BRUGES))
        await stuck.acting.wait()
        arena = service.arena
    assert arena.leases == ["broke off", "given back"]
    await asyncio.gather(stepping, return_exceptions=True)


async def test_an_episode_that_is_being_begun_keeps_no_service_from_its_end(
    serving: Serving,
) -> None:
    opening = asyncio.Event()

    async def never() -> None:
        opening.set()
        await forever()

    async with asyncio.timeout(30), serving() as service:
        service.arena.prepared = [FakeWorld(script={"open": never})]
        creating = asyncio.create_task(service.create(key="a"))
        await opening.wait()
        arena = service.arena
    assert len(arena.leases) == 1
    await asyncio.gather(creating, return_exceptions=True)


def test_answers_are_sent_at_once_and_wait_for_no_acknowledgement() -> None:
    with _bound(0) as listener:
        assert listener.proto == socket.IPPROTO_TCP


async def test_a_port_in_use_is_one_clear_line(serving: Serving, tmp_path: Path) -> None:
    async with serving() as service:
        port = int(service.served.url.rpartition(":")[2])
        with pytest.raises(PortTakenError, match=f"--port {port}"):
            async with serve(service.arena, slots=1, port=port, token_path=tmp_path / "other"):
                pass


async def test_a_unix_socket_is_its_users_and_replaces_nothing_but_a_dead_one(
    serving: Serving, tmp_path: Path
) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as killed:
        killed.bind(str(path))  # and nobody listens
    async with serving(socket_path=path) as service:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        through = httpx.AsyncHTTPTransport(uds=str(path))
        async with httpx.AsyncClient(base_url="http://localhost", transport=through) as client:
            assert (await client.get("/health")).status_code == 401
            known = {"Authorization": f"Bearer {service.served.token}"}
            assert (await client.get("/health", headers=known)).json()["free"] == 1
            foreign = await client.get("/health", headers={**known, "Host": "evil.example"})
            assert foreign.status_code == 403
        with pytest.raises(UsageError, match="in use"):
            async with serving(socket_path=path):
                pass
        assert path.is_socket()
    assert not path.exists()
    path.write_text("mine")
    with pytest.raises(UsageError, match="--socket"):
        async with serving(socket_path=path):
            pass
    assert path.read_text() == "mine"
