"""The table of all episodes."""

from __future__ import annotations

from typing import Any

from made_study import UNREADABLE

from orchestrator.store.rescoring import each_rescored
from orchestrator.study_report.episode_index import COLUMNS, EpisodeIndex


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
