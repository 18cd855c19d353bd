"""An agent that is a program of its own, with Playwright as its client of CDP.

    arena eval wiki-bells-of-bruges --agent-cmd 'python my_agent.py'

It is started once for each episode. Its browser is there, logged in, on the start page. This one
follows the first link that the goal names, and answers with the first number beside the word that
the goal asks for; a real one would ask a model in between.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright


def play(page: Page, goal: str) -> str | None:
    """Do what the goal asks for on an open page; return the answer."""
    place = re.search(r"of ([A-Z]\w+)", goal)
    if place is not None:
        page.get_by_role("link", name=place[1], exact=True).first.click()
    counted = re.search(r"[Hh]ow many (\w+)", goal)
    if counted is None:
        return None
    found = re.search(rf"(\d+) {counted[1]}", page.locator("body").inner_text())
    return found[1] if found else None


def main() -> None:
    """Play the episode that the environment names, and print its answer as the last line."""
    episode = json.loads(Path(os.environ["ARENA_EPISODE"]).read_text(encoding="utf-8"))
    with sync_playwright() as playwright:
        browser = playwright.chromium.connect_over_cdp(episode["cdp_url"])
        answer = play(browser.contexts[0].pages[0], episode["goal"])
        browser.close()
    sys.stdout.write(json.dumps({"answer": answer}) + "\n")


if __name__ == "__main__":
    main()
