"""A run as a person watches it: `arena watch` beside it, its page in a real browser.

The scripted model is the clock: it is asked once per step, and looks at the page while it is asked.
"""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.request import urlopen

import pytest
from playwright.async_api import Page, async_playwright, expect
from quick_cases import SLOW
from support.agents.arena_process import ArenaProcess
from support.agents.scripted_model import ChatRequest, Script, ScriptedModel, ScriptedReply
from support.runs.run_at import RunAt
from support.tasks.small_suites import bells, solve_bells, write_suite

pytestmark = [pytest.mark.docker, pytest.mark.browser]

StartModel = Callable[[Script], ScriptedModel]
Scene = Callable[[Page], Awaitable[None]]


def address(process: ArenaProcess) -> str:
    """Return the address that `arena watch` prints."""
    printed = r"watch: (http://127\.0\.0\.1:\d+/#\S+)\n"
    [url] = re.findall(printed, process.printed(printed))
    return str(url)


async def in_a_browser(url: str, scene: Scene, complaints: list[str] | None = None) -> None:
    said = [] if complaints is None else complaints
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"))
        page = await browser.new_page(viewport={"width": 1280, "height": 900})
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        await page.goto(url)
        await scene(page)
        await browser.close()


class Watcher:
    """A model that solves every task, and looks at the page when it is asked for the n-th time."""

    def __init__(self, cwd: Path, scenes: dict[int, Scene]) -> None:
        self.seen: list[int] = []
        self.failed: list[BaseException] = []
        self.complaints: list[str] = []
        self._cwd, self._scenes = cwd, scenes
        self._asked = 0

    def __call__(self, request: ChatRequest) -> ScriptedReply:
        self._asked += 1
        if (scene := self._scenes.get(self._asked)) is not None:
            try:
                asyncio.run(self._look(scene))
                self.seen.append(self._asked)
            except (AssertionError, Exception) as failure:  # noqa: BLE001  told by the test
                self.failed.append(failure)
        return solve_bells(request)

    async def _look(self, scene: Scene) -> None:
        with ArenaProcess("watch", "run", cwd=self._cwd) as process:
            url = address(process)
            async with async_playwright() as playwright:
                browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"))
                page = await browser.new_page(viewport={"width": 1280, "height": 900})
                page.on("console", lambda said: self.complaints.append(said.text))
                page.on("pageerror", lambda error: self.complaints.append(str(error)))
                await page.goto(url)
                await scene(page)
                await browser.close()


async def at_its_first_step(page: Page) -> None:
    slot = page.locator(".slot")
    await expect(slot.locator("h3")).to_have_text("offline-one-r0")
    await expect(slot.locator(".steps li")).to_have_text(re.compile("opened the start pages"))
    await expect(page.locator("#progress")).to_contain_text("0 of 3 episodes ended, 2 in the queue")
    # No step has ended, so the run keeps no picture yet: this is the page as it is now.
    await expect(slot.locator("img")).to_have_attribute("src", re.compile("^data:image/jpeg"))
    assert await slot.locator("img").evaluate("image => image.naturalWidth") == 640
    await page.get_by_role("button", name="Pause").click()
    await expect(page.locator("#progress")).to_contain_text("paused")
    await page.get_by_role("button", name="Go on").click()
    await slot.get_by_role("button", name="Stop this episode").click()
    await expect(slot.locator("small").first).to_contain_text("stopping")
    await page.set_viewport_size({"width": 390, "height": 800})
    assert await page.evaluate("document.documentElement.scrollWidth") == 390
    await page.locator("#workers").fill("1")
    await page.locator("#set-workers").click()
    await expect(page.locator("#note")).to_have_text("at most 1 side by side in each world")


async def at_its_second_step(page: Page) -> None:
    slot = page.locator(".slot")
    await expect(slot.locator("h3")).to_have_text("offline-two-r0")
    await expect(slot.locator("img")).to_be_visible()
    assert await slot.locator("img").evaluate("image => image.naturalWidth") >= 640
    await expect(slot.locator(".checks .met")).to_contain_text("✓ article")
    await expect(slot.locator(".checks .pending")).to_have_text("… bells not yet")
    await expect(slot.locator(".steps li")).to_have_count(2)
    await expect(slot.locator(".steps")).to_contain_text("Bruges")


async def when_another_has_ended(page: Page) -> None:
    await expect(page.locator(".slot h3")).to_have_text("offline-three-r0")
    ended = page.locator("#ended li")
    await expect(ended).to_have_count(1)
    await expect(ended).to_contain_text("success")
    await ended.get_by_role("button").click()
    dialog = page.locator("#episode")
    await expect(dialog).to_contain_text("success")
    await expect(dialog.locator("#episode-steps > li")).to_have_count(3)
    picture = dialog.locator("img").first
    await picture.scroll_into_view_if_needed()
    await expect(picture).to_have_js_property("complete", value=True)
    assert await picture.evaluate("image => image.naturalWidth") > 600
    await dialog.get_by_role("button", name="Close").click()
    await page.get_by_role("button", name="Play again what was stopped").click()
    await expect(page.locator("#note")).to_have_text("1 episode in the queue again")


@SLOW
def test_a_run_is_watched_and_steered_on_its_page(
    run: RunAt, tmp_path: Path, scripted_model: StartModel
) -> None:
    suite = write_suite(tmp_path, *(bells(task) for task in ("one", "two", "three")))
    watcher = Watcher(
        run.cwd, {1: at_its_first_step, 3: at_its_second_step, 5: when_another_has_ended}
    )
    model = scripted_model(watcher)
    options = ("--agent", "chat", "--model", "scripted", "--model-url", model.url)
    ended = run.play(suite, *options)
    assert watcher.failed == []
    assert (ended.code, watcher.seen) == (0, [1, 3, 5]), ended.err
    assert watcher.complaints == []
    orders = [one.order for one in run.lock.steered]
    stopped = f"stop {run.lock.run}/offline-one-r0"
    assert orders == ["pause", "go", stopped, "workers 1", "requeue"]
    finished = [line[0] for line in run.ledger() if line[2] == "finished"]
    assert sorted(finished) == ["one", "three", "two"]


async def test_the_page_of_a_run_that_ended_shows_its_episodes(run: RunAt, tmp_path: Path) -> None:
    ended = run.play(write_suite(tmp_path, bells("one")))
    assert ended.code == 0, ended.err
    with ArenaProcess("watch", "run", cwd=run.cwd) as process:
        url = address(process)
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"))
            page = await browser.new_page()
            await page.goto(url)
            await expect(page.locator("#progress")).to_have_text("It is not played now.")
            await expect(page.locator("#pause")).to_be_disabled()
            await page.locator("#ended button").click()
            await expect(page.locator("#episode")).to_contain_text("success")
            answer = await page.request.get(re.sub(r"#.*", "state", url))
            assert answer.status == 403
            await browser.close()


@SLOW
def test_a_run_serves_its_page_itself_where_it_is_asked_to(
    run: RunAt, tmp_path: Path, scripted_model: StartModel
) -> None:
    """The page that a run serves itself ends with it."""
    found: list[str] = []

    async def looks(page: Page) -> None:
        await expect(page.locator(".slot h3")).to_have_text("offline-one-r0")
        await expect(page.locator(".slot img")).to_be_visible()

    def answers(request: ChatRequest) -> ScriptedReply:
        if not found:
            said = r"watch: (http\S+)\n"
            found.extend(re.findall(said, process.hear(said)))
            asyncio.run(in_a_browser(found[0], looks))
        return solve_bells(request)

    model = scripted_model(answers)
    options = ("--agent", "chat", "--model", "scripted", "--model-url", model.url, "--watch")
    with run.start(write_suite(tmp_path, bells("one")), *options) as process:
        ended = process.wait()
    assert ended.code == 0, ended.err
    assert run.lock.steered == ()
    with pytest.raises(OSError, match="refused"):
        urlopen(found[0])  # noqa: S310  our own, on loopback
