"""A Playwright script of twenty steps, in a browser that is there or in one of its own.

    cdp_steps.py attach ENDPOINT START          a page of the browser behind a CDP endpoint
    cdp_steps.py launch CHROMIUM PROXY START    a browser of its own, through a proxy

Prints the seconds that the steps took, without what it takes to connect.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Playwright

_ROUNDS = 5
_VIEWPORT = {"width": 1280, "height": 720}


def play(page: Page, start: str) -> float:
    """Do twenty steps: five times an address, a link, a key and back."""
    began = time.perf_counter()
    for _ in range(_ROUNDS):
        page.goto(start)
        page.get_by_role("link", name="Bruges", exact=True).first.click()
        page.wait_for_load_state()
        page.keyboard.press("End")
        page.go_back()
    return time.perf_counter() - began


def _page(
    playwright: Playwright, how: str, where: str, proxy: str, start: str
) -> tuple[Browser, Page]:
    if how == "attach":
        browser = playwright.chromium.connect_over_cdp(where)
        return browser, browser.contexts[0].pages[0]
    browser = playwright.chromium.launch(
        executable_path=where, proxy={"server": proxy, "bypass": "<-loopback>"}
    )
    page = browser.new_page(viewport=_VIEWPORT, device_scale_factor=1)
    page.goto(start)  # an episode is there already
    return browser, page


def main(how: str, where: str, *more: str) -> None:
    """Play the script, and print its seconds."""
    with sync_playwright() as playwright:
        browser, page = _page(playwright, how, where, more[0], more[-1])
        sys.stdout.write(f"{play(page, more[-1])}\n")
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
