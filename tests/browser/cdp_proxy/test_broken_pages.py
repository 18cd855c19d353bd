"""A page that the agent breaks is its own doing; one that somebody ends from outside is not."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import TYPE_CHECKING

import pytest
from support.agents.cdp_endpoint import HOST, Client, Endpoint

from arena_core.errors import BrowserError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

pytestmark = pytest.mark.browser

PAGE = "<title>Page</title><p>here"
EATS_MEMORY = "const eaten = []; for (;;) eaten.push(new Array(3e7).fill(1.1))"


async def _run(client: Client, session: str, script: str) -> asyncio.Task[object]:
    """Start a script that never answers."""
    running = asyncio.create_task(client.evaluate(script, session))
    await asyncio.sleep(0)
    return running


async def _nothing_is_read(endpoint: Endpoint) -> None:
    """The page shows nothing from then on; everything else of the browser answers."""
    session = endpoint.session
    asked: tuple[Callable[[], Awaitable[object]], ...] = (
        session.title,
        session.screenshot,
        lambda: session.read_own("p"),
        session.cookies,
    )
    async with asyncio.timeout(20):  # a page that hangs is waited for half a minute
        assert not await session.settle(1)
        assert [await ask() for ask in asked] == ["", None, (), ()]
        assert session.url == f"{HOST}/"
        assert await session.read_fresh(f"{HOST}/", "p") == ("here",)


async def test_a_page_whose_script_eats_all_memory_is_the_agents_doing(endpoint: Endpoint) -> None:
    await endpoint.open(PAGE)
    async with endpoint.client() as client:
        session = await client.attach()
        eating = await _run(client, session, EATS_MEMORY)
        async with asyncio.timeout(120):
            while not endpoint.clock.broken:  # noqa: ASYNC110  the clock tells nobody
                await asyncio.sleep(0.05)
        await endpoint.settled()
        assert endpoint.clock.broken == ["the page of tab 0 crashed (crashed, SIGTRAP)"]
        await _nothing_is_read(endpoint)
        eating.cancel()


@pytest.mark.slow(minutes=2)  # half a minute passes before a page that is silent counts as hanging
async def test_a_page_whose_script_never_ends_is_the_agents_doing(endpoint: Endpoint) -> None:
    await endpoint.open(PAGE)
    async with endpoint.client() as client:
        hanging = await _run(client, await client.attach(), "for (;;);")
        await endpoint.settled()
        assert await endpoint.session.title() == ""
        (why,) = endpoint.clock.broken
        assert why.startswith("the page of tab 0 hangs: the browser did not answer")
        await _nothing_is_read(endpoint)
        hanging.cancel()


async def test_a_page_whose_process_somebody_kills_is_no_fault_of_the_agents(
    endpoint: Endpoint,
) -> None:
    await endpoint.open(PAGE)
    async with endpoint.client() as client:
        session = await client.attach()
        await client.send("Inspector.enable", session)
        os.kill(await _renderer(endpoint), signal.SIGKILL)
        await client.event("Inspector.targetCrashed")
        with pytest.raises(BrowserError, match=r"the page of tab 0 was ended \(killed, SIGKILL\)"):
            await endpoint.settled()
        assert endpoint.clock.broken == []


async def _renderer(endpoint: Endpoint) -> int:
    """Return the process of the one page."""
    context = endpoint.session._contexts[""]
    assert context.browser is not None
    asking = await context.browser.new_browser_cdp_session()
    processes = (await asking.send("SystemInfo.getProcessInfo"))["processInfo"]
    (found,) = [one["id"] for one in processes if one["type"] == "renderer"]
    return int(found)
