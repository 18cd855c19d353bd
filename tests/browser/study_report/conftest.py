from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, async_playwright
from support.studies.made_study import make_study
from support.studies.make_findings import make_findings

from orchestrator.analysis.figures.forest import forest
from orchestrator.analysis.figures.style import drawing, save
from orchestrator.analysis.study_report.page import write_study_report


@dataclass(frozen=True, slots=True)
class Opened:
    """The page in a browser, and everything it tried beside being shown."""

    page: Page
    requested: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def listen(self) -> None:
        self.page.on("request", lambda request: self.requested.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    async def go(self, path: Path, state: str = "") -> None:
        """Open a page, as a link to that state of it does."""
        await self.page.goto(f"{path.as_uri()}{state}")

    async def rows(self) -> list[list[str]]:
        """Return the texts of the list of episodes: task, agent, world, repeat, outcome, …"""
        found: list[list[str]] = await self.page.evaluate(
            "[...document.querySelectorAll('#rows tbody tr')]"
            ".map(row => [...row.children].map(cell => cell.innerText.trim()))"
        )
        return found


Open = Callable[..., Awaitable[Opened]]


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a study's report with one of its figures beside it."""
    folder = tmp_path_factory.mktemp("study")
    figures, findings = folder / "report" / "figures", make_findings()
    figures.mkdir(parents=True)
    with drawing():
        beside = save(forest(findings), figures, "forest")
    return write_study_report(findings, make_study(folder), folder / "report", beside=beside)


@pytest.fixture
async def opens() -> AsyncIterator[Open]:
    """Open pages in a browser without a network; options are those of a context."""
    async with AsyncExitStack() as stack:
        playwright = await stack.enter_async_context(async_playwright())
        browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"))
        stack.push_async_callback(browser.close)

        async def open_page(path: Path, state: str = "", **options: Any) -> Opened:
            given = {"viewport": {"width": 1280, "height": 900}, **options}
            context = await browser.new_context(offline=True, reduced_motion="reduce", **given)
            opened = Opened(await context.new_page())
            opened.listen()
            await opened.go(path, state)
            return opened

        yield open_page
