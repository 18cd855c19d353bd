"""An episode as its page shows it."""

from __future__ import annotations

import gzip
import json
from typing import Any

from made_run import HOSTILE
from made_study import ATTACK, ATTACKED, UNREADABLE

from orchestrator.store.rescoring import each_rescored
from orchestrator.store.step_lines import OBSERVATIONS_FILE
from orchestrator.study_report.episode_document import episode_document


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
    assert [one["rung"] for one in found["resets"]] == ["recreate", "recreate"]
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
