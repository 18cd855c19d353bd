"""The scripts of `docs/scaling.md`, as each scheduler starts them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import yaml

from support.tasks.code_blocks import ROOT, blocks_of

PAGE: Final = ROOT / "docs" / "scaling.md"
SCHEDULERS: Final = ("slurm", "kubernetes", "github")


def _block(language: str, text: str) -> str:
    """Return the one block of the page in a language that has this text."""
    [found] = [
        block.text for block in blocks_of(PAGE) if block.language == language and text in block.text
    ]
    return found


def write_scripts(folder: Path) -> None:
    """Write the scripts of the page into a folder."""
    (folder / "shard.sh").write_text(_block("bash", "# shard.sh I/N"))
    (folder / "slurm.sh").write_text(_block("bash", "#SBATCH"))


def started(scheduler: str, number: int) -> tuple[list[str], Mapping[str, str]]:
    """Return the words that a scheduler runs for a shard, and the variables that it sets."""
    match scheduler:
        case "slurm":
            return ["bash", "slurm.sh"], {"SLURM_ARRAY_TASK_ID": str(number)}
        case "kubernetes":
            job = yaml.safe_load(_block("yaml", "kind: Job"))["spec"]
            assert (job["completionMode"], job["completions"]) == ("Indexed", 4)
            [container] = job["template"]["spec"]["containers"]
            words = [*container["command"], *container["args"]]
            return words, {"JOB_COMPLETION_INDEX": str(number - 1)}
        case "github":
            job = yaml.safe_load(_block("yaml", "matrix.shard"))["jobs"]["play"]
            assert job["strategy"]["matrix"] == {"shard": [1, 2, 3, 4]}
            [script] = [step["run"] for step in job["steps"] if "shard.sh" in step.get("run", "")]
            return ["bash", "-ec", script.replace("${{ matrix.shard }}", str(number))], {}
        case _:
            raise ValueError(scheduler)


def merging(scheduler: str) -> list[str]:
    """Return the words that merge what was played."""
    if scheduler != "github":
        return ["bash", "-ec", _block("bash", "arena merge shards/* --into whole")]
    steps = yaml.safe_load(_block("yaml", "matrix.shard"))["jobs"]["merge"]["steps"]
    return ["bash", "-ec", next(one["run"] for one in steps if "merge" in one.get("run", ""))]


def of_a_study() -> list[str]:
    """Return the words that play a study in two shards, merge and report it."""
    return ["bash", "-ec", _block("bash", "--into study-of-both")]


def run(
    words: list[str],
    variables: Mapping[str, str],
    cwd: Path,
    programs: Path = Path(sys.executable).parent,
) -> str:
    """Run a script to its end, and return what it wrote; it may not fail."""
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        words,
        cwd=cwd,
        env={**os.environ, "PATH": path, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
