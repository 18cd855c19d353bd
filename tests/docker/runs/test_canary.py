"""`arena canary` on real pages: what holds, what was made to drift, and a site that is down."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from quick_cases import SLOW
from support.agents.arena_process import Ended, arena

pytestmark = [pytest.mark.docker, pytest.mark.browser]

DEMO = Path(__file__).parents[3] / "tasks" / "suites" / "demo.yaml"
NOWHERE = "en.wikipedia.org:443:127.0.0.1:9"


def suite_with(folder: Path, **changes: Mapping[str, Any]) -> Path:
    """Write a suite of demo tasks, some parts of which are not as their site is."""
    tasks = {one["id"]: one for one in yaml.safe_load(DEMO.read_text(encoding="utf-8"))["tasks"]}
    chosen = [tasks[name.replace("_", "-")] | dict(change) for name, change in changes.items()]
    path = folder / "kept.yaml"
    text = json.dumps({"suite": "kept", "version": 1, "title": "Kept", "tasks": chosen})
    path.write_text(text, encoding="utf-8")
    return path


def look(folder: Path, *words: str | Path) -> Ended:
    return arena("canary", *words, "--json", cwd=folder, env={"XDG_DATA_HOME": str(folder)})


def test_what_was_made_to_drift_is_found_with_its_step_and_the_nearest_element(
    tmp_path: Path,
) -> None:
    link = [{"do": "click", "role": "link", "name": "Samovars"}, {"do": "stop"}]
    there = {"name": "open", "when": "end", "locate": {"by": "url"}}
    elsewhere = there | {"match": {"how": "exact", "value": "wiki:/article/Copper"}}
    suite = suite_with(
        tmp_path,
        wiki_bells_of_bruges={},
        wiki_samovar={"reference": link},
        wiki_crucible_steel={"checks": [elsewhere]},
        wiki_shimano_founded={"reference": None},
    )
    ended = look(tmp_path, suite, "--offline")
    assert ended.code == 5, ended.err
    found = {one["task"]: one for one in ended.document["tasks"]}
    assert {name: one["status"] for name, one in found.items()} == {
        "wiki-bells-of-bruges": "valid",
        "wiki-samovar": "drifted",
        "wiki-crucible-steel": "drifted",
        "wiki-shimano-founded": "unknown",
    }
    assert found["wiki-bells-of-bruges"]["answer_seen"] is True
    renamed = found["wiki-samovar"]["drift"]
    assert renamed["at"] == "reference action 1"
    assert renamed["expected"] == "click link 'Samovars'"
    assert (renamed["nearest"][0]["role"], renamed["nearest"][0]["name"]) == ("link", "Samovar")
    assert Path(found["wiki-samovar"]["screenshot"]).is_file()
    moved = found["wiki-crucible-steel"]["drift"]
    assert (moved["at"], moved["kind"]) == ("check 'open'", "end check url exact")
    assert "wiki:/article/Steel" in moved["found"]
    assert len(ended.document["runs"]) == 2  # what would turn bad was played again
    again = look(tmp_path, suite, "--offline")
    assert len(again.document["runs"]) == 1  # and is bad already
    since = {one["task"]: one["since"] for one in again.document["tasks"]}
    assert since == {name: one["since"] for name, one in found.items()}
    [life] = arena(
        "canary", "report", "--json", cwd=tmp_path, env={"XDG_DATA_HOME": str(tmp_path)}
    ).document
    assert [one["counts"]["drifted"] for one in life["looks"]] == [2, 2]


@SLOW
def test_a_live_site_that_is_down_is_unreachable_and_a_staged_one_is_valid(tmp_path: Path) -> None:
    down = look(tmp_path, "demo", "wiki-*", "--online", "--resolve", NOWHERE)
    assert down.code == 5, down.err
    assert {one["status"] for one in down.document["tasks"]} == {"unreachable"}
    assert len(down.document["tasks"]) == 4
    assert all("en.wikipedia.org" in one["because"] for one in down.document["tasks"])
    staged = look(tmp_path, "demo", "wiki-samovar", "--online", "--staged")
    assert (staged.code, staged.document["tasks"][0]["status"]) == (0, "valid")
    assert staged.document["tasks"][0]["before"] is None  # its history is another


@SLOW
def test_a_run_with_a_canary_leaves_out_what_drifted_and_scores_what_holds(tmp_path: Path) -> None:
    link = [{"do": "click", "role": "link", "name": "Samovars"}, {"do": "stop"}]
    suite = suite_with(tmp_path, wiki_bells_of_bruges={}, wiki_samovar={"reference": link})
    words = ("--agent", "idle", "--online", "--staged", "--canary", "--out", "run", "--json")
    ended = arena(
        *("eval", "--suite", suite, *words), cwd=tmp_path, env={"XDG_DATA_HOME": str(tmp_path)}
    )
    assert ended.code == 0, ended.err
    scored = arena("score", "run", "--json", cwd=tmp_path).document
    assert {one["task"]: one["outcome"] for one in scored} == {
        "wiki-bells-of-bruges": "failure",
        "wiki-samovar": "unscored: drifted",
    }
    assert json.loads((tmp_path / "run" / "lock.json").read_text())["canary"] is True
