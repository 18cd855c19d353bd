"""A question to the user by every way in: it is a step, and its answer comes with what is seen."""

from __future__ import annotations

import httpx2
import mcp
from mcp.client.streamable_http import streamable_http_client
from quick_cases import SLOW
from support.worlds.worldless_service import Serving

from arena_core.worlds import World
from orchestrator.agents.interface import Assignment
from orchestrator.browser.observation import Observation
from orchestrator.serve.mcp_tools import page_as_text, tools_for

NOBODY = "Nobody is there to answer."


async def test_http_takes_a_question_in_both_forms(serving: Serving) -> None:
    async with serving() as service:
        created = (await service.create()).json()
        assert created["can_ask"] is False
        name = created["episode"]
        asked = {"kind": "ask_user", "question": "Which one?"}
        for form in ({"action": asked}, {"action_str": "ask_user('Which one?')"}):
            stepped = (await service.step(name, **form)).json()
            assert (stepped["observation"]["reply"], stepped["error"]) == (NOBODY, None)
        needed = await service.finish(name, status="needs_input", reason="who knows which")
        assert needed.json()["outcome"] == "failure"


def test_mcp_offers_the_question_where_somebody_answers() -> None:
    for can_ask in (True, False):
        assignment = Assignment(
            task="t", intent="i", world=World.OFFLINE, sites={}, step_limit=5, can_ask=can_ask
        )
        assert ("ask_user" in tools_for(assignment)) is can_ask


def test_mcp_shows_the_answer_before_the_page() -> None:
    seen = Observation(step=1, url="http://a/", title="A", tabs=(), reply="It is 7.")
    assert page_as_text(seen).startswith("### The user's answer\nIt is 7.\n### Page")


@SLOW
async def test_mcp_answers_that_nobody_is_there(serving: Serving) -> None:
    async with serving() as service:
        created = (await service.create(observe=["axtree"])).json()
        headers = {"Authorization": service.client.headers["Authorization"]}
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            mcp.Client(streamable_http_client(created["mcp_url"], http_client=http)) as client,
        ):
            said = await client.call_tool("ask_user", {"question": "Which one?"})
            assert NOBODY in str(said.content)
            assert not said.is_error
