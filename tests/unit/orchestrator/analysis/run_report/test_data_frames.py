"""Reports in a notebook: one line as they are shown, and all of it as a data frame."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from quick_cases import SLOW
from support.runs.made_run import make_run
from support.studies.make_findings import make_findings

from arena_core.errors import PrerequisiteError, UnknownNameError
from orchestrator import Arena
from orchestrator.analysis.run_report.run_report import RunReport, read_run
from orchestrator.analysis.studies.comparison import Comparison
from orchestrator.analysis.study_report.reporting import ComparedRuns
from orchestrator.runs.store.run_folder import RunFolder


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return make_run(tmp_path / "run")


@pytest.fixture
def report(run: RunFolder) -> RunReport:
    return read_run(run)


@pytest.fixture
def compared() -> ComparedRuns:
    return ComparedRuns(cast("Comparison", None), make_findings())


def test_a_report_is_shown_in_one_line(report: RunReport, compared: ComparedRuns) -> None:
    assert repr(report) == (
        "<RunReport run: oracle; offline 100.0% of 5 tasks (1 unscored),"
        " online 50.0% of 4 tasks (1 unscored), 1 not played>"
    )
    assert repr(compared).startswith("<ComparedRuns <StudyAnalysis ")
    assert len(repr(compared)) < 200


@SLOW
@pytest.mark.parametrize("table", ["episodes", "steps", "checks", "receipts"])
def test_a_frame_is_the_exported_table(run: RunFolder, report: RunReport, table: str) -> None:
    folder = Arena().runs.export(run.path, "csv").path
    with (folder / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        exported = list(csv.reader(file))

    frame = report.to_pandas(table)

    assert list(frame.columns) == exported[0]
    assert len(frame) == len(exported) - 1
    for at, name in enumerate(frame.columns):
        for row, value in zip(exported[1:], frame[name], strict=True):
            assert_is_exported(value, row[at], name)


def assert_is_exported(value: object, text: str, name: str) -> None:
    """Hold a value of a frame to what the exported file says."""
    import pandas as pd  # noqa: PLC0415  it takes a second to import

    if value is pd.NA or value is pd.NaT:
        assert text == "", name
    elif isinstance(value, (bool, np.bool_)):
        assert text == str(value).lower(), name
    elif isinstance(value, pd.Timestamp):
        assert text == value.strftime("%Y-%m-%dT%H:%M:%S.") + f"{value.microsecond // 1000:03}Z"
    elif isinstance(value, str):
        assert text == value.replace("\0", "␀"), name
    else:
        assert float(text) == value, name


def test_what_is_unscored_is_missing_and_no_failure(report: RunReport) -> None:
    episodes = report.to_pandas()

    unscored = episodes[episodes.outcome == "unscored"]
    assert len(unscored) == 2
    assert unscored.success.isna().all()
    rates = episodes.groupby("world").success.mean()
    assert rates.to_dict() == pytest.approx({"offline": 1.0, "online": 0.5})


def test_a_comparison_is_a_row_for_each_agent_suite_and_world(compared: ComparedRuns) -> None:
    frame = compared.to_pandas()

    assert len(frame) == len(compared.analysis.cells)
    assert list(frame.columns[:3]) == ["agent", "suite", "world"]
    assert list(frame.success) == [one.success for one in compared.analysis.cells]


def test_an_unknown_table_names_those_there_are(report: RunReport) -> None:
    with pytest.raises(UnknownNameError, match="no table 'shots'") as refused:
        report.to_pandas("shots")
    assert "episodes, steps, checks, receipts" in refused.value.hint


def test_without_pandas_it_says_what_installs_it(
    report: RunReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(PrerequisiteError, match=r"to_pandas\(\) needs pandas") as refused:
        report.to_pandas()
    assert refused.value.hint == "pip install 'arena-orchestrator[pandas]'"
