"""`arena tasks difficulty`: which templates are spent, as people and as programs read it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from support.agents.arena_process import Ended
from support.runs.small_runs import write_run

from arena_core.worlds import World


def test_spent_templates_are_named(call: Callable[..., Ended], tmp_path: Path) -> None:
    ends = {World.OFFLINE: {"easy": [True] * 5, "hard": [True, False]}}
    write_run(tmp_path / "run", "mine", ends, repeats=5)
    ended = call("tasks", "difficulty", str(tmp_path / "run"))
    assert "2 templates, of which 1 are spent" in ended.err
    rows = {line.split()[0]: line.split()[1:] for line in ended.out.splitlines()}
    assert rows["easy"] == ["mine", "5", "5", "yes"]
    assert rows["hard"] == ["mine", "1", "2"]
    told = json.loads(call("tasks", "difficulty", str(tmp_path / "run"), "--json").out)
    assert [one["is_spent"] for one in told] == [True, False]


def test_from_five_templates_on_it_says_how_hard_each_is(
    call: Callable[..., Ended], tmp_path: Path
) -> None:
    ends: dict[str, list[bool | None]] = {f"task-{at}": [True, False, True] for at in range(4)}
    write_run(tmp_path / "run", "mine", {World.OFFLINE: {**ends, "hard": [False] * 3}}, repeats=3)
    told = json.loads(call("tasks", "difficulty", str(tmp_path / "run"), "--json").out)
    logits = {one["template"]: one["difficulty"]["logit"] for one in told}
    assert max(logits, key=lambda name: logits[name]) == "hard"
    [row] = [
        line
        for line in call("tasks", "difficulty", str(tmp_path / "run")).out.splitlines()
        if line.startswith("hard")
    ]
    assert f"{logits['hard']:+.1f} (" in row
