"""The examples of "Bring your agent" play their task as their first lines say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.agents.arena_process import ArenaProcess

pytestmark = [pytest.mark.docker, pytest.mark.browser]

EXAMPLES = Path(__file__).parents[3] / "examples"


def run_example(name: str, *words: str | Path, program: str = "play.py") -> list[str]:
    """Run an example's program, and return the lines that it printed."""
    done = subprocess.run(
        [sys.executable, EXAMPLES / name / program, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_example_of_a_python_class(tmp_path: Path) -> None:
    words = ("eval", "--agent", "bruges:Agent", "wiki-bells-of-bruges", "--json")
    done = subprocess.run(
        [Path(sys.executable).with_name("arena"), *words, "--out", tmp_path / "run"],
        cwd=EXAMPLES / "python",
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["totals"]["offline"]["success"] == 1.0


def test_the_example_of_http(tmp_path: Path) -> None:
    words = ("serve", "--port", "0", "--json", "--out", tmp_path / "out")
    with ArenaProcess(*words, cwd=tmp_path) as serving:
        serving.hear("until Ctrl-C")
        served = json.loads(serving.printed(r"(?m)^\}"))
        said = run_example("http", served["url"], served["token_file"])
        serving.interrupt()
        assert serving.wait().code == 0
    assert said[0].startswith("How many bells")
    assert said[-1] == "success 1.0"
    assert not Path(served["token_file"]).exists()
    (folder,) = (tmp_path / "out").iterdir()
    assert (folder / "lock.json").is_file()


def test_the_example_of_gymnasium() -> None:
    said = run_example("gymnasium")
    assert said[0].startswith("How many bells")
    assert said[-1] == "success 1.0"


def test_the_example_of_mcp(tmp_path: Path) -> None:
    configured = tmp_path / "client.json"
    with ArenaProcess("mcp", "--task", "demo/wiki-bells-of-bruges", cwd=tmp_path) as serving:
        serving.hear("until the episode is over")
        configured.write_text(serving.printed(r"(?m)^\}"), encoding="utf-8")
        said = run_example("mcp", configured)
        assert serving.wait().code == 0
    assert said[0].startswith("How many bells")
    assert said[-1] == "success 1.0"


@pytest.mark.slow(minutes=3)
def test_the_example_of_a_tree_search_undoes_what_was_wrong() -> None:
    said = run_example("tree_search", program="search.py")
    assert said[0] == "bought the wrong one, worth 0.0: going back"
    assert any("worth 0.0" in line for line in said[1:-1])
    assert "worth 1.0" in said[-2]
    assert said[-1] == "success"


@pytest.mark.slow(minutes=3)
def test_the_example_of_a_group_of_rollouts(tmp_path: Path) -> None:
    words = ("serve", "--port", "0", "--json", "--workers", "5", "--checkpoints")
    with ArenaProcess(*words, cwd=tmp_path) as serving:
        serving.hear("until Ctrl-C")
        served = json.loads(serving.printed(r"(?m)^\}"))
        said = run_example("rollouts", served["url"], served["token_file"])
        serving.interrupt()
        assert serving.wait().code == 0
    assert said == [
        "£44.95: success",
        "44.95 GBP: success",
        "£1,157.36: failure",
        "it cannot be seen: failure",
        "value of the state: 0.5; advantages: [0.5, 0.5, -0.5, -0.5]",
    ]
