"""What Chromium calls the elements of a page otherwise than the page watcher does.

The watcher has to say a name before the page handles an event, so it cannot ask the browser, whose
answer would come after. This holds its script to the browser's accessibility tree instead.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from playwright.async_api import CDPSession, Page, async_playwright

from orchestrator.browser.process.chromium import find_chromium
from orchestrator.browser.tabs.watcher import page_source

_MOST: Final = 400  # elements of a page
# What a person acts on or a check names.
_ELEMENTS: Final = (
    "a[href], button, input:not([type=hidden]), select, textarea, summary, [role], [tabindex],"
    " [contenteditable], h1, h2, h3, h4, img, table, fieldset"
)
_COLLECT: Final = f"""
(() => {{ {page_source()}
  globalThis.found = [...document.querySelectorAll({_ELEMENTS!r})]
    .filter((e) => e.checkVisibility({{visibilityProperty: true}})).slice(0, {_MOST});
  return found.map((e) => ({{...arena.describe(e), html: e.outerHTML.slice(0, 160)}}));
}})()"""


@asynccontextmanager
async def opened(host: str = "nowhere.test", address: str = "~NOTFOUND") -> AsyncIterator[Page]:
    """Open a page in a browser that finds one host at an address, and no other."""
    mapping = f"MAP {host} {address}, MAP * ~NOTFOUND"
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=find_chromium(
                None, os.environ, Path(playwright.chromium.executable_path)
            ),
            args=["--no-sandbox", f"--host-resolver-rules={mapping}"],
        )
        try:
            yield await browser.new_page()
        finally:
            await browser.close()


async def differences(page: Page) -> list[str]:
    """Return what the watcher's script calls otherwise than Chromium does."""
    cdp = await page.context.new_cdp_session(page)
    told: list[dict[str, str]] = await page.evaluate(_COLLECT)
    tree = await cdp.send("Accessibility.getFullAXTree")
    nodes = {node["backendDOMNodeId"]: node for node in tree["nodes"] if "backendDOMNodeId" in node}
    wrong = []
    for number, mine in enumerate(told):
        node = nodes.get(await _backend(cdp, number))
        if node is None or node.get("ignored"):
            continue
        name = " ".join(_value(node, "name").split())[:200].strip()
        if mine["name"] != name:
            wrong.append(f"{mine['role']} {mine['name']!r}, not {name!r}: {mine['html']}")
    return wrong


async def _backend(cdp: CDPSession, number: int) -> int:
    found = await cdp.send("Runtime.evaluate", {"expression": f"found[{number}]"})
    node = await cdp.send("DOM.describeNode", {"objectId": found["result"]["objectId"]})
    backend: int = node["node"]["backendNodeId"]
    return backend


def _value(node: Mapping[str, Any], key: str) -> str:
    return str(node.get(key, {}).get("value", ""))
