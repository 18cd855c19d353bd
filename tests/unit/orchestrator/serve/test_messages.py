"""What a client may ask of an episode beside its task, and whether it gets it."""

from __future__ import annotations

import asyncio

from quick_cases import SLOW
from support.worlds.fake_world import FakeWorld
from support.worlds.worldless_service import Serving

from arena_core.errors import SiteGoneError

BRUGES = {"kind": "goto", "url": "http://wiki.arena.test/wiki/A/Bruges"}


async def test_an_episode_has_the_seed_limits_and_window_that_were_asked_for(
    serving: Serving,
) -> None:
    async with serving(slots=2) as service:
        asked = {"seed": 7, "limits": {"steps": 2, "seconds": 99}, "viewport": [800, 600]}
        created = (await service.create(key="a", **asked)).json()
        assert (created["max_steps"], created["max_seconds"]) == (2, 99)
        (session,) = service.arena.worlds[0].sessions
        assert session.options.viewport == (800, 600)
        await service.step(created["episode"], action=BRUGES)
        stepped = (await service.step(created["episode"], action=BRUGES)).json()
        assert (stepped["truncated"], stepped["result"]["ended"]) == (True, "step_limit")
        assert (await service.create(key="a", **asked)).json() == created
        assert (await service.create(key="a", **{**asked, "seed": 8})).status_code == 409
        plain = (await service.create()).json()
        assert (plain["max_steps"], plain["max_seconds"]) == (20, 180)
        assert service.arena.worlds[1].sessions[0].options.viewport == (1280, 720)


async def test_what_an_agent_says_that_it_spent_stands_in_the_evidence(serving: Serving) -> None:
    async with serving() as service:
        name = await service.begun()
        wrong = await service.finish(name, answer="47", usage={"input_tokens": -1})
        assert wrong.status_code == 422
        await service.finish(name, answer="47", usage={"input_tokens": 812, "usd": 0.5})
        evidence = service.served.host.find(name).session.evidence()
        assert (evidence.input_tokens, evidence.usd) == (812, 0.5)


async def test_an_episode_over_cdp_has_addresses_and_takes_actions_there_alone(
    serving: Serving,
) -> None:
    async with serving() as service:
        world = FakeWorld(is_shared=True)
        service.arena.prepared = [world]
        created = (await service.create(endpoints=["cdp"])).json()
        assert created["cdp_url"].startswith("http://127.0.0.1:")
        assert created["proxy_url"].startswith("http://127.0.0.1:")
        assert created["mcp_url"] is None
        state = await service.client.get(created["storage_state_url"])
        assert state.json() == {"cookies": [], "origins": []}
        name = created["episode"]
        refused = [
            await service.step(name, action=BRUGES),
            await service.step(name, action_str="goto('x')"),
            await service.step(name, action_str="no action"),
        ]
        assert [one.status_code for one in refused] == [422] * 3
        assert "played over CDP" in refused[0].json()["error"]
        assert (await service.client.post(f"/episodes/{name}/mcp", json={})).status_code == 404
        world.sessions[0].goes(str(BRUGES["url"]))
        ended = (await service.finish(name, answer="47")).json()
        assert ended["outcome"] == "success"
        assert await service.free() == 1
        assert (await service.client.get(created["storage_state_url"])).status_code == 409


async def test_an_episode_that_is_not_played_over_cdp_has_no_addresses_for_it(
    serving: Serving,
) -> None:
    async with serving() as service:
        created = (await service.create()).json()
        assert created["cdp_url"] is None
        assert created["storage_state_url"] is None
        assert created["mcp_url"].endswith("/mcp")
        state = await service.client.get(f"/episodes/{created['episode']}/storage_state")
        assert state.status_code == 422


async def test_a_world_that_breaks_under_a_client_of_cdp_frees_its_slot_at_once(
    serving: Serving,
) -> None:
    async with serving() as service:
        world = FakeWorld(is_shared=True)
        service.arena.prepared = [world]
        name = (await service.create(endpoints=["cdp"])).json()["episode"]
        world.script["settle"] = SiteGoneError("site 'wiki': its container is gone")
        world.sessions[0].goes(str(BRUGES["url"]))
        await service.until_free(1)
        ended = (await service.finish(name, answer="47")).json()
        assert (ended["outcome"], ended["reason"], ended["reward"]) == ("unscored", "infra", None)


@SLOW
async def test_a_heartbeat_keeps_an_episode_that_waits_for_less_than_the_service(
    serving: Serving,
) -> None:
    async with serving(idle_s=60) as service:
        created = (await service.create(idle_seconds=1)).json()
        assert created["idle_seconds"] == 1
        name = created["episode"]
        for _ in range(3):
            await asyncio.sleep(0.6)
            beat = (await service.client.post(f"/episodes/{name}/heartbeat")).json()
            assert beat["is_over"] is False
        await service.until_free(1)
        beat = (await service.client.post(f"/episodes/{name}/heartbeat")).json()
        assert beat["result"]["outcome"] == "unscored"
        assert "no request came for 1 s" in beat["result"]["because"]


@SLOW
async def test_the_openapi_document_names_what_may_be_asked(serving: Serving) -> None:
    async with serving() as service:
        described = (await service.client.get("/openapi.json")).json()
        create = described["components"]["schemas"]["CreateEpisode"]["properties"]
        assert set(create) == {
            "task",
            "world",
            "key",
            "observe",
            "agent",
            "seed",
            "state",
            "limits",
            "viewport",
            "endpoints",
            "idle_seconds",
        }
        answer = described["paths"]["/episodes"]["post"]["responses"]["201"]["content"]
        named = answer["application/json"]["schema"]["$ref"].rpartition("/")[2]
        answered = described["components"]["schemas"][named]["properties"]
        assert {"cdp_url", "mcp_url", "proxy_url", "storage_state_url"} <= set(answered)
