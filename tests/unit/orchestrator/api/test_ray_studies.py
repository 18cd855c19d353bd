"""Studies on a Ray cluster; the cluster itself is tried in `tests/docker/runs/test_ray.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.runs.ray_cluster import Nodes

from arena_core.errors import ArenaError, ImageError, StoreError, UsageError
from orchestrator import Arena
from orchestrator.api import ray_driver
from orchestrator.runs.ray_node import run_arena

STUDY = """\
name: spread
agents:
  one: {agent: oracle}
  two: {agent: oracle, options: {error_rate: 0.25}}
worlds: [offline]
suites: [{suite: demo, tasks: [wiki-*]}]
repeats: 1
seed: 1
questions:
  - {id: better, kind: difference, of: agents, first: one, second: two}
"""


async def failed(study: Path, out: Path, **how: Any) -> ArenaError:
    """Return the error in which a study on the cluster ends."""
    async with Arena() as arena:
        with pytest.raises(ArenaError) as found:
            await arena.ray.study(study, out=out, **how)
    return found.value


def write(study: Path, text: str) -> None:
    study.write_text(text)


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study.yaml"
    write(path, STUDY)
    return path


async def test_a_study_that_was_cut_continues_as_it_was_and_of_the_same_file_alone(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = dict.fromkeys(range(4), ImageError("other images"))
    nodes, out = Nodes({}, others), tmp_path / "out"
    monkeypatch.setattr(ray_driver, "RayCluster", nodes)
    first = await failed(study, out, shards=3, workers=1)
    assert "shard 1/3 failed on node n2: other images" in first.message
    assert nodes.orders[-1]["spec"]["pace"] == {"workers": 1}
    assert nodes.orders[-1]["images"] == {"arena/wiki:1": "sha256:1"}
    again = await failed(study, out)
    assert "shard 1/3" in again.message, "it is not cut anew"
    assert isinstance(await failed(study, out, shards=4), UsageError)
    write(study, STUDY.replace("0.25", "0.5"))
    changed = await failed(study, out)
    assert isinstance(changed, StoreError)
    assert "was changed since its first shards were asked for" in changed.message
    assert not out.exists()


async def test_a_budget_that_each_shard_would_have_is_refused(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    asked = STUDY.replace("one: {agent: oracle}", "one: {agent: chat, options: {model: m}}")
    write(study, asked + "budget: {max_tokens: 1000}\n")
    error = await failed(study, tmp_path / "out")
    assert "its budget would be each shard's" in error.message


async def test_an_agents_secret_goes_to_the_nodes_and_is_written_nowhere(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "keyed.py").write_text(_KEYED)
    monkeypatch.syspath_prepend(tmp_path)
    write(study, STUDY.replace("one: {agent: oracle}", "one: {agent: 'keyed:Keyed'}"))
    nodes = Nodes({}, dict.fromkeys(range(4), ImageError("other images")))
    monkeypatch.setattr(ray_driver, "RayCluster", nodes)
    secret = {"one": {"api_key": "sk-hidden"}}
    await failed(study, tmp_path / "out", shards=3, options=secret)
    assert [order["spec"]["options"] for order in nodes.orders] == [secret, secret]
    plan = ray_driver.shards_of(tmp_path / "out") / ray_driver.PLAN
    assert "sk-hidden" not in plan.read_text()


def test_the_words_of_a_player_that_are_secret_stand_in_no_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any user of a node may read those; the player has them all the same."""
    entry = tmp_path / "orchestrator" / "cli" / "entry.py"
    entry.parent.mkdir(parents=True)
    for package in entry.parents[:2]:
        (package / "__init__.py").touch()
    entry.write_text(_SHOWS_WORDS)
    monkeypatch.chdir(tmp_path)
    ended = run_arena(["study"], {}, tmp_path / "said", secret=["--agent-option=one.key=sk"])
    assert ended["code"] == 7
    seen, had = (tmp_path / "words").read_text().splitlines()
    assert "study" in seen
    assert "sk" not in seen
    assert had == "study --agent-option=one.key=sk"


_KEYED = """
class Keyed:
    observations = frozenset()
    def __init__(self, assignment, *, api_key: str = ""):
        pass
    async def decide(self, observation):
        pass
"""
_SHOWS_WORDS = """
import sys
from pathlib import Path
def main():
    seen = Path("/proc/self/cmdline").read_text().replace("\\0", " ").replace("\\n", " ")
    Path("words").write_text(seen + "\\n" + " ".join(sys.argv[1:]))
    sys.exit(7)
"""
