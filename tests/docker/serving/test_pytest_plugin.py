"""The example of an agent's own tests, on real replicas, side by side on workers of xdist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.runs.run_at import on_engine

from orchestrator.sandbox.engine.containers import Labels

pytestmark = [pytest.mark.docker, pytest.mark.browser, pytest.mark.slow(minutes=3)]
EXAMPLE = Path(__file__).parents[3] / "examples" / "ci" / "test_agent.py"
MORE = """

@pytest.mark.arena(suite="smoke", tasks="shop-latest-*")
def test_idle(arena_episode):
    arena_episode().step(actions.Stop())


def test_pid(arena):
    import os, pathlib
    pathlib.Path(f"pid-{os.getpid()}").touch()
"""


def test_the_example_passes_an_idle_agent_fails_and_nothing_is_left_behind(tmp_path: Path) -> None:
    source = EXAMPLE.read_text(encoding="utf-8")
    (tmp_path / "test_agent.py").write_text(source + MORE + MORE.replace("test_", "test_more_"))
    words = ("-n", "2", "--dist", "load")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words, "--arena-out", "kept"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "4 passed" in done.stdout, done.stdout + done.stderr
    assert "2 failed" in done.stdout
    assert "shop-latest-order-total (offline): failure" in done.stdout
    assert re.search(r"first unmet check: total: \S+", done.stdout)
    assert "last step 1: stop" in done.stdout
    [report, *_] = re.findall(r"report: (\S+report\.html)", done.stdout)
    assert "shop-latest-order-total" in (tmp_path / report).read_text(encoding="utf-8")

    pids = {path.name.removeprefix("pid-") for path in tmp_path.glob("pid-*")}
    assert pids
    owners = [
        one.labels.get(Labels.OWNER, "")
        for one in on_engine(lambda engine: engine.containers({Labels.OWNER: None}))
    ]
    assert not [owner for owner in owners if owner.split("-")[1:2] and owner.split("-")[1] in pids]
