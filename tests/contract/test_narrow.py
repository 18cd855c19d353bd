"""Pages fit a window as wide as a telephone's: nothing sticks out at the side."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from typing import Final

import pytest
from playwright.async_api import async_playwright
from quick_cases import quick_first
from support.sites.crawling import cookies_of
from support.sites.every_site import ATLAS, Shared

from orchestrator.sandbox.engine.engine import Engine

pytestmark = [pytest.mark.docker, pytest.mark.browser]

WIDTH: Final = 390
# A role, or nobody, and pages that are hard to make narrow: long threads, tables, headers.
PAGES: Final[Mapping[str, tuple[str | None, tuple[str, ...]]]] = {
    "cms": ("administrator", ("/", "/about-the-gazette/")),
    "forum": ("member", ("/f/coffee/13353", "/f/coffee/top", "/messages")),
    "map": (None, ("/", "/search?query=cafe+near+Harbour+Street", "/directions")),
    "office": (
        "ines",
        (
            "/login",
            "/SOGo/so/ines.ferreira/Mail/view",
            "/SOGo/so/ines.ferreira/Calendar/view",
            "/SOGo/so/ines.ferreira/Contacts/view",
        ),
    ),
    "wiki": (None, ("/", "/wiki/A/Kettle")),
}
ARGUMENTS: Final = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")


@pytest.mark.parametrize("name", quick_first(sorted(PAGES, key=lambda name: name != "wiki")))
async def test_no_page_is_wider_than_a_narrow_window(
    engine: Engine, shared: Shared, name: str
) -> None:
    replica = await shared.of(engine, ATLAS.site(name))
    role, paths = PAGES[name]
    there = f"MAP {replica.site.host}:80 {replica.endpoint.host}:{replica.endpoint.port}"
    widths: dict[str, int] = {}
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=[*ARGUMENTS, f"--host-resolver-rules={there}"],
        )
        context = await browser.new_context(viewport={"width": WIDTH, "height": 800})
        for one in await cookies_of(replica, role):
            named = {"name": one.name, "value": one.value, "domain": one.domain, "path": one.path}
            await context.add_cookies([named])  # type: ignore[list-item]
        page = await context.new_page()
        for path in paths:
            await page.goto(f"http://{replica.site.host}{path}")
            widths[path] = await page.evaluate("document.documentElement.scrollWidth")
        await browser.close()
    assert widths == dict.fromkeys(paths, WIDTH)
