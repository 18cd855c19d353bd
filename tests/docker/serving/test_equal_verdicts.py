"""The whole demo by BrowserGym's, Inspect's and Harbor's runners, beside `arena eval`'s verdicts.

Three agents are compared, task by task: the reference, one that is wrong in every episode, and one
that does nothing. An adapter that changes what is done or scored is equal for the first alone.
Harbor has no agent that is wrong, and takes a minute a trial: it plays three tasks, or those that
`ARENA_TEST_HARBOR` names (`*`: the whole demo, in half an hour).
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.agents.browsergym_beside import agentlab_python, playing
from support.agents.browsergym_oracle import PlaysReferences
from support.agents.inspect_beside import Environment
from support.agents.reference_player import IDLE
from support.harbor.runner import ARENA_IMAGE, IMAGE, Harbor, harbor_with_sites

from arena_core.actions import Stop
from arena_core.worlds import World
from evaluators.verdicts import CheckStatus
from orchestrator import Arena, Observation
from orchestrator.runs.store.run_folder import RunFolder
from orchestrator.runs.store.scoring import score_task
from tasks.loader import load_suite

pytestmark = [pytest.mark.docker, pytest.mark.browser, pytest.mark.slow(minutes=9)]

TASKS = [one.id for one in load_suite("demo").tasks if World.OFFLINE in one.worlds]
BY_HARBOR = os.environ.get(
    "ARENA_TEST_HARBOR", "wiki-crucible-steel,wiki-samovar,shop-latest-order-total"
)


@dataclass(frozen=True, slots=True)
class Found:
    """What came of a task: its outcome, and the checks that are met."""

    outcome: str
    met: frozenset[str]


Table = Mapping[str, Found]
Runner = Callable[[str, Sequence[str], Path], Awaitable[Table]]


async def idle(_: Observation) -> Stop:
    return Stop(answer=IDLE)


async def by_arena(who: str, tasks: Sequence[str], folder: Path) -> Table:
    """Play as `arena eval` does."""
    out = folder / "run"
    async with Arena(workers=2) as arena:
        if who == "idle":
            await arena.run(idle, tasks, suite="demo", workers=2, out=out)
        else:
            options = {"error_rate": "1"} if who == "mistaken" else {}
            await arena.run("oracle", tasks, suite="demo", workers=2, out=out, options=options)
    return kept_in(out)


async def by_inspect(who: str, tasks: Sequence[str], folder: Path) -> Table:
    """Play as `inspect eval` does, and read Inspect's log."""
    model = "idle-by-tools" if who == "idle" else who
    beside = Environment(Path(sys.executable), folder)
    log = await asyncio.to_thread(beside.play, model, *tasks)
    return {
        task: Found(
            str(one["metadata"]["outcome"]),
            frozenset(check["id"] for check in one["metadata"]["checks"] if check["met"]),
        )
        for task, one in log["samples"].items()
    }


async def by_agentlab(who: str, tasks: Sequence[str], folder: Path) -> Table:
    """Play as a study of AgentLab's, and read its summaries and the evidence that they name."""
    async with playing(agentlab_python(), folder, slots=2) as player:
        model = PlaysReferences([f"demo/{one}" for one in tasks], who)
        found = await player.study(model, *tasks, browser="arena", jobs=2)
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


def by_harbor(who: str, harbor: Harbor, exported: Path) -> Table:
    """Play as `harbor run` does tasks that bring their sites, and read what its trials keep."""
    agent, tasks = ("nop" if who == "idle" else who), len(list(exported.iterdir()))
    words = ("-p", exported, "-a", agent, "-n", "2")
    table: dict[str, Found] = {}
    for trial in harbor.play(f"equal-{who}", *words, limit_s=300 + 120 * tasks):
        assert trial.error is None, trial
        [kept] = trial.folder.rglob("verdict.json")
        said = json.loads(kept.read_text(encoding="utf-8"))
        met = frozenset(check["id"] for check in said["checks"] if check["met"])
        table[trial.task.removeprefix("arena/demo-")] = Found(said["outcome"], met)
        assert trial.reward == said["reward"]
    return table


def differences(found: Table, of_arena: Table) -> dict[str, tuple[Found | None, Found | None]]:
    both = {task: (found.get(task), of_arena.get(task)) for task in {*found, *of_arena}}
    return {task: pair for task, pair in both.items() if pair[0] != pair[1]}


@pytest.fixture(scope="module", params=["oracle", "mistaken", "idle"])
def who(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module", params=[0, 1], ids=["first half", "second half"])
def half(request: pytest.FixtureRequest) -> Sequence[str]:
    return TASKS[request.param :: 2]


@pytest.fixture(scope="module")
def of_arena(who: str, half: Sequence[str], tmp_path_factory: pytest.TempPathFactory) -> Table:
    table = asyncio.run(by_arena(who, half, tmp_path_factory.mktemp(who)))
    solved = [task for task, one in table.items() if one.outcome == "success"]
    assert sorted(table) == sorted(half)
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
    who: str, half: Sequence[str], of_arena: Table, runner: Runner, tmp_path: Path
) -> None:
    assert differences(await runner(who, half, tmp_path), of_arena) == {}


@pytest.fixture(scope="module")
def harbor(tmp_path_factory: pytest.TempPathFactory) -> Harbor:
    return harbor_with_sites(tmp_path_factory.mktemp("harbor"))


@pytest.mark.parametrize("player", ["oracle", "idle"])
async def test_every_verdict_of_harbors_is_that_of_arena_eval(
    player: str, harbor: Harbor, tmp_path: Path
) -> None:
    exported = tmp_path / "tasks"
    Arena().suites.export_harbor(
        "demo", exported, BY_HARBOR.split(","), image=IMAGE, arena_image=ARENA_IMAGE
    )
    found = await asyncio.to_thread(by_harbor, player, harbor, exported)
    of_arena = await by_arena(player, [one.name for one in exported.iterdir()], tmp_path)
    assert differences(found, of_arena) == {}
