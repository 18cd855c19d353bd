"""Where a page finds screenshots, and what it takes for one."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_run import picture

from orchestrator.study_report.screenshots import Screenshots


def _run(path: Path) -> Path:
    folder = path / "evidence" / "attempt"
    folder.mkdir(parents=True)
    (folder / "step-000.png").write_bytes(picture())
    (path / "secret.png").write_bytes(b"secret")
    return path


def test_screenshots_of_a_study_stay_in_its_runs(tmp_path: Path) -> None:
    run = _run(tmp_path / "runs" / "a #1 %")
    shots = Screenshots(run, tmp_path / "report", tmp_path / "report" / "copies")
    assert shots.stay
    base = shots.base("attempt", ("step-000.png",))
    assert base == "../runs/a%20%231%20%25/evidence/attempt/"
    assert not shots.copies.exists()


def test_screenshots_from_elsewhere_are_placed_beside_and_take_no_room(tmp_path: Path) -> None:
    run = _run(tmp_path / "elsewhere" / "run")
    page = tmp_path / "compared" / "report"
    shots = Screenshots(run, page, page / "episodes" / "0" / "screenshots")
    for _ in range(2):  # a report that is written again finds them there
        assert shots.base("attempt", ("step-000.png",)) == "episodes/0/screenshots/attempt/"
    placed = shots.copies / "attempt" / "step-000.png"
    assert placed.read_bytes() == picture()
    assert placed.stat().st_nlink == 2


@pytest.mark.parametrize(
    "name",
    [
        None,
        "",
        "../../secret.png",
        "/etc/passwd",
        "..\\secret.png",
        "http://evil.test/x.png",
        "javascript:alert(1)",
        "evidence.json",
        "absent.png",
        "link.png",
    ],
)
def test_what_is_no_picture_of_the_attempt_is_none(tmp_path: Path, name: str | None) -> None:
    run = _run(tmp_path / "runs" / "a")
    (run / "evidence" / "attempt" / "link.png").symlink_to(run / "secret.png")
    shots = Screenshots(run, tmp_path / "report", tmp_path / "copies")
    assert shots.there("attempt", name) is None
    assert shots.there("attempt", "step-000.png") == "step-000.png"
