"""A suite is proven in an arm on a real site: what the arm breaks is named, and what it misses."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.agents.arena_process import Ended, arena
from support.tasks.small_suites import bells, write_suite

pytestmark = [pytest.mark.docker, pytest.mark.browser, pytest.mark.slow(minutes=1)]

# A check that is not fair: it reads the style of the agent's own page.
LOOKS: dict[str, object] = {
    "name": "plain",
    "when": "end",
    "locate": {"by": "page", "script": "getComputedStyle(document.documentElement).filter"},
    "match": {"how": "exact", "value": "none"},
}


def prove(cwd: Path, arm: str) -> Ended:
    sound, unfair = bells("sound"), bells("unfair")
    checks = [*unfair["checks"], LOOKS]  # type: ignore[misc]
    suite = write_suite(cwd, sound, {**unfair, "checks": checks})
    return arena("tasks", "lint", suite, "--prove", "--vary", arm, "--json", cwd=cwd)


def test_a_task_that_an_arm_breaks_is_an_error_that_names_arm_and_check(tmp_path: Path) -> None:
    ended = prove(tmp_path, "look=dark")
    assert ended.code == 5, ended.err
    [found] = [one for one in ended.document if one["severity"] == "error"]
    assert found["task"] == "unfair"
    assert found["message"].startswith("offline, look=dark: the reference must succeed, ended as")
    assert "check 'plain'" in found["message"]


def test_an_arm_without_effect_proves_nothing_and_is_no_error(tmp_path: Path) -> None:
    ended = prove(tmp_path, "page=notice@9")
    assert ended.code == 0, ended.err
    void = {one["task"]: one["message"] for one in ended.document if "void" in one["message"]}
    assert list(void) == ["sound", "unfair"]
    assert void["sound"].startswith("offline, page=notice@9: void: page=notice@9,v1 had no effect")
    assert "in the arm page=notice@9" in ended.err
