"""A study's page as a person meets it: opened from a disk in a real browser, without a network."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect
from support.studies.made_study import ATTACK, ATTACKED, UNREADABLE

pytestmark = pytest.mark.browser

HOSTILE_STATE = f"#episode=0%2F{ATTACKED}"


async def test_it_loads_nothing_but_itself_until_an_episode_is_opened(
    report: Path, opens: Any
) -> None:
    opened = await opens(report)
    picture = report.parent / "figures" / "forest.svg"
    assert opened.requested == [report.as_uri(), picture.as_uri()]
    await opened.page.locator("#rows a.open").first.click()
    await opened.page.locator("#episode .strip").first.wait_for()
    scripts = [url for url in opened.requested if url.endswith(".js")]
    assert [Path(url).name for url in scripts] == [
        "offline-agrees-r0-a1.js",
        "online-agrees-r0-a1.js",
    ]
    assert all(url.startswith("file:") for url in opened.requested)
    assert opened.complaints == []


async def test_what_an_attacker_wrote_is_shown_as_text(report: Path, opens: Any) -> None:
    opened = await opens(report, HOSTILE_STATE)
    page = opened.page
    side = page.locator("#episode .side").first
    await side.locator(".strip").wait_for()
    shown = await side.inner_text()
    assert re.sub(r"\s", "", ATTACK) in re.sub(r"\s", "", shown)
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "Home"):
        await page.keyboard.press(key)
    assert await page.evaluate("window.owned") is None
    assert await page.title() != "owned"
    assert await page.locator("#episode script").count() == 0
    pictures = await page.locator("#episode img").evaluate_all("all => all.map(one => one.src)")
    assert all("/evidence/" in src and "secret" not in src for src in pictures)
    links = await page.locator("a").evaluate_all("all => all.map(one => one.protocol)")
    assert set(links) == {"file:"}
    assert opened.complaints == []


@pytest.fixture
def alone(report: Path, tmp_path: Path) -> Path:
    """Return the page without its episodes, and with markup in it that attacks."""
    hole = "<script>window.owned=1</script><img src=x onerror='window.owned=2'>"
    text = report.read_text(encoding="utf-8")
    path = tmp_path / "index.html"
    path.write_text(text.replace("<main>", f"<main>{hole}"), encoding="utf-8")
    return path


async def test_markup_that_found_its_way_in_would_not_run(alone: Path, opens: Any) -> None:
    """The policy is the second wall: even a hole in the first lets nothing run."""
    opened = await opens(alone)
    assert await opened.page.locator("#rows tbody tr").count() == 22
    assert await opened.page.evaluate("window.owned") is None
    assert len([one for one in opened.complaints if "Content Security Policy" in one]) == 2


async def test_filters_narrow_both_tables_and_stand_in_the_address(
    report: Path, opens: Any
) -> None:
    opened = await opens(report)
    page = opened.page
    assert len(await opened.rows()) == 22
    await page.locator("[name=agent]").select_option("hasty")
    await page.locator("[name=outcome]").select_option("unscored")
    await expect(page.locator("#rows tbody tr")).to_have_count(3)
    assert "agent=hasty" in page.url
    assert "outcome=unscored" in page.url
    assert {row[4] for row in await opened.rows()} == {
        "? unscored: infra",
        "? unscored: drifted",
        "? unscored: unreadable",
    }
    heads = await page.locator("#heat thead th").all_inner_texts()
    assert [" ".join(head.split()) for head in heads] == ["task", "hasty offline", "hasty online"]
    said = await page.locator("#rows-said").inner_text()
    assert said.startswith("3 episodes with agent “hasty”, outcome “unscored”")
    again = await opens(report, f"#{page.url.split('#')[1]}")
    assert await again.rows() == await opened.rows()
    assert await again.page.locator("[name=agent]").input_value() == "hasty"
    await again.page.get_by_role("button", name="Clear filters").click()
    assert len(await again.rows()) == 22


@pytest.mark.parametrize(
    ("state", "tasks"),
    [
        ("#check=price&status=not+met&agent=careful", {"parts", "hostile"}),
        ("#q=no+longer+sold", {"gone"}),
        ("#q=44.99", {"parts"}),
        ("#world=online&site=shop&family=information&outcome=success", {"agrees", "broken"}),
        ("#task=made%2Fleft", {"left"}),
        ("#agent=nobody", set()),
    ],
)
async def test_an_address_shows_its_episodes(
    report: Path, opens: Any, state: str, tasks: set[str]
) -> None:
    opened = await opens(report, state)
    assert {row[0] for row in await opened.rows()} == tasks


async def test_columns_sort_both_ways_and_what_is_not_known_comes_last(
    report: Path, opens: Any
) -> None:
    opened = await opens(report, "#sort=began")
    page = opened.page
    for arrow in ("ascending", "descending"):
        await page.locator("#rows button[data-column=started]").click()
        head = page.locator("#rows th[aria-sort]")
        assert await head.get_attribute("aria-sort") == arrow
        assert (await opened.rows())[-1][10] == "–"
        focused = await page.evaluate("document.activeElement.dataset.column")
        assert focused == "started"
    assert "sort=started" in page.url
    assert "down=1" in page.url


async def test_a_field_of_the_heat_map_leads_to_its_episode(report: Path, opens: Any) -> None:
    opened = await opens(report)
    page = opened.page
    field = page.get_by_role("button", name="gone, careful, online: 0 of 0")
    assert await field.inner_text() == "0/0 +1?"
    await field.click()
    await page.locator("#episode .side").nth(1).locator("h3").wait_for()
    sides = await page.locator("#episode .side h3").all_inner_texts()
    assert sides == ["careful · offline · repeat 0", "careful · online · repeat 0"]
    assert "unscored: drifted" in await page.locator("#episode .side").nth(1).inner_text()
    await page.keyboard.press("Escape")
    assert not await page.locator("#episode").is_visible()
    assert "episode=" not in page.url


async def test_the_keyboard_alone_opens_an_episode_and_goes_through_it(
    report: Path, opens: Any
) -> None:
    opened = await opens(report)
    page = opened.page
    await page.locator("#rows th button").first.focus()
    for _ in range(20):
        await page.keyboard.press("Tab")
        if await page.evaluate("document.activeElement.matches('a.open')"):
            break
    outline = await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline not in {"none", ""}
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("Enter")
    current = page.locator("#episode .side").first.locator("[aria-current=step]")
    await current.wait_for()
    await page.locator("#episode .side").nth(1).locator("[aria-current=step]").wait_for()
    assert (await current.inner_text()).strip().startswith("0")
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("ArrowRight")
    both = await page.locator("#episode [aria-current=step]").all_inner_texts()
    assert [one.strip()[0] for one in both] == ["2", "2"]
    assert "step=2" in page.url
    shown = await page.locator("#episode .side").first.inner_text()
    assert "✓ product at 2" in shown
    assert "GET http://tracker.test/x: refused: unknown host" in shown
    picture = page.locator("#episode img.shot").first
    await picture.evaluate("image => image.decode()")
    assert await picture.evaluate("image => image.naturalWidth") == 64
    await page.keyboard.press("End")
    assert "answered: it is £39.99" in await page.locator("#episode h4").first.inner_text()
    await page.keyboard.press("Escape")
    assert await page.evaluate("document.activeElement.matches('a.open')")


async def test_an_address_leads_to_a_step_and_back_leads_out(report: Path, opens: Any) -> None:
    opened = await opens(report)
    page = opened.page
    await opened.go(report, "#agent=hasty")
    await page.evaluate("location.hash = 'agent=hasty&episode=1%2Foffline-parts-r0-a1&step=2'")
    await page.locator("#episode [aria-current=step]").first.wait_for()
    assert "step 2: click" in await page.locator("#episode h4").first.inner_text()
    await page.go_back()
    await page.locator("#episode").wait_for(state="hidden")
    assert {row[1] for row in await opened.rows()} == {"hasty"}


async def test_any_other_episode_of_the_task_can_stand_beside(report: Path, opens: Any) -> None:
    opened = await opens(report, "#episode=0%2Foffline-parts-r0-a1")
    page = opened.page
    await page.locator("#episode .strip").nth(1).wait_for()
    await page.locator("#episode select").select_option("1/offline-parts-r0-a1")
    await page.get_by_role("heading", name="hasty · offline · repeat 0").wait_for()
    await page.locator("#episode select").select_option("none")
    await expect(page.locator("#episode .side")).to_have_count(1)


async def test_what_cannot_be_read_or_is_missing_says_so(
    report: Path, alone: Path, opens: Any
) -> None:
    opened = await opens(report, f"#episode=1%2F{UNREADABLE}")
    side = opened.page.locator("#episode .side").nth(1)
    await side.get_by_text("No step was taken").wait_for()
    assert "evidence.json" in await side.inner_text()
    moved = await opens(alone, "#episode=0%2Foffline-agrees-r0-a1")
    await moved.page.get_by_text("is missing beside this page").first.wait_for()


async def test_a_report_that_was_sent_without_its_runs_says_that_pictures_are_missing(
    report: Path, opens: Any, tmp_path: Path
) -> None:
    sent = shutil.copytree(report.parent, tmp_path / "sent") / report.name
    opened = await opens(sent, "#episode=0%2Foffline-agrees-r0-a1")
    await opened.page.get_by_text("The picture is missing").first.wait_for()


async def test_without_javascript_the_answers_are_there(report: Path, opens: Any) -> None:
    opened = await opens(report, java_script_enabled=False)
    assert await opened.page.locator("article.answer").count() == 5
    assert "needs JavaScript" in await opened.page.locator("noscript").inner_text()


@pytest.mark.parametrize("state", ["", HOSTILE_STATE])
@pytest.mark.parametrize("width", [1280, 400, 320])
async def test_the_page_never_scrolls_sideways(
    report: Path, opens: Any, width: int, state: str
) -> None:
    opened = await opens(report, state, viewport={"width": width, "height": 800})
    page = opened.page
    if state:
        await page.locator("#episode .strip").nth(1).wait_for()
    await page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert await page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert await page.locator("#episode").evaluate("it => it.scrollWidth - it.clientWidth") <= 0


# What is wider than what holds it; the heat map and drawn figures may be, and can be scrolled.
CUT = """() => [...document.querySelectorAll('.scroll:not(.drawn)')]
  .filter((one) => one.scrollWidth > one.clientWidth + 1 && !one.querySelector('.heat'))
  .map((one) => one.getAttribute('aria-label'))"""


async def test_at_400_pixels_no_table_is_cut(report: Path, opens: Any) -> None:
    opened = await opens(report, viewport={"width": 400, "height": 800})
    await opened.page.evaluate("document.querySelectorAll('details').forEach((d) => d.open = true)")
    assert await opened.page.evaluate(CUT) == []
    first = opened.page.locator("#cells ~ .scroll tbody tr").first
    assert "bounds" in await first.locator("td").nth(3).evaluate(
        "(cell) => getComputedStyle(cell, '::before').content"
    )
    assert await first.get_by_role("cell").count() == 5


async def test_figures_beside_the_page_are_seen_in_it(report: Path, opens: Any) -> None:
    opened = await opens(report)
    pictures = "[...document.images].map((one) => [one.alt.split(';')[0], one.naturalWidth > 0])"
    assert ["Forest plot of the cells", True] in await opened.page.evaluate(pictures)
    assert not opened.complaints


async def test_it_prints_its_figures_and_not_its_controls(report: Path, opens: Any) -> None:
    opened = await opens(report)
    await opened.page.emulate_media(media="print")
    assert not await opened.page.locator("#filters").is_visible()
    assert not await opened.page.locator("nav").is_visible()
    assert await opened.page.locator("article.answer").first.is_visible()
