"""A report of ten thousand episodes stays usable: it is small, opens soon, and filters at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.runs.many_episodes import make_many
from support.studies.make_findings import make_findings

from orchestrator.analysis.study_report.page import ReportedRun, write_study_report

pytestmark = [pytest.mark.browser, pytest.mark.slow(minutes=5)]

_COUNT = 10_000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large")
    run = ReportedRun(label="many", folder=make_many(folder / "runs" / "many", _COUNT))
    return write_study_report(make_findings(tasks=100), [run], folder / "report")


def test_it_is_small(large: Path) -> None:
    assert large.stat().st_size < 3_000_000


async def test_it_opens_within_three_seconds_and_filters_within_one(
    large: Path, opens: Any
) -> None:
    opened = await opens(large)
    page = opened.page
    assert (await page.locator("#rows-said").inner_text()).startswith("10,000 episodes: 1 to 50")
    assert await page.locator("#rows tbody tr").count() == 50
    assert await page.locator("#heat tbody tr").count() == 40
    entry = "performance.getEntriesByType('navigation')[0].loadEventEnd"
    assert await page.evaluate(entry) < 3000
    filtering = """() => {
        const began = performance.now();
        const field = document.querySelector('[name=q]');
        field.value = 'task-07';
        change({q: 'task-07', outcome: 'failure', sort: 'started', down: '1'});
        return performance.now() - began;
    }"""
    assert await page.evaluate(filtering) < 1000
    assert {row[0][:7] for row in await opened.rows()} == {"task-07"}
    await page.locator("#rows a.open").first.click()
    await page.locator("#episode .strip").nth(1).wait_for()
    assert len([url for url in opened.requested if url.endswith(".js")]) == 2
    assert opened.complaints == []
