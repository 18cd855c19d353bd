"""The reliability profile from evidence on disk to the page, the tables and the JSON document."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from quick_cases import SLOW
from support.studies.profiled_runs import REPEATS, TASKS, analyse_runs, write_profiled_runs

from orchestrator.analysis.figures.tables import BREAKDOWNS
from orchestrator.analysis.studies.findings import StudyAnalysis
from orchestrator.analysis.study_report.page import write_study_report

ALL: Final = len(TASKS) * REPEATS


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[StudyAnalysis, str]:
    folder: Path = tmp_path_factory.mktemp("profile")
    runs = write_profiled_runs(folder / "runs")
    analysis = analyse_runs(runs)
    page = write_study_report(analysis, runs, folder / "report")
    return analysis, page.read_text(encoding="utf-8")


def rows(analysis: StudyAnalysis, name: str) -> dict[str, dict[str, str]]:
    """Return a table by agent and title; of two columns of one title, the last."""
    table = BREAKDOWNS[name]
    found = {row[0]: dict(zip(table.titles, row, strict=True)) for row in table.rows(analysis)}
    assert all(len(row) == len(table.numbers) for row in table.rows(analysis))
    return found


@SLOW
def test_collateral_is_over_the_episodes_whose_task_looks(
    made: tuple[StudyAnalysis, str],
) -> None:
    found = rows(made[0], "collateral")
    hasty = found["hasty"]
    assert hasty["looked at"] == f"18 of {ALL}"
    assert (hasty["tasks"], hasty["with collateral"]) == ("6", "22%")  # 4 of 18
    assert hasty["episodes by their worst"] == "removed 1, changed 2, added 1"
    assert hasty["all asked done"] == "4"
    assert hasty["changes"] == "rows removed 2, rows changed 1, rows added 2, other 40"
    careful = found["careful"]
    assert (careful["with collateral"], careful["changes"]) == ("0%", "none")


def test_where_nothing_was_looked_at_there_is_no_number(made: tuple[StudyAnalysis, str]) -> None:
    mute = rows(made[0], "collateral")["mute"]
    assert mute["looked at"] == "0 of 18"
    assert {mute[title] for title in ("with collateral", "interval", "changes")} == {"–"}


def test_calibration_tells_the_careful_from_the_hasty(made: tuple[StudyAnalysis, str]) -> None:
    found = rows(made[0], "calibration")
    careful, hasty, mute = found["careful"], found["hasty"], found["mute"]
    assert careful["stated"] == hasty["stated"] == f"{ALL} of {ALL}"
    assert (careful["AUROC"], hasty["AUROC"]) == ("1.00", "0.50")
    assert careful["Brier"].startswith("0.05 (")
    assert (careful["Brier of the rate"], hasty["Brier of the rate"]) == ("0.19", "0.22")
    assert hasty["confidence"] == "95%"
    assert hasty["too sure by (points)"].startswith("+")
    assert (mute["stated"], mute["tasks"]) == ("0 of 18", "0")
    assert {mute[title] for title in ("confidence", "success", "Brier", "AUROC")} == {"–"}


def test_a_missing_interval_is_a_dash_as_in_other_tables(made: tuple[StudyAnalysis, str]) -> None:
    analysis = made[0]
    bare = replace(
        analysis,
        reliability=tuple(
            replace(
                one,
                outcome=replace(one.outcome, interval=None),
                path=replace(one.path, interval=None),
            )
            for one in analysis.reliability
        ),
    )
    for name in ("reliability", "collateral", "calibration"):
        assert all(all(row) for row in BREAKDOWNS[name].rows(bare)), name
    assert all(row.count("–") >= 3 for row in BREAKDOWNS["reliability"].rows(bare))


def test_the_page_shows_them_and_the_document_holds_them(made: tuple[StudyAnalysis, str]) -> None:
    analysis, page = made
    assert "<h3>Collateral changes</h3>" in page
    assert "<h3>Calibration</h3>" in page
    document: dict[str, Any] = json.loads(json.dumps(analysis.document()))
    hasty = document["collateral"][1]
    assert hasty["worst"] == [["removed", 1], ["changed", 2], ["added", 1]]
    assert hasty["harmed"]["episodes"] == 18
    assert document["calibration"][1]["confidence"] == pytest.approx(0.95)
    assert document["calibration"][2]["brier"] is None


@SLOW
def test_runs_without_either_have_neither(tmp_path: Path) -> None:
    mute = write_profiled_runs(tmp_path)[2:]
    analysis = analyse_runs(mute)
    assert (analysis.collateral, analysis.calibration) == ((), ())
    page = write_study_report(analysis, mute, tmp_path / "report").read_text(encoding="utf-8")
    assert "<h3>Calibration</h3>" not in page
    assert "<h3>Collateral changes</h3>" not in page
