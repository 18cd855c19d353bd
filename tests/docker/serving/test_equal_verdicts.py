"""The whole demo by BrowserGym's and Inspect's own runners, beside `arena eval`'s verdicts.

Three agents are compared, task by task: the reference, one that is wrong in every episode, and one
that does nothing. An adapter that changes what is done or scored is equal for the first alone.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.agents.browsergym_beside import agentlab_python, playing
from support.agents.browsergym_oracle import PlaysReferences
from support.agents.inspect_beside import Environment
from support.agents.reference_player import IDLE

from arena_core.actions import Stop
from arena_core.worlds import World
from evaluators.verdicts import CheckStatus
from orchestrator import Arena, Observation
from orchestrator.runs.store.run_folder import RunFolder
from orchestrator.runs.store.scoring import score_task
from tasks.loader import load_suite

pytestmark = [pytest.mark.docker, pytest.mark.browser, pytest.mark.slow(minutes=9)]

TASKS = [one.id for one in load_suite("demo").tasks if World.OFFLINE in one.worlds]


@dataclass(frozen=True, slots=True)
class Found:
    """What came of a task: its outcome, and the checks that are met."""

    outcome: str
    met: frozenset[str]


Table = Mapping[str, Found]
Runner = Callable[[str, Path], Awaitable[Table]]


async def idle(_: Observation) -> Stop:
    return Stop(answer=IDLE)


async def by_arena(who: str, folder: Path) -> Table:
    """Play as `arena eval` does."""
    out = folder / "run"
    async with Arena(workers=2) as arena:
        if who == "idle":
            await arena.run(idle, TASKS, suite="demo", workers=2, out=out)
        else:
            options = {"error_rate": "1"} if who == "mistaken" else {}
            await arena.run("oracle", TASKS, suite="demo", workers=2, out=out, options=options)
    return kept_in(out)


async def by_inspect(who: str, folder: Path) -> Table:
    """Play as `inspect eval` does, and read Inspect's log."""
    model = "idle-by-tools" if who == "idle" else who
    beside = Environment(Path(sys.executable), folder)
    log = await asyncio.to_thread(beside.play, model, *TASKS)
    return {
        task: Found(
            str(one["metadata"]["outcome"]),
            frozenset(check["id"] for check in one["metadata"]["checks"] if check["met"]),
        )
        for task, one in log["samples"].items()
    }


async def by_agentlab(who: str, folder: Path) -> Table:
    """Play as a study of AgentLab's, and read its summaries and the evidence that they name."""
    async with playing(agentlab_python(), folder, slots=2) as player:
        model = PlaysReferences([f"demo/{one}" for one in TASKS], who)
        found = await player.study(model, *TASKS, browser="arena", jobs=2)
    table: dict[str, Found] = {}
    for row in found["rows"]:
        [(task, kept)] = kept_in(Path(row["arena_folder"])).items()
        table[task] = Found(row["arena_outcome"], kept.met)
        assert row["cum_reward"] == float(kept.outcome == "success")
    return table


def kept_in(folder: Path) -> Table:
    """Return what a run's evidence says of each task."""
    run = RunFolder.open(folder)
    tasks = {one.id: one for one in run.suite().tasks}
    with run.reading() as ledger:
        ended = ledger.finished()
    table: dict[str, Found] = {}
    for one in ended:
        score = score_task(tasks[one.key.task], run.evidence(one.folder))
        met = [check.check for check in score.verdicts if check.status is CheckStatus.MET]
        table[one.key.task] = Found(str(score.outcome), frozenset(met))
    return table


@pytest.fixture(scope="module", params=["oracle", "mistaken", "idle"])
def who(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def of_arena(who: str, tmp_path_factory: pytest.TempPathFactory) -> Table:
    table = asyncio.run(by_arena(who, tmp_path_factory.mktemp(who)))
    solved = [task for task, one in table.items() if one.outcome == "success"]
    assert sorted(table) == sorted(TASKS)
    assert solved == (list(table) if who == "oracle" else [])
    return table


@pytest.mark.parametrize(
    "runner",
    [
        pytest.param(by_inspect, id="inspect"),
        pytest.param(by_agentlab, id="agentlab"),
    ],
)
async def test_every_verdict_is_that_of_arena_eval(
    who: str, of_arena: Table, runner: Runner, tmp_path: Path
) -> None:
    found = await runner(who, tmp_path)
    both = {task: (found.get(task), of_arena.get(task)) for task in {*found, *of_arena}}
    assert {task: pair for task, pair in both.items() if pair[0] != pair[1]} == {}
