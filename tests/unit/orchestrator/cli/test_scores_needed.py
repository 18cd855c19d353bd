"""A run that measured nothing does not end as if it had."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_run import make_run

from arena_core.errors import NothingScoredError
from orchestrator.cli.run_setup import _require_a_score
from orchestrator.report.run_report import read_run


def test_a_run_without_any_score_ends_with_an_exit_code_of_its_own(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run")
    _require_a_score(read_run(folder))
    for name in folder.evidence_names():
        (folder.evidence_folder(name) / "evidence.json").unlink()
    with pytest.raises(NothingScoredError) as caught:
        _require_a_score(read_run(folder))
    assert "none of 11 episodes could be scored" in caught.value.message
    assert "the first, agrees: unscored: unreadable" in caught.value.hint


def test_one_score_in_one_world_is_enough(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run")
    for name in folder.evidence_names()[1:]:
        (folder.evidence_folder(name) / "evidence.json").unlink()
    _require_a_score(read_run(folder))
