"""The HTML report as a person meets it: opened from disk in a real browser, without network."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.async_api import ConsoleMessage, Dialog, Page, Request, async_playwright, expect
from support.runs.made_run import HOSTILE, make_run

from orchestrator.analysis.run_report.html import write_html
from orchestrator.analysis.run_report.run_report import read_run

pytestmark = pytest.mark.browser


@dataclass(frozen=True, slots=True)
class Opened:
    """The report in a browser, and everything it tried beside being shown."""

    page: Page
    url: str
    requested: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def listen(self) -> None:
        def requested(request: Request) -> None:
            self.requested.append(request.url)

        def said(message: ConsoleMessage) -> None:
            self.complaints.append(message.text)

        async def asked(dialog: Dialog) -> None:
            self.complaints.append(dialog.message)
            await dialog.dismiss()

        self.page.on("request", requested)
        self.page.on("console", said)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", asked)


@pytest.fixture(scope="module")
def report_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make_run(tmp_path_factory.mktemp("made") / "run")
    write_html(read_run(folder), folder.report_path)
    return folder.report_path


@pytest.fixture
async def report(report_file: Path) -> AsyncIterator[Opened]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"))
        context = await browser.new_context(
            offline=True, viewport={"width": 1280, "height": 900}, reduced_motion="reduce"
        )
        opened = Opened(await context.new_page(), report_file.as_uri())
        opened.listen()
        await opened.page.goto(opened.url)
        yield opened
        await browser.close()


async def open_all(page: Page) -> None:
    await page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")


async def test_nothing_is_fetched_and_nothing_complains(report: Opened) -> None:
    await open_all(report.page)
    fetched = [url for url in report.requested if not url.startswith("data:")]
    assert fetched == [report.url]
    assert report.complaints == []


async def test_every_section_is_there_with_what_the_run_holds(report: Opened) -> None:
    page = report.page
    headings = await page.locator("h2").all_inner_texts()
    assert [heading.lower() for heading in headings] == [
        "offline",
        "online (staged)",
        "do the worlds agree?",
        "where the worlds diverge",
        "tasks",
        "not scored",
        "resets",
        "what was measured with what",
    ]
    assert "Staged live origins" in await page.locator(".banner.staged").inner_text()
    reference = await page.locator(".banner.agent").inner_text()
    assert "Reference agent, not a contestant" in reference
    assert "1 episode is left" in await page.locator(".banner.pending").inner_text()
    parting = page.locator("section", has=page.locator("#divergences")).locator("tbody tr")
    rows = await parting.all_inner_texts()
    assert [row.split()[0] for row in rows] == ["parts", "gone", "hostile"]
    assert "price" in rows[0]
    assert "44.99" in rows[0]
    assert "the price has changed" in rows[0]
    assert "unscored: drifted" in rows[1]
    assert "requirement 'sold': no such product" in rows[1]
    unscored = page.locator("section", has=page.locator("#unscored"))
    assert await unscored.locator("tbody tr").count() == 2
    said = await unscored.inner_text()
    assert "no such product" in said
    assert "container was removed" in said
    assert "1 retried" in said
    assert "1 abandoned" in said
    resets = await page.locator("section", has=page.locator("#resets")).inner_text()
    assert "recreate" in resets
    assert "12 of 12" in resets
    assert await page.locator("details.task").count() == 6


async def test_totals_are_those_of_the_run(report: Opened) -> None:
    """Offline four of four scored, online two of four."""
    figures = await report.page.locator(".card .figure").all_inner_texts()
    assert figures[:2] == ["100%", "50%"]
    square = await report.page.locator(".square td").all_inner_texts()
    assert [cell for cell in square if cell.strip()] == ["1", "2", "0", "0"]


async def test_what_an_attacker_wrote_is_shown_as_text(report: Opened) -> None:
    page = report.page
    await open_all(page)
    assert await page.title() != "owned"
    assert await page.locator("script").count() == 0
    assert await page.locator("img[src*='evil']").count() == 0
    intent = page.locator("#task-hostile summary small").first
    assert HOSTILE in await intent.inner_text()
    side = await page.locator("#task-hostile .sides").inner_text()
    assert side.count(HOSTILE) >= 4


async def test_a_task_opens_by_keyboard_and_shows_its_steps(report: Opened) -> None:
    page = report.page
    task = page.locator("#task-agrees")
    shots = task.locator("img.shot")
    assert not await shots.first.is_visible()
    for _ in range(40):
        await page.keyboard.press("Tab")
        if await page.evaluate("document.activeElement.closest('#task-agrees') !== null"):
            break
    outline = await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline not in {"none", ""}
    await page.keyboard.press("Enter")
    assert await shots.count() == 6
    for shot in await shots.all():
        await shot.scroll_into_view_if_needed()
        assert await shot.is_visible()
        await shot.evaluate("image => image.decode()")
        assert await shot.evaluate("image => image.naturalWidth") == 64
    steps = await task.locator(".steps").first.inner_text()
    assert "click link “Lantern Kettle”" in steps
    assert "answered: it is £39.99" in steps
    assert "refused GET http://tracker.test/x: unknown host" in steps
    await page.keyboard.press("Enter")
    assert not await shots.first.is_visible()


async def test_a_parting_leads_to_its_task(report: Opened) -> None:
    """The row that is named opens, so that nobody searches for it."""
    page = report.page
    await page.locator("section[aria-labelledby=divergences] a", has_text="parts").click()
    await expect(page.locator("#task-parts")).to_be_in_viewport()


@pytest.mark.parametrize("width", [1280, 800, 400])
async def test_the_page_never_scrolls_sideways(report: Opened, width: int) -> None:
    page = report.page
    await page.set_viewport_size({"width": width, "height": 900})
    await open_all(page)
    widest = await page.evaluate(
        """() => [...document.querySelectorAll('body *')]
            .filter(one => !one.closest('.scroll table'))
            .filter(one => one.getBoundingClientRect().right > innerWidth + 1)
            .map(one => one.tagName + '.' + one.className)"""
    )
    assert widest == []
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_at_400_pixels_no_table_is_cut_and_each_cell_says_its_column(report: Opened) -> None:
    page = report.page
    await page.set_viewport_size({"width": 400, "height": 900})
    cut = await page.evaluate(
        "[...document.querySelectorAll('.scroll, .scroll td')]"
        ".filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent)"
    )
    assert cut == []
    titles = await page.evaluate(
        "[...document.querySelectorAll('.scroll table')].map((table) => ["
        " [...table.tHead.rows[0].cells].slice(1).map((one) => one.textContent),"
        " [...table.tBodies[0].rows[0].cells].slice(1).map((one) => one.dataset.title)])"
    )
    assert titles
    assert all(said == named for said, named in titles)
