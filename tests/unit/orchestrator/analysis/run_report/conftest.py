from __future__ import annotations

from pathlib import Path

import pytest
from support.runs.made_run import make_run

from orchestrator.analysis.run_report.run_report import RunReport, read_run


@pytest.fixture
def report(tmp_path: Path) -> RunReport:
    return read_run(make_run(tmp_path / "run"))
