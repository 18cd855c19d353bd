"""A leaderboard as a person meets it: opened from a disk, wide and narrow, without a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from quick_cases import SLOW
from support.studies.board_studies import make_board_study

from orchestrator.analysis.study_report.leaderboard import write_leaderboard

pytestmark = [pytest.mark.browser, SLOW]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("leaderboard")
    first = make_board_study(folder / "first")
    second = make_board_study(folder / "second", "second", {"a-new-agent-with-a-long-name": 5})
    return write_leaderboard([first.path, second.path], folder / "out").page


@pytest.mark.parametrize("width", [1280, 390])
async def test_it_shows_all_and_loads_only_its_own_pictures(
    page: Path, opens: Any, width: int
) -> None:
    opened = await opens(page, viewport={"width": width, "height": 900})
    folder = page.parent.as_uri()
    assert all(url.startswith(f"{folder}/") for url in opened.requested)
    assert opened.complaints == []
    shown = "[document.documentElement.scrollWidth, innerWidth]"
    assert await opened.page.evaluate(shown) == [width, width]
    assert await opened.page.locator("img").evaluate_all("all => all.every(i => i.naturalWidth)")
    if width < 640:
        field = opened.page.locator("td[data-title=interval]").first
        assert (
            await field.evaluate("td => getComputedStyle(td, '::before').content") == '"interval"'
        )


async def test_a_row_leads_to_its_episodes_and_their_pictures(page: Path, opens: Any) -> None:
    opened = await opens(page)
    row = opened.page.locator("tr", has_text="a-new-agent-with-a-long-name").first
    await row.get_by_role("link", name="episodes").click()
    await opened.page.wait_for_url("**/studies/second/index.html#*")
    said = await opened.page.locator("#rows-said").inner_text()
    assert said.startswith("26 episodes with agent “a-new-agent-with-a-long-name”")
    assert await opened.page.evaluate("document.activeElement.id") == "episodes"
    await opened.page.locator("#rows a.open").first.click()
    picture = opened.page.locator("#episode .side img").first
    await picture.wait_for()
    assert await picture.evaluate("async image => { await image.decode(); return true }")
    assert await picture.evaluate("image => image.src.includes('/out/studies/second/')")
    assert opened.complaints == []
