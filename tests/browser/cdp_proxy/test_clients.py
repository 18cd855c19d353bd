"""What clients that people use ask of every page, beside what their scripts do."""

from __future__ import annotations

import pytest
from playwright.async_api import async_playwright
from support.agents.cdp_endpoint import Endpoint

from arena_core.actions import Press

pytestmark = pytest.mark.browser

FIELD = "<input autofocus style='position:fixed;left:0;top:0;width:99px;height:99px'>"


async def test_playwright_opens_sessions_of_its_own_with_pages_and_the_browser(
    endpoint: Endpoint,
) -> None:
    """BrowserGym does so with each page before anything else."""
    await endpoint.open("<title>Page</title>")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(endpoint.proxy.url)
        page = browser.contexts[0].pages[0]
        asking = await page.context.new_cdp_session(page)
        title = {"expression": "document.title"}
        assert (await asking.send("Runtime.evaluate", title))["result"]["value"] == "Page"
        await asking.detach()
        whole = await browser.new_browser_cdp_session()
        assert (await whole.send("Browser.getVersion"))["product"]
        assert await page.title() == "Page"
        await browser.close()
    assert endpoint.clock.attempts == []


async def test_what_is_typed_key_by_key_is_text(endpoint: Endpoint) -> None:
    await endpoint.open(FIELD)
    async with endpoint.page() as client:
        for kind in ("mousePressed", "mouseReleased"):
            await client.send(
                "Input.dispatchMouseEvent", type=kind, x=9, y=9, button="left", clickCount=1
            )
        for letter in "Bruges 1":
            for kind, more in (("keyDown", {}), ("char", {"text": letter}), ("keyUp", {})):
                await client.send("Input.dispatchKeyEvent", type=kind, key=letter, **more)
        assert await client.evaluate("document.querySelector('input').value") == "Bruges 1"
    typed = [act for act in endpoint.clock.acts_seen if act.kind == "write"]
    assert "".join(act.text for act in typed) == "Bruges 1"
    assert not [act for act in endpoint.clock.acts_seen if act.kind == "press"]
    assert typed[0].action == Press(keys="B")
