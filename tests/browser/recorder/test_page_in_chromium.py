"""The recorder's page in a real browser: by hand and keyboard, wide and narrow."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Page, async_playwright, expect
from quick_cases import ONE_QUICK
from support.recorder.made_recording import event, looked_up, recording_of, step_of, write

from orchestrator.authoring.recorder.desk import Desk, serve_desk
from orchestrator.authoring.recorder.recording import Recording, open_recording
from sites.registry import load_registry
from tasks.loader import load_source

pytestmark = [pytest.mark.browser]

INTENT = "Which town is the chief town of the makers of samovars?"
HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>\x1b]0;owned\x07"


@asynccontextmanager
async def shown(folder: Path, made: Recording, width: int = 1280) -> AsyncIterator[Page]:
    """Show the page of a recording; nothing in it may complain or ask."""
    kept = open_recording(write(made, folder / "recording"))
    desk = Desk(lambda: kept, load_registry(), folder / "town.yaml", is_over=True)
    complaints: list[str] = []
    async with serve_desk(desk) as url, async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"))
        page = await browser.new_page(viewport={"width": width, "height": 900})
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        await page.goto(url)
        await page.locator("#ends .check").first.wait_for()
        yield page
        await browser.close()
    assert complaints == []


async def test_a_task_is_made_by_hand(tmp_path: Path) -> None:
    async with shown(tmp_path, looked_up()) as page:
        assert "#" not in page.url  # the token stands in no history
        await page.get_by_label("What an agent is asked to do").fill(INTENT)
        await page.get_by_label("The right answer").fill("Tula")
        await page.get_by_text("Key nodes").click()
        await page.get_by_label("address wiki:/article/Samovar").check()
        await page.get_by_label("the answer, read as a name: Tula").wait_for()
        await page.locator("#missing:empty").wait_for(state="attached")
        await page.get_by_role("button", name="Save the task").click()
        await page.get_by_text("Saved:").wait_for()
    text = (tmp_path / "town.yaml").read_text()
    assert "value: wiki:/article/Samovar" in text
    assert "answer: Tula" in text


async def test_what_holds_before_you_begin_is_told_and_not_chosen(tmp_path: Path) -> None:
    back = recording_of(step_of(1, [event("click", name="Home")], [looked_up().head.start[0]]))
    async with shown(tmp_path, back) as page:
        line = page.locator(".check.holds_before").first
        assert "holds before you begin" in await line.inner_text()
        assert not await line.get_by_role("checkbox").is_checked()
        await expect(page.locator("#missing")).to_contain_text("no end check is chosen")


async def test_a_key_node_is_marked_by_a_person_alone(tmp_path: Path) -> None:
    async with shown(tmp_path, looked_up()) as page:
        await page.get_by_text("Key nodes").click()
        await page.locator(".step .check").first.wait_for()
        assert await page.locator(".step .check input:checked").count() == 0


async def test_what_a_site_says_is_text(tmp_path: Path) -> None:
    click = event("click", "a", name=HOSTILE)
    made = recording_of(step_of(1, [click], [f"wiki:/{HOSTILE}"], title=HOSTILE))
    async with shown(tmp_path, made) as page:
        await page.get_by_text("Key nodes").click()
        await page.locator(".step .check").first.wait_for()
        assert "<img src=x" in await page.locator("#step-1 h3").inner_text()
        assert await page.locator("main img:not([loading])").count() == 0
        assert await page.locator("main script").count() == 0


async def test_a_step_is_left_out_and_reworded_by_keyboard(tmp_path: Path) -> None:
    typed = event("input", "input", name="Search", value="ketle")
    made = recording_of(step_of(1, [typed]), step_of(2, [event("click", name="Tour")]))
    async with shown(tmp_path, made) as page:
        await page.get_by_label("What an agent is asked to do").fill(INTENT)
        await page.get_by_label("The right answer").fill("Tula")
        await page.get_by_role("button", name="Reword: type").focus()
        await page.keyboard.press("Enter")
        await page.keyboard.press("Control+A")
        await page.keyboard.type("kettle")
        await page.keyboard.press("Tab")
        await page.get_by_text("→ “kettle”").wait_for()
        await page.get_by_role("button", name="Leave out: click").focus()
        await page.keyboard.press("Enter")
        await page.get_by_role("button", name="Keep: click").wait_for()
        await page.get_by_text("The task as a file").click()
        await expect(page.locator("#yaml")).to_contain_text("text: kettle")
        await expect(page.locator("#yaml")).not_to_contain_text("Tour")


async def test_two_steps_become_one_and_two_again_by_keyboard(tmp_path: Path) -> None:
    typed = [event("input", "input", name="Search", value=one) for one in ("ketle", "kettle")]
    made = recording_of(step_of(1, typed[:1]), step_of(2, typed[1:]))
    async with shown(tmp_path, made) as page:
        await page.get_by_label("What an agent is asked to do").fill(INTENT)
        await page.get_by_label("The right answer").fill("Tula")
        await page.get_by_text("The task as a file").click()
        await page.get_by_role("button", name="Merge with the step before: step 2").focus()
        await page.keyboard.press("Enter")
        await expect(page.locator("#steps > li")).to_have_count(2)
        await expect(page.locator("#yaml")).not_to_contain_text("ketle")
        await expect(page.locator("#yaml")).to_contain_text("text: kettle")
        split = page.get_by_role("button", name="Split off again: step 2")
        await split.focus()
        await page.keyboard.press("Enter")
        await expect(page.locator("#steps > li")).to_have_count(3)
        await expect(page.locator("#yaml")).to_contain_text("text: ketle")


async def test_a_value_is_varied_by_hand(tmp_path: Path) -> None:
    async with shown(tmp_path, varied()) as page:
        await page.get_by_label("What an agent is asked to do").fill("Which town made Samovar?")
        await page.get_by_label("The right answer").fill("Tula")
        await page.get_by_role("button", name="Vary: click").click()
        await page.get_by_role("button", name="+ Teapot").click()
        await page.get_by_role("button", name="Add a parameter").click()
        answers = page.locator(".parameter").nth(1).locator("textarea")
        await answers.fill("Tula\nDelft")
        await page.locator("#missing:empty").wait_for(state="attached")
        await page.get_by_role("button", name="Save the task").click()
        await page.get_by_text("Saved:").wait_for()
    tasks = load_source(str(tmp_path / "town.yaml")).suite.tasks
    assert {(one.intent, one.template) for one in tasks} == {
        ("Which town made Samovar?", "samovar-town"),
        ("Which town made Teapot?", "samovar-town"),
    }


async def test_nothing_is_missing_while_the_page_asks_once_more(tmp_path: Path) -> None:
    async with shown(tmp_path, looked_up()) as page:
        await page.get_by_label("What an agent is asked to do").fill(INTENT)
        await expect(page.locator("#missing")).to_contain_text("no end check")
        await page.evaluate("""() => {
            globalThis.flashes = 0;
            const isRed = () => at("missing").textContent.includes("no end check");
            let answered = false;
            const asks = fetch;
            fetch = async (...asked) => {
                const reply = await asks(...asked);
                answered ||= String(asked[1]?.body).includes('"answer":"Tula"');
                return reply;
            };
            new MutationObserver(() => { flashes += answered && isRed(); })
                .observe(at("missing"), { childList: true });
        }""")
        await page.get_by_label("The right answer").fill("Tula")
        await page.locator("#missing:empty").wait_for(state="attached")
        assert await page.evaluate("flashes") == 0


def varied() -> Recording:
    """Somebody followed one of two links."""
    step = looked_up().steps[1]
    (click,) = step.actions
    click = click.model_copy(update={"others": ("Samovar", "Teapot")})
    return recording_of(step.model_copy(update={"actions": (click,)}))


@ONE_QUICK
@pytest.mark.parametrize("width", [1280, 400])
async def test_nothing_is_wider_than_the_window(tmp_path: Path, width: int) -> None:
    long = "wiki:/" + "a" * 300
    made = recording_of(step_of(1, [event("click", name="x" * 200)], [long], title="y" * 200))
    async with shown(tmp_path, made, width) as page:
        await page.get_by_text("Key nodes").click()
        await page.locator(".step .check").first.wait_for()
        assert await page.evaluate("document.documentElement.scrollWidth") <= width


async def test_one_action_is_counted_as_one(tmp_path: Path) -> None:
    async with shown(tmp_path, looked_up()) as page:
        await page.get_by_text("1 action.", exact=True).wait_for()
