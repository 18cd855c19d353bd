"""The composite GitHub Action, by its own commands in bash, as a runner calls them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from quick_cases import SLOW
from support.runs.small_runs import write_run
from support.tasks.code_blocks import ROOT

from arena_core.worlds import World

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
PLAY = "Play and compare"
# Writes its arguments down, and a summary where it is told to.
FAKE = """#!/bin/bash
printf '%s\\n' "$@" > called
while [ $# -gt 0 ]; do [ "$1" != --summary ] || echo "## said" > "$2"; shift; done
exit ${CODE:-0}
"""
REAL = f"""#!/bin/bash
exec {sys.executable} -c 'from orchestrator.cli.start import main; main()' "$@"
"""


@dataclass(frozen=True)
class Ran:
    code: int
    summary: str
    outputs: str
    said: str


def play(
    folder: Path, arena: str, inputs: Mapping[str, str], *, name: str = PLAY, **more: str
) -> Ran:
    """Run a step as GitHub's runner does: inputs and defaults in the environment."""
    (folder / "bin").mkdir(exist_ok=True)
    program = folder / "bin" / "arena"
    program.write_text(arena)
    program.chmod(0o755)
    step: dict[str, Any] = STEPS[name]
    given = {name: one["default"] for name, one in ACTION["inputs"].items()} | dict(inputs)
    env = {
        key: given[re.fullmatch(r"\$\{\{ inputs\.(.*) \}\}", value)[1]]  # type: ignore[index]
        for key, value in step["env"].items()
    }
    files = {"GITHUB_STEP_SUMMARY": folder / "said.md", "GITHUB_OUTPUT": folder / "outputs"}
    for path in files.values():
        path.write_text("before\n")
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder,
        env={
            **os.environ,
            **env,
            **more,
            **{key: str(path) for key, path in files.items()},
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    summary, outputs = (path.read_text() for path in files.values())
    return Ran(done.returncode, summary, outputs, done.stdout + done.stderr)


def test_inputs_reach_commands_by_the_environment_alone() -> None:
    for step in STEPS.values():
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"
    used = re.findall(r"inputs\.([a-z-]+)", str(ACTION["runs"]))
    assert set(used) == set(ACTION["inputs"])


def test_what_is_given_becomes_arguments_and_nothing_of_it_a_command(tmp_path: Path) -> None:
    hostile = "x'; touch owned; $(touch owned) `touch owned`"
    inputs = {"agent": hostile, "against": "my base.json", "args": "--online\n\n--seed\n7\n"}
    ran = play(tmp_path, FAKE, inputs)
    assert ran.code == 0, ran.said
    words = (tmp_path / "called").read_text().splitlines()
    assert words[:3] == ["ci", "--suite", "smoke"]
    assert words[words.index("--agent") + 1] == hostile
    assert words[words.index("--against") + 1] == "my base.json"
    assert words[-3:] == ["--online", "--seed", "7"]
    assert "--min-success" not in words
    assert "--agent-cmd" not in words
    assert not (tmp_path / "owned").exists()
    assert ran.summary == "before\n## said\n"
    assert "run=arena-ci/run" in ran.outputs


@pytest.mark.parametrize(
    ("images", "called"),
    [
        ("", ["build --suite smoke"]),
        ("is there.tar", ["images load is there.tar", "build --suite smoke"]),
        ("not.tar", ["build --suite smoke", "images save not.tar --suite smoke"]),
    ],
)
def test_saved_images_are_loaded_or_saved_for_the_next_run(
    tmp_path: Path, images: str, called: list[str]
) -> None:
    (tmp_path / "is there.tar").touch()
    note = '#!/bin/bash\necho "$@" >> called\n'
    ran = play(tmp_path, note, {"images": images}, name="Load or build the images")
    assert ran.code == 0, ran.said
    assert (tmp_path / "called").read_text().splitlines() == called


@pytest.mark.parametrize("code", [1, 90, 130])
def test_the_exit_code_is_that_of_arena_and_the_summary_is_shown_all_the_same(
    tmp_path: Path, code: int
) -> None:
    ran = play(tmp_path, FAKE, {"min-success": "0.8"}, CODE=str(code))
    assert (ran.code, ran.summary) == (code, "before\n## said\n")


@SLOW
def test_arena_itself_takes_the_arguments_and_a_drop_fails_the_step(tmp_path: Path) -> None:
    """A finished run in place of one that is played; options of what to play are left away."""
    tasks = [f"task-{number}" for number in range(8)]
    for name, success in (("base", True), ("now", False)):
        outcomes = {World.OFFLINE: {task: [success] for task in tasks}}
        write_run(tmp_path / name, "mine", outcomes)
    finished = REAL.replace('"$@"', "ci --run now --against base --summary arena-ci/summary.md")
    ran = play(tmp_path, finished, {"against": "base"}, PYTHONPATH=str(ROOT))
    assert ran.code == 1, ran.said
    assert "a significant drop" in ran.said
    assert "❌ dropped" in ran.summary
    refused = play(tmp_path, REAL, {"agent": "idle"}, PYTHONPATH=str(ROOT))
    assert refused.code == 2, refused.said
    assert "there is nothing to hold the agent to" in refused.said
