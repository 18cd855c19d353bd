"""`arena serve` with `"endpoints": ["cdp"]`: a client of CDP plays, HTTP begins and ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page, async_playwright
from support.tasks.small_suites import BRUGES

from orchestrator import Arena
from orchestrator.serve.server import serve

pytestmark = [pytest.mark.docker, pytest.mark.browser]

BELLS = "demo/wiki-bells-of-bruges"
IDLE_S = 6.0


@asynccontextmanager
async def service(folder: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with (
        Arena() as arena,
        serve(
            arena,
            slots=1,
            port=0,
            idle_s=60,
            out=folder / "out",
            token_path=folder / "token",
        ) as served,
        httpx.AsyncClient(
            base_url=served.url,
            headers={"Authorization": f"Bearer {served.token}"},
            timeout=120,
        ) as http,
    ):
        yield http


async def begun(http: httpx.AsyncClient, **asked: Any) -> dict[str, Any]:
    answer = await http.post("/episodes", json={"task": BELLS, "endpoints": ["cdp"], **asked})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


@asynccontextmanager
async def page_at(cdp_url: str) -> AsyncIterator[Page]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(cdp_url)
        yield browser.contexts[0].pages[0]
        await browser.close()


async def go_on(page: Page) -> None:
    for _ in range(3):
        await page.goto(BRUGES)


async def test_a_client_of_cdp_plays_what_http_begins_and_ends(tmp_path: Path) -> None:
    async with service(tmp_path) as http:
        created = await begun(http, viewport=[800, 600], idle_seconds=IDLE_S)
        name = created["episode"]
        async with page_at(created["cdp_url"]) as page:
            size = await page.evaluate("[innerWidth, innerHeight, devicePixelRatio]")
            assert size == [800, 600, 1]
            for _ in range(5):  # longer than the idle time, without one request over HTTP
                await page.goto(BRUGES)
                await asyncio.sleep(IDLE_S / 4)
            ended = (await http.post(f"/episodes/{name}/finish", json={"answer": "47"})).json()
        assert (ended["outcome"], ended["reward"]) == ("success", 1.0)
        lock = Arena().runs.read_lock(tmp_path / "out" / name)
        assert lock.agent.options == {"viewport": "800x600"}

        limited = await begun(http, limits={"steps": 1})
        async with page_at(limited["cdp_url"]) as page:
            await page.goto(BRUGES)
            with pytest.raises(PlaywrightError):
                await go_on(page)
            async with asyncio.timeout(60):
                while (await http.get("/health")).json()["free"] == 0:  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
        ended = (await http.get(f"/episodes/{limited['episode']}")).json()["result"]
        assert (ended["ended"], ended["truncated"]) == ("step_limit", True)
