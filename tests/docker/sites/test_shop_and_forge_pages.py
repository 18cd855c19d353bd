"""What a person or an agent meets on pages of shop and forge, in a browser."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import pytest
from playwright.async_api import Page, async_playwright

from orchestrator.gateway.policy import Policy, Route, SocketAddress
from orchestrator.gateway.server import Gateway
from orchestrator.sandbox.check_queries import ask
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.logins import login, replica_client, role_of
from orchestrator.sandbox.pool.slot_pool import SlotPool
from orchestrator.sandbox.reset.replica import Replica
from sites.registry import load_registry

pytestmark = [pytest.mark.docker, pytest.mark.browser, pytest.mark.slow(minutes=1)]

NARROW: Final = {"width": 390, "height": 844}
# Those of Redmine's own chart of all projects are some 2,000 beside what Rails remembers.
MOST_QUERIES: Final = 600
CODE: Final = "SELECT id FROM repositories WHERE url LIKE '%/kettle-firmware.git'"


@asynccontextmanager
async def page_on(site_name: str, role: str) -> AsyncIterator[tuple[Replica, Page]]:
    """Open a page on a replica of its own, logged in, with a phone's width."""
    async with (
        await Engine.connect() as engine,
        SlotPool.open(
            engine, load_registry(), [site_name], f"pages-{site_name}", spares=0
        ) as slot_pool,
        slot_pool.lease([site_name]) as slot,
    ):
        replica = slot.replicas[site_name]
        site, client = replica.site, replica_client(replica.site, replica.endpoint)
        cookies = await login(site, role, role_of(site, role), client)
        upstream = SocketAddress(replica.endpoint.host, replica.endpoint.port)
        route = Route(site=site.name, live=False, host=site.host, port=80, connect_to=upstream)
        async with Gateway.open(Policy((route,))) as gateway, async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
            )
            context = await browser.new_context(
                proxy={"server": gateway.url},
                viewport=NARROW,  # type: ignore[arg-type]
                base_url=f"http://{site.host}",
            )
            for one in cookies:
                await context.add_cookies(
                    [{"name": one.name, "value": one.value, "domain": one.domain, "path": one.path}]
                )
            yield replica, await context.new_page()
            await browser.close()


async def test_people_of_the_forge_follow_each_other_and_say_how_they_are() -> None:
    async with page_on("forge", "developer") as (_, page):
        await page.goto("/users/5")
        followers = page.get_by_role("heading", name="Followers").locator("+ p")
        assert "Tom Ashworth" not in await followers.inner_text()
        await page.get_by_role("link", name="Follow", exact=True).click()
        await page.get_by_role("link", name="Unfollow", exact=True).wait_for()
        assert "Tom Ashworth" in await followers.inner_text()
        await page.goto("/my/account")
        await page.get_by_label("Status").fill("Out for tea")
        await page.get_by_role("button", name="Save").first.click()
        await page.goto("/users/current")
        await page.get_by_text("Status: Out for tea").wait_for()
        assert await page.get_by_role("link", name="Follow", exact=True).count() == 0, (
            "it is his own"
        )
        following = page.get_by_role("heading", name="Following").locator("+ p")
        assert "Ines Ferreira" in await following.inner_text()
        await page.goto("/users/5")
        await page.get_by_role("link", name="Unfollow", exact=True).click()
        await page.get_by_role("link", name="Follow", exact=True).wait_for()


async def test_pages_of_the_shop_take_dates_as_they_are_read_and_name_their_boxes() -> None:
    async with page_on("shop", "merchant") as (_, page):
        for typed, said in (
            ("01/02/2026", "Best sellers from 1 February 2026"),
            ("2026-02-01", "Best sellers from 1 February 2026"),
            ("Feb 30", "Enter a valid date."),
        ):
            await page.goto("/dashboard/reports/")
            await page.select_option("[name=report_type]", "best_sellers")
            await page.get_by_label("Date from").fill(typed)
            await page.get_by_role("button", name="Generate report").click()
            assert said in await page.inner_text("body"), typed

        await page.goto("/catalogue/category/kitchen-coffee/kettles_2/")
        boxes = page.locator("input.facet_checkbox")
        assert await boxes.count() > 1
        for box in await boxes.all():
            assert await box.get_attribute("aria-label")

        await page.goto("/compare/?product=16&product=48&product=41&product=53")
        assert await page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]


async def test_pages_of_the_forge_load_their_charts_and_name_what_can_be_chosen() -> None:
    async with page_on("forge", "administrator") as (replica, page):
        missing: list[str] = []
        page.on("response", lambda got: missing.append(got.url) if got.status >= 400 else None)
        ((number,),) = (await ask(replica, CODE)).rows
        await page.goto(f"/projects/kettle-firmware/repository/{number}/statistics")
        await page.wait_for_function("window.Chart && Object.keys(Chart.instances).length === 2")
        assert missing == []
        await page.goto("/projects/kettle-firmware/issues/report/tracker")
        await page.wait_for_function("window.Chart && Object.keys(Chart.instances).length === 2")

        await page.goto("/issues")
        assert await page.get_by_role("combobox", name="Status: operator").count() == 1
        boxes = page.locator("input[name='ids[]']")
        assert await boxes.count() > 1
        for box in await boxes.all():
            assert "#" in (await box.get_attribute("aria-label") or "")

        await page.goto("/projects")
        assert not [
            link for link in await page.locator("a").all_inner_texts() if link.endswith(":")
        ]
        assert missing == []


async def test_the_gantt_chart_of_all_projects_asks_for_its_rows_at_once() -> None:
    async with page_on("forge", "administrator") as (replica, page):
        before = await selects(replica)
        await page.goto("/issues/gantt")
        assert await page.locator(".issue-subject").count() > 300
        assert await selects(replica) - before < MOST_QUERIES


async def selects(replica: Replica) -> int:
    ((_, number),) = (await ask(replica, "SHOW GLOBAL STATUS LIKE 'Com_select'")).rows
    return int(str(number))
