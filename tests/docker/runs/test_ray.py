"""A run on a Ray cluster of two nodes on one machine: Ray's own, in an environment of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

import docker
import pytest
from support.tasks.small_suites import bells, write_suite

import orchestrator
from arena_core.user_cache import user_cache
from evaluators.verdicts import Outcome, Verdict
from orchestrator.analysis.run_report.run_report import RunReport, read_run
from orchestrator.runs.store.ledger import EpisodeKey
from orchestrator.runs.store.run_folder import RunFolder

pytestmark = [pytest.mark.docker, pytest.mark.browser, pytest.mark.slow(minutes=10)]

ROOT = Path(orchestrator.__file__).parents[1]
RAY: Final = "ray==2.60.0"
# Loopback alone, nothing reported to anybody, and patience with a busy machine.
SETTINGS: Final = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # so that it takes 127.0.0.1 for its address
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_health_check_timeout_ms": "60000",
    "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")]),
}
TASKS: Final = ("one", "two", "three", "four")


@pytest.fixture(scope="module")
def python() -> Path:
    """Return the Python of an environment with Ray, on top of the one of the tests."""
    folder = user_cache() / "tests" / RAY
    found = folder / "bin" / "python"
    if not (folder / "ready").exists():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.check_call([sys.executable, "-m", "venv", folder])
        packages = folder / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
        below = Path(docker.__file__).parents[1]
        (packages / "below.pth").write_text(f"{below}\n", encoding="utf-8")
        subprocess.check_call([found, "-m", "pip", "install", "--quiet", RAY])
        (folder / "ready").touch()
    return found


class Nodes:
    """A cluster of two nodes.

    Attributes:
        address: as `--ray` takes it.
    """

    def __init__(self, output: IO[str], commands: IO[str]) -> None:
        self._output, self._commands = output, commands
        self.address = output.readline().strip()

    def kill_one(self) -> None:
        self._commands.write("kill\n")
        self._commands.flush()
        assert self._output.readline() == "killed\n"


@contextmanager
def two_nodes(python: Path) -> Iterator[Nodes]:
    with subprocess.Popen(
        [python, "-m", "support.runs.ray_nodes"],
        env={**os.environ, **SETTINGS},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as cluster:
        assert cluster.stdout is not None
        assert cluster.stdin is not None
        nodes = Nodes(cluster.stdout, cluster.stdin)
        try:
            yield nodes
        finally:
            cluster.stdin.close()


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return write_suite(tmp_path, *map(bells, TASKS))


def evaluation(python: Path, suite: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [python, "-m", "orchestrator.cli.entry", "eval", "--suite", suite.name, *words],
        cwd=suite.parent,
        env={**os.environ, **SETTINGS},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def verdicts(report: RunReport) -> Mapping[EpisodeKey, tuple[Outcome, tuple[Verdict, ...]]]:
    return {one.key: (one.score.outcome, one.score.verdicts) for one in report.episodes}


def read(path: Path) -> RunReport:
    return read_run(RunFolder.open(path))


def test_a_run_on_two_nodes_has_the_verdicts_of_a_run_here(python: Path, suite: Path) -> None:
    alone = evaluation(python, suite, "--out", "alone")
    _, said = alone.communicate()
    assert alone.returncode == 0, said
    with two_nodes(python) as nodes:
        spread = evaluation(python, suite, "--ray", nodes.address, "--out", "spread")
        _, said = spread.communicate()
    assert spread.returncode == 0, said
    assert said.count("was played on") == len(TASKS)
    merged = read(suite.parent / "spread")
    assert verdicts(merged) == verdicts(read(suite.parent / "alone"))
    assert not (suite.parent / "spread.shards").exists()


def test_a_node_killed_in_the_middle_has_its_shards_played_by_the_other(
    python: Path, suite: Path
) -> None:
    with two_nodes(python) as nodes:
        spread = evaluation(
            *(python, suite, "--ray", nodes.address, "--out", "spread"),
            *("--repeats", "3", "--ray-shards", "6"),
        )
        assert spread.stderr is not None
        lines: list[str] = []
        is_killed = False
        for line in spread.stderr:
            lines.append(line)
            if "was played on" in line and not is_killed:
                nodes.kill_one()
                is_killed = True
        assert spread.wait() == 0, "".join(lines)
    assert is_killed
    merged = read(suite.parent / "spread")
    assert sorted(one.key for one in merged.episodes) == sorted(
        EpisodeKey(task, world, repeat)
        for task in TASKS
        for world in merged.lock.worlds
        for repeat in range(3)
    )
    assert len(merged.attempts) == 3 * len(TASKS)
