from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from support.studies.made_study import make_study

from orchestrator.analysis.study_report.page import ReportedRun


@dataclass(frozen=True, slots=True)
class Made:
    path: Path
    runs: tuple[ReportedRun, ...]

    @property
    def report(self) -> Path:
        return self.path / "report"


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> Made:
    path = tmp_path_factory.mktemp("study")
    return Made(path, make_study(path))
