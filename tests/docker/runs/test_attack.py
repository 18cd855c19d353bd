"""A model that scores without the work is seen: `arena tasks attack`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.agents.arena_process import arena
from support.agents.scripted_model import Says, Script, ScriptedModel
from support.tasks.small_suites import bells, write_suite

from arena_core.actions import Stop

pytestmark = [pytest.mark.docker, pytest.mark.browser]


@pytest.mark.slow(minutes=2)
def test_a_guess_that_scores_is_listed_and_one_that_a_required_visit_stops_is_not(
    tmp_path: Path, scripted_model: Callable[[Script], ScriptedModel]
) -> None:
    lax = bells("lax")
    checks = [{**one, "required": one["when"] == "step"} for one in bells("")["checks"]]  # type: ignore[attr-defined]
    suite = write_suite(tmp_path, lax, bells("strict", checks=checks))
    model = scripted_model(lambda _: Says.action(Stop(answer="47")))
    asked = ("--model", "scripted", "--model-url", model.url, "--sight", "--json")
    ended = arena("tasks", "attack", str(suite), *asked, cwd=tmp_path)
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    assert found["played"] == 2
    assert found["scored"] == [
        {
            "task": "lax",
            "world": "offline",
            "repeat": 0,
            "steps": 1,
            "key_nodes_met": 0,
            "key_nodes": 1,
        }
    ]
    assert all("These are its checks" in request.prompt for request in model.requests)
