"""A run on a Ray cluster of two nodes on one machine, each with an engine of its own.

Ray is in an environment of its own.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

import docker
import pytest
from support.runs.ledger_check import ledger_faults
from support.runs.second_engine import second_engine
from support.tasks.small_suites import bells, write_suite

import orchestrator
from arena_core.errors import InterruptedRunError
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
TASKS: Final = ("one", "two", "three", "four")  # no shard of those below is empty


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
        assert self._asked("kill") == "killed"

    def stop_one(self) -> int:
        """Stop the player of the second node, as a machine that hangs; return its process."""
        return int(self._asked("stop"))

    def _asked(self, command: str) -> str:
        self._commands.write(f"{command}\n")
        self._commands.flush()
        return self._output.readline().strip()


@contextmanager
def two_nodes(python: Path, engine: str) -> Iterator[Nodes]:
    """Start a cluster whose second node has this engine."""
    with subprocess.Popen(
        [python, "-m", "support.runs.ray_nodes", engine],
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
def engine() -> Iterator[str]:
    """Start a second engine, which shares nothing with the first, and send it the image."""
    with second_engine() as address:
        image = subprocess.Popen(["docker", "save", "arena/wiki:1"], stdout=subprocess.PIPE)
        with image:
            subprocess.check_call(["docker", "-H", address, "load"], stdin=image.stdout)
        yield address


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return write_suite(tmp_path, *map(bells, TASKS))


def evaluation(python: Path, suite: Path, *words: str) -> subprocess.Popen[str]:
    named = () if "--resume" in words else ("--suite", suite.name)
    return subprocess.Popen(
        [python, "-m", "orchestrator.cli.entry", "eval", *named, *words],
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


def first_container(engine: str) -> None:
    """Wait until a container starts on an engine."""
    words = ["docker", "-H", engine, "events", "--filter", "event=start", "--format", "{{.ID}}"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as events:
        assert events.stdout is not None
        assert events.stdout.readline()
        events.terminate()


def test_a_node_killed_in_the_middle_of_a_shard_has_all_of_it_played_by_the_other(
    python: Path, engine: str, suite: Path
) -> None:
    with evaluation(python, suite, "--repeats", "3", "--out", "alone") as alone:
        _, said = alone.communicate()
    assert alone.returncode == 0, said
    with two_nodes(python, engine) as nodes:
        words = ("--repeats", "3", "--ray-shards", "4", "--ray", nodes.address)
        with evaluation(python, suite, *words, "--out", "spread") as spread:
            first_container(engine)
            nodes.kill_one()
            _, said = spread.communicate()
    assert spread.returncode == 0, said
    players = re.findall(r"was played on (.+);", said)
    assert len(players) == 4
    assert len(set(players)) == 1, "the node was killed in its first shard"
    left = subprocess.check_output(["docker", "-H", engine, "ps", "--all", "--quiet"])
    assert left == b"", "the player of the node that was lost left a container"
    run = suite.parent / "spread"
    assert ledger_faults([run]) == []
    assert verdicts(read(run)) == verdicts(read(suite.parent / "alone"))
    assert not (suite.parent / "spread.shards").exists()


def test_a_node_that_is_slow_has_its_shard_played_by_the_other_too(
    python: Path, engine: str, suite: Path
) -> None:
    with two_nodes(python, engine) as nodes:
        words = ("--repeats", "2", "--ray-shards", "4", "--ray", nodes.address, "--out", "spread")
        with evaluation(python, suite, *words) as spread:
            first_container(engine)
            stopped = nodes.stop_one()
            _, said = spread.communicate()
            os.kill(stopped, signal.SIGKILL)  # one that hangs for good ends with its machine alone
    assert spread.returncode == 0, said
    assert said.count("is slow: a second node does it") == 1
    assert said.count("the slower one is dropped") == 1
    assert len(set(re.findall(r"was played on (.+);", said))) == 1
    assert ledger_faults([suite.parent / "spread"]) == []


def test_a_run_goes_on_with_another_cluster(python: Path, suite: Path) -> None:
    with two_nodes(python, "") as nodes:
        words = ("--repeats", "2", "--ray-shards", "4", "--ray", nodes.address, "--out", "spread")
        with evaluation(python, suite, *words) as begun:
            assert begun.stderr is not None
            first = next(line for line in begun.stderr if "was played on" in line)
            begun.send_signal(signal.SIGINT)
            _, said = begun.communicate()
    assert begun.returncode == InterruptedRunError.exit_code, first + said
    assert "arena eval --resume spread --ray" in said
    kept = {path.name for path in (suite.parent / "spread.shards").glob("[0-9]*")}
    assert 1 <= len(kept) < 4
    with (
        two_nodes(python, "") as nodes,
        evaluation(python, suite, "--resume", "spread", "--ray", nodes.address) as other,
    ):
        _, said = other.communicate()
    assert other.returncode == 0, said
    assert said.count("was played on") == 4 - len(kept)
    assert ledger_faults([suite.parent / "spread"]) == []


STUDY: Final = """\
name: spread
agents:
  steady: {agent: oracle}
  shaky: {agent: oracle, options: {error_rate: 0.25, seed: 7}}
worlds: [offline]
suites:
  - suite: SUITE
repeats: 1
seed: 1
questions:
  - {id: steady-better, kind: difference, of: agents, first: steady, second: shaky}
"""


def test_a_study_goes_on_with_another_cluster_and_is_that_of_one_machine(
    python: Path, suite: Path
) -> None:
    (suite.parent / "study.yaml").write_text(STUDY.replace("SUITE", suite.name))

    def study(*words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [python, "-m", "orchestrator.cli.entry", "study", *words],
            cwd=suite.parent,
            env={**os.environ, **SETTINGS},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    words = ("run", "study.yaml", "--out", "spread", "--workers", "1", "--ray")
    with two_nodes(python, "") as nodes, study(*words, nodes.address, "--ray-shards", "2") as begun:
        assert begun.stderr is not None
        first = next(line for line in begun.stderr if "was played on" in line)
        begun.send_signal(signal.SIGINT)
        _, said = begun.communicate()
    assert begun.returncode == InterruptedRunError.exit_code, first + said
    assert "what came is kept; the same command continues" in said
    with two_nodes(python, "") as nodes, study(*words, nodes.address) as other:
        _, said = other.communicate()
    assert other.returncode == 0, said
    assert said.count("was played on") == 1
    assert not (suite.parent / "spread.shards").exists()
    runs = sorted((suite.parent / "spread" / "runs").iterdir())
    assert [ledger_faults([one]) for one in runs] == [[], []]
    with study("verify", "spread") as verified:
        _, said = verified.communicate()
    assert verified.returncode == 0, said
