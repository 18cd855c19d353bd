"""Instances that a seed draws are asked of a real site, and prove."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from support.agents.arena_process import arena

from tasks.loader import load_suite

pytestmark = [pytest.mark.docker, pytest.mark.browser]

GUIDE = Path("docs/keep-a-suite-fresh.md").resolve()


def guide_suite(folder: Path) -> Path:
    """Write the suite of the guide's section on instances."""
    _, _, section = GUIDE.read_text(encoding="utf-8").partition("## Draw fresh instances")
    block = re.search(r"```yaml\n(.*?)```", section, re.DOTALL)
    assert block is not None
    path = folder / "labels.yaml"
    path.write_text(block[1], encoding="utf-8")
    return path


@pytest.mark.slow(minutes=3)
def test_what_is_drawn_is_asked_once_the_world_is_set_up_and_proves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    suite = guide_suite(tmp_path)
    refused = arena("eval", "--suite", str(suite), "--agent", "oracle", cwd=tmp_path)
    assert refused.code == 5
    assert "arena tasks instantiate" in refused.err
    drawn = arena("tasks", "instantiate", str(suite), "--seed", "7", cwd=tmp_path)
    assert drawn.code == 0, drawn.err
    assert "2 tasks to ask of their sites" in drawn.err
    assert re.search(r"\[2/2\] labelled-notes-s7-[12]\n", drawn.err)
    written = tmp_path / "labels-s7.yaml"
    tasks = load_suite(str(written)).tasks
    assert [task.id for task in tasks] == ["labelled-notes-s7-1", "labelled-notes-s7-2"]
    for task in tasks:
        # Drawn values are set up, so more than golden holds is found; the oracle answers with it.
        (count,) = (check for check in task.checks if check.name == "count")
        assert int(count.match.model_dump()["value"]) > 0
        assert task.reference is not None
    proven = arena("tasks", "lint", str(written), "--prove", cwd=tmp_path)
    assert proven.code == 0, proven.err
    assert "labels-s7.yaml:" not in proven.out
    before = written.read_bytes()
    arena("tasks", "instantiate", str(suite), "--seed", "7", cwd=tmp_path)
    assert written.read_bytes() == before


@pytest.mark.slow(minutes=3)
def test_what_a_site_holds_is_drawn_and_proves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    suite = guide_suite(tmp_path)
    document = yaml.safe_load(suite.read_text(encoding="utf-8"))
    [template] = document["templates"]
    section = GUIDE.read_text(encoding="utf-8").partition("In place of `params`")[2]
    block = re.search(r"```yaml\n(.*?)```", section, re.DOTALL)
    assert block is not None
    rows = yaml.safe_load(block[1])
    del template["draw"], template["task"]["given"]
    template["task"]["intent"] = 'I have {notes} notes or so; how many have the label "{label}"?'
    template |= {**rows, "instances": 2}
    suite.write_text(yaml.safe_dump(document), encoding="utf-8")
    drawn = arena("tasks", "instantiate", str(suite), "--seed", "7", cwd=tmp_path)
    assert drawn.code == 0, drawn.err
    written = tmp_path / "labels-s7.yaml"
    assert "\n# Asked of arena/tools:1, sha256:" in written.read_text(encoding="utf-8")
    for task in load_suite(str(written)).tasks:
        (count,) = (check for check in task.checks if check.name == "count")
        assert int(count.match.model_dump()["value"]) >= 3
    proven = arena("tasks", "lint", str(written), "--prove", cwd=tmp_path)
    assert proven.code == 0, proven.err
    assert "error" not in proven.out
