"""A person as a script: one hand on the control page, one in the window that Arena opened.

What they do in the window is real input: Chromium makes the events, as it does for a mouse.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.async_api import Page, async_playwright

from orchestrator.browser.tabs.cdp_channel import PageGoneError, RefusedError
from orchestrator.episode.person import runner
from orchestrator.episode.person.steps import PersonSteps
from orchestrator.episode.person.stopwatch import Stopwatch


@dataclass
class Window:
    """The window that Arena opened last: the person's eyes and hands."""

    steps: list[PersonSteps] = field(default_factory=list)

    @property
    def page(self) -> Page:
        session: Any = self.steps[-1]._session
        page: Page = session._bar.current.page
        return page

    def clock(self) -> Stopwatch:
        return self.steps[-1]._clock

    async def noticed(self) -> None:
        """Return when everything that was done is written down."""
        session: Any = self.steps[-1]._session
        for tab in session._bar.tabs:  # what a page reported comes before its answer
            with suppress(RefusedError, PageGoneError):  # one that goes away says nothing more
                await tab.frames.evaluate(tab.frames.main, "1")
        while (writing := self.steps[-1]._writing) is not None:
            await writing


@pytest.fixture
def window(monkeypatch: pytest.MonkeyPatch) -> Window:
    """What the person sees of each episode, from the moment it is ready."""
    found = Window()

    class Watched(PersonSteps):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            found.steps.append(self)

    monkeypatch.setattr(runner, "PersonSteps", Watched)
    return found


@dataclass
class ControlPage:
    """The control page in the person's own browser."""

    page: Page

    async def asks(self, phase: str) -> None:
        """Return when the page asks for that."""
        await self.page.wait_for_selector(f"section[data-phase={phase}]:visible", timeout=150_000)

    async def says(self, kind: str, **fields: str) -> None:
        """Fill fields by their ids, and press a button."""
        for name, text in fields.items():
            if name == "reason":
                await self.page.get_by_text("It cannot be done").first.click()
            await self.page.fill(f"#{name}", text)
        await self.page.click(f"section:visible [data-say={kind}], #stop [data-say={kind}]")

    async def starts(self) -> None:
        await self.asks("invited")
        await self.says("start")
        await self.asks("running")


@asynccontextmanager
async def control_page(url: str) -> AsyncIterator[ControlPage]:
    """Open the control page in a browser of the person's."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path="/usr/bin/chromium")
        page = await browser.new_page()
        page.on("dialog", lambda dialog: dialog.accept())
        await page.goto(url)
        yield ControlPage(page)
        await browser.close()
