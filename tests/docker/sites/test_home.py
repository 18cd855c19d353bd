"""The start page after `arena up`: it lists what runs, with addresses that work."""

from __future__ import annotations

import asyncio

import pytest
import requests
from quick_cases import SLOW
from support.sites.every_site import ATLAS, own_replica

from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.episode_info import write_episode_info
from orchestrator.sandbox.reset.replica import Replica

pytestmark = pytest.mark.docker


async def front_page(replica: Replica) -> str:
    url = f"http://{replica.endpoint}/"
    return (await asyncio.to_thread(requests.get, url, timeout=10)).text


async def test_the_start_page_lists_what_runs_and_who_can_log_in() -> None:
    async with (
        await Engine.connect() as engine,
        own_replica(engine, ATLAS.site("home")) as home,
        own_replica(engine, ATLAS.site("tools")) as tools,
    ):
        assert "nobody has told it any" in await front_page(home)
        await write_episode_info(engine, [home, tools])
        page = await front_page(home)
        assert f'<a href="http://{tools.endpoint}/">{tools.site.title}</a>' in page
        for role in tools.site.roles.values():
            assert role.username in page
            assert role.password in page


@SLOW
async def test_the_list_of_sites_is_no_part_of_the_page_in_an_episode() -> None:
    """The gateway's header says all: passwords that a person is shown stay out of it."""
    async with (
        await Engine.connect() as engine,
        own_replica(engine, ATLAS.site("home")) as home,
        own_replica(engine, ATLAS.site("tools")) as tools,
    ):
        await write_episode_info(engine, [home, tools])
        headers = {"X-Arena-Episode": "eyJzaXRlcyI6IFtdLCAiYWNjb3VudHMiOiBbXX0="}
        url = f"http://{home.endpoint}/"
        answer = await asyncio.to_thread(requests.get, url, headers=headers, timeout=10)
        assert "desk-emma-2026" not in answer.text
