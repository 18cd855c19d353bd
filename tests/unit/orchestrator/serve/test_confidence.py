"""How sure an agent says that it is: taken by every way to end an episode, and never scored."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import mcp
import pytest
from mcp.client.streamable_http import streamable_http_client
from quick_cases import ONE_QUICK, SLOW
from support.worlds.fake_world import FakeWorld
from support.worlds.worldless_service import Serving

from evaluators.responses import confidence_of

WRONG: list[Any] = [1.5, -0.1, "0.8", True]


def _stated(service: Any, name: str) -> float | None:
    evidence = service.served.host.find(name).session.evidence()
    return confidence_of(evidence)


@ONE_QUICK
@pytest.mark.parametrize(
    "ending",
    [
        {"answer": "47"},
        {"data": 47},
        {"status": "infeasible", "reason": "no such page"},
        {"status": "not_found", "reason": "no such page"},
    ],
)
async def test_it_goes_with_every_ending_and_changes_no_score(
    serving: Serving, ending: dict[str, Any]
) -> None:
    async with serving(slots=2) as service:
        plain, sure = await service.begun(), await service.begun()
        without = (await service.finish(plain, **ending)).json()
        scored = (await service.finish(sure, confidence=0.25, **ending)).json()
        for field in ("outcome", "reward", "ended", "key_nodes"):
            assert scored[field] == without[field], field
        assert (_stated(service, plain), _stated(service, sure)) == (None, 0.25)


@ONE_QUICK
@pytest.mark.parametrize("wrong", WRONG)
async def test_what_is_none_is_refused_and_the_episode_goes_on(
    serving: Serving, wrong: object
) -> None:
    async with serving() as service:
        name = await service.begun()
        stop = {"kind": "stop", "answer": "47", "confidence": wrong}
        assert (await service.finish(name, answer="47", confidence=wrong)).status_code == 422
        assert (await service.step(name, action=stop)).status_code == 422
        misread = (await service.step(name, action_str=json.dumps(stop))).json()
        assert "confidence" in misread["error"]
        assert not misread["terminated"]
        assert (await service.finish(name, answer="47")).json()["outcome"] == "success"
        assert _stated(service, name) is None


async def test_who_gave_up_states_none(serving: Serving) -> None:
    async with serving() as service:
        name = await service.begun()
        refused = await service.finish(name, status="gave_up", confidence=0.1)
        assert refused.status_code == 422
        assert "gave_up" in refused.json()["error"]
        assert (await service.finish(name, status="gave_up")).json()["ended"] == "agent_gave_up"


async def test_a_stop_among_the_steps_may_hold_it(serving: Serving) -> None:
    async with serving(slots=2) as service:
        stop = {"kind": "stop", "answer": "47", "confidence": 0.75}
        for asked in ({"action": stop}, {"action_str": json.dumps(stop)}):
            name = await service.begun()
            stepped = (await service.step(name, **asked)).json()
            assert stepped["result"]["outcome"] == "success"
            assert _stated(service, name) == 0.75


@SLOW
async def test_mcps_answer_may_hold_it(serving: Serving) -> None:
    async with serving() as service:
        created = (await service.create(observe=["axtree"])).json()
        headers = {"Authorization": service.client.headers["Authorization"]}
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            mcp.Client(streamable_http_client(created["mcp_url"], http_client=http)) as client,
        ):
            for wrong in WRONG:
                asked = {"answer": "47", "confidence": wrong}
                assert (await client.call_tool("submit_answer", asked)).is_error
            ended = await client.call_tool("submit_answer", {"answer": "47", "confidence": 1})
            assert ended.structured_content is not None
            assert ended.structured_content["outcome"] == "success"
        assert _stated(service, created["episode"]) == 1.0


async def test_an_episode_over_cdp_takes_it_too(serving: Serving) -> None:
    async with serving() as service:
        service.arena.prepared = [FakeWorld(is_shared=True)]
        name = (await service.create(endpoints=["cdp"])).json()["episode"]
        refused = await service.finish(name, status="gave_up", confidence=0.1)
        assert refused.status_code == 422
        ended = (await service.finish(name, answer="47", confidence=0.5)).json()
        assert ended["outcome"] == "success", ended
        assert _stated(service, name) == 0.5
