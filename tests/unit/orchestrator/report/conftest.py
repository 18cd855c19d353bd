from __future__ import annotations

from pathlib import Path

import pytest
from made_run import make_run

from orchestrator.report.run_report import RunReport, read_run


@pytest.fixture
def report(tmp_path: Path) -> RunReport:
    return read_run(make_run(tmp_path / "run"))
