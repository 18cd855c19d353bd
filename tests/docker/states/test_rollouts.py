"""Rollouts from the middle of a recorded episode, in real replicas and a real browser."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest

from arena_core.actions import Click, Stop
from arena_core.errors import InterruptedRunError, UsageError
from orchestrator import Arena
from orchestrator.agents.interface import Assignment, Decision
from orchestrator.browser.observation import Observation

pytestmark = [pytest.mark.docker, pytest.mark.browser]

GUIDE = Path("docs/set-up-a-world.md").resolve()


class Pins:
    """Pins the note in every other repeat, and stops."""

    begins: ClassVar[Callable[[], None]] = staticmethod(lambda: None)

    def __init__(self, assignment: Assignment) -> None:
        self._pins = assignment.repeat % 2 == 0
        Pins.begins()

    async def decide(self, observation: Observation) -> Decision:
        if not self._pins:
            return Decision(Stop())
        self._pins = False
        pin = next(one for one in observation.nodes if (one.role, one.name) == ("button", "Pin"))
        return Decision(Click(element=pin.id))


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The guide's task: its note is set up by `given`, and nothing but pinning it may change."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    block = re.search(r"```yaml\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    path = tmp_path / "rope.yaml"
    path.write_text(block[1], encoding="utf-8")
    return path


@pytest.mark.slow(minutes=2)
async def test_a_step_is_worth_as_often_as_what_goes_on_from_it_succeeds(suite: Path) -> None:
    """The root pins the note itself afterwards: nothing of that is in its branches."""
    async with Arena(workers=2) as arena:
        root = await arena.run("oracle", suite=str(suite), out="root")
        assert [str(one.score.outcome) for one in root.episodes] == ["success"]
        stop = asyncio.Event()
        Pins.begins = stop.set
        more = {"from_run": "root", "from_step": 2, "rollouts": 4, "out": "rollouts"}
        with pytest.raises(InterruptedRunError):
            await arena.runs.sample(Pins, stop=stop, **more)  # type: ignore[arg-type]
        run = await arena.runs.resume("rollouts", agent=Pins)
        with pytest.raises(UsageError, match="and not from the middle"):
            await arena.runs.sample("oracle", from_run="root", from_step=1)
        with pytest.raises(UsageError, match="`suite` has no effect"):
            await arena.runs.sample("random", from_run="root", from_step=1, suite="demo")
    outcomes = [str(one.score.outcome) for one in run.episodes]
    assert outcomes == ["success", "failure"] * 2, [one.score.because for one in run.episodes]
    (value,) = run.values
    assert (value.rate.value, value.rate.count, value.unscored) == (0.5, 4, 0)
    assert value.root == f"{root.lock.run}/{root.episodes[0].folder}"
    for one in run.episodes:
        branch = one.outline.branch
        assert branch is not None
        assert (branch.step, branch.pages, branch.told) == (2, "document", False)
        (receipt,) = one.outline.receipts
        assert receipt.proven
        assert receipt.golden == branch.states["tools"]
    (summary,) = run.summaries.values()
    assert (summary.episodes, summary.success.value) == (0, None)
    assert "4 episodes go on from" in (run.branches or "")
