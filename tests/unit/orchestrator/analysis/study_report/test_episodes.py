"""What the page shows of episodes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from support.runs.made_run import HOSTILE, picture
from support.studies.made_study import ATTACK, ATTACKED, UNREADABLE

from orchestrator.analysis.study_report.episodes import (
    COLUMNS,
    EpisodeIndex,
    Screenshots,
    episode_document,
)
from orchestrator.episode.jsonl_files import OBSERVATIONS_FILE
from orchestrator.runs.store.rescoring import each_rescored


def _rows(study: Any) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    index = EpisodeIndex()
    names = []
    for number, run in enumerate(study.runs):
        for one in each_rescored(run.folder):
            index.add(run=number, agent=run.label, suite="made", scored=one)
            names.append(f"{run.label}/{one.folder}")
    document = index.document()
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in document["rows"]]
    return document, dict(zip(names, rows, strict=True))


def test_rows_name_what_repeats_by_its_place(study: Any) -> None:
    document, rows = _rows(study)
    assert document["agents"] == ["careful", "hasty"]
    assert {task["id"] for task in document["tasks"]} == {
        "agrees",
        "parts",
        "gone",
        "broken",
        "hostile",
        "left",
    }
    won = rows["careful/offline-agrees-r0-a1"]
    assert document["outcomes"][won["outcome"]] == "success"
    assert (won["met"], won["nodes"], won["steps"], won["verdicts"]) == (1, 1, 3, "mm")
    lost = rows["careful/online-parts-r0-a1"]
    assert document["outcomes"][lost["outcome"]] == "failure"
    assert lost["verdicts"] == "mu"
    assert "44.99" in document["reasons"][lost["because"]]


def test_an_episode_that_cannot_be_read_is_unscored_and_began_at_no_moment(study: Any) -> None:
    document, rows = _rows(study)
    lost = rows[f"hasty/{UNREADABLE}"]
    assert document["outcomes"][lost["outcome"]] == "unscored: unreadable"
    assert lost["started"] is None
    assert rows["hasty/online-parts-r0-a1"]["started"] is not None


def test_what_an_episode_that_broke_off_did_not_meet_is_not_known(study: Any) -> None:
    _, rows = _rows(study)
    assert rows["careful/offline-broken-r0-a3"]["verdicts"] == "??"
    assert rows["careful/online-parts-r0-a1"]["verdicts"] == "mu"


def _documents(run: Any) -> dict[str, dict[str, Any]]:
    return {
        one.folder: episode_document(
            one,
            {"step-000.png": "step-000.png"},
            run.folder.evidence_folder(one.folder),
        )
        for one in each_rescored(run.folder)
    }


def test_steps_checks_and_resets_are_there(study: Any) -> None:
    found = _documents(study.runs[1])["offline-agrees-r0-a1"]
    actions = [step["action"] for step in found["steps"]]
    assert actions[0] == "opened the start pages"
    assert actions[2] == "click link “Lantern Kettle”"
    assert actions[3] == "answered: it is £39.99"
    assert [step["shot"] for step in found["steps"]] == ["step-000.png", None, None, None]
    assert found["steps"][2]["notes"] == [
        ["GET http://tracker.test/x", "refused: unknown host"],
    ]
    node, end = found["checks"]
    assert (node["name"], node["when"], node["status"], node["step"]) == (
        "product",
        "step",
        "met",
        2,
    )
    assert (end["name"], end["when"], end["status"], end["step"]) == ("price", "end", "met", None)
    assert [one["strategy"] for one in found["resets"]] == ["recreate", "recreate"]
    assert not found["networkKept"]


def test_changes_are_said_line_by_line_and_attacks_stay_texts(study: Any) -> None:
    found = _documents(study.runs[0])[ATTACKED]
    [change] = found["changes"]
    assert (change["check"], change["lines"], change["more"]) == (ATTACK, [ATTACK], 0)
    assert found["steps"][0]["title"] == ATTACK
    assert found["steps"][1]["url"] == "javascript:window.owned=5"
    assert found["steps"][2]["shot"] is None
    assert HOSTILE in found["steps"][3]["thought"]


def test_what_cannot_be_read_says_so(study: Any) -> None:
    found = _documents(study.runs[1])[UNREADABLE]
    assert found["steps"] == []
    assert "evidence.json" in found["because"]


def test_what_the_agent_saw_is_cut_and_a_damaged_file_is_named(study: Any) -> None:
    run, attempt = study.runs[1], "offline-parts-r0-a1"
    path = run.folder.evidence_folder(attempt) / OBSERVATIONS_FILE
    line = {
        "step": 1,
        "parts": {"axtree": {"text": "x" * 5000}, "screenshot": {"image": "a.png"}},
    }
    try:
        path.write_bytes(gzip.compress(json.dumps(line).encode()))
        found = _documents(run)[attempt]
        assert found["steps"][1]["seen"] == [["axtree", "x" * 4000, 1000]]
        assert found["steps"][0]["seen"] == []
        assert found["unread"] == ""
        path.write_bytes(b"no gzip")
        assert OBSERVATIONS_FILE in _documents(run)[attempt]["unread"]
    finally:
        path.unlink()


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
