"""Which tasks are sampled: by how hard they were, never those that are kept for tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from quick_cases import SLOW
from support.agents.scripted_model import Says
from support.runs.sampled_runs import RIGHT, WRONG, Sampled
from support.worlds.fake_world import browsing_task

from arena_core.errors import UsageError
from arena_core.worlds import World
from orchestrator.agents.interface import AgentClass
from orchestrator.export.training.bands import Band, band_of, plan, read_bands, write_bands
from orchestrator.export.training.split import read_split
from tasks.schema import Suite, Task

Play = Callable[..., Any]

KETTLE, TEAPOT, SPOON = (
    browsing_task(id=name, intent=f"Tell when the {name} was invented.", template=template)
    for name, template in (("kettle", "pots"), ("teapot", "pots"), ("spoon", None))
)
SUITE = Suite(suite="tiny", version=1, title="Tiny", tasks=(KETTLE, TEAPOT, SPOON))
SILENT = [Says(""), Says(""), Says("")]
OFFLINE = (World.OFFLINE,)


def episodes(task: Task, right: int, wrong: int, unscored: int = 0) -> list[Sampled]:
    return [
        *[Sampled(task, [RIGHT])] * right,
        *[Sampled(task, [WRONG])] * wrong,
        *[Sampled(task, SILENT)] * unscored,
    ]


@pytest.mark.parametrize(
    ("right", "scored", "band"),
    [
        (0, 0, Band.UNMEASURED),
        (0, 8, Band.NEVER),
        (1, 8, Band.HARD),
        (2, 6, Band.HARD),
        (3, 6, Band.MEDIUM),
        (4, 6, Band.MEDIUM),
        (5, 6, Band.EASY),
        (6, 6, Band.ALWAYS),
        (1, 1, Band.ALWAYS),
    ],
)
def test_the_band_of_a_task_is_how_often_it_succeeded(right: int, scored: int, band: Band) -> None:
    assert band_of(right, scored) is band


@SLOW
async def test_rates_have_intervals_and_the_unscored_stand_apart(play: Play) -> None:
    run = await play([*episodes(KETTLE, 1, 2, 1), *episodes(TEAPOT, 0, 0, 1)])
    kettle, teapot, spoon = plan(SUITE, SUITE.tasks, [run], worlds=OFFLINE, bands=None, split=None)
    assert (kettle.right, kettle.scored, kettle.unscored, kettle.band) == (1, 3, 1, Band.HARD)
    assert kettle.low == pytest.approx(0.0615, abs=1e-4)  # Wilson's, of 1 in 3
    assert kettle.high == pytest.approx(0.7923, abs=1e-4)
    assert (teapot.rate, teapot.unscored, teapot.band) == (None, 1, Band.UNMEASURED)
    assert (spoon.rate, spoon.unscored, spoon.band) == (None, 0, Band.UNMEASURED)


@SLOW
async def test_only_the_bands_that_were_asked_for_are_sampled_and_no_test_task(
    play: Play, tmp_path: Path
) -> None:
    run = await play([*episodes(KETTLE, 1, 1), *episodes(TEAPOT, 1, 1), *episodes(SPOON, 2, 0)])

    def chosen(bands: list[str] | None, split: str | None = None) -> list[str]:
        read = None
        if split is not None:
            (tmp_path / "split.yaml").write_text(split, encoding="utf-8")
            read = read_split(tmp_path / "split.yaml", [SUITE])
        wanted = None if bands is None else read_bands(bands)
        found = plan(SUITE, SUITE.tasks, [run], worlds=OFFLINE, bands=wanted, split=read)
        return [one.task for one in found if one.is_chosen]

    assert chosen(["medium"]) == ["kettle", "teapot"]
    assert chosen(["always", "never"]) == ["spoon"]
    assert chosen(None) == ["kettle", "teapot", "spoon"]
    assert chosen(None, "test: [teapot]") == ["spoon"]
    with pytest.raises(UsageError, match="2 kept for tests by the split, 1 always"):
        chosen(["medium"], "test: [teapot]")
    with pytest.raises(UsageError, match="no band 'middling'"):
        chosen(["middling"])


@SLOW
async def test_what_measures_nothing_of_these_tasks_is_refused(play: Play) -> None:
    run = await play(episodes(KETTLE, 1, 1))
    other = browsing_task(id="kettle", limits={"steps": 3})
    with pytest.raises(UsageError, match="no finished episode of these tasks"):
        plan(SUITE, (other,), [run], worlds=OFFLINE, bands=None, split=None)
    with pytest.raises(UsageError, match="no finished episode"):
        plan(SUITE, SUITE.tasks, [run], worlds=(World.ONLINE,), bands=None, split=None)
    agent = run.lock.agent.model_copy(update={"agent_class": AgentClass.REFERENCE})
    told = replace(run, lock=run.lock.model_copy(update={"agent": agent}))
    with pytest.raises(UsageError, match="knows each solution"):
        plan(SUITE, SUITE.tasks, [told], worlds=OFFLINE, bands=None, split=None)
    varied = replace(run, lock=run.lock.model_copy(update={"vary": ("look=dark@v1",)}))
    with pytest.raises(UsageError, match="was played in the arm look=dark"):
        plan(SUITE, SUITE.tasks, [varied], worlds=OFFLINE, bands=None, split=None)


async def test_the_bands_are_written_with_the_runs_that_say_so(play: Play, tmp_path: Path) -> None:
    run = await play(episodes(KETTLE, 1, 1))
    measured = plan(SUITE, (KETTLE,), [run], worlds=OFFLINE, bands=None, split=None)
    write_bands(measured, [run], tmp_path / "bands.json")
    written = json.loads((tmp_path / "bands.json").read_text(encoding="utf-8"))
    assert written["runs"] == [{"run": "run", "suite": "tiny", "agent": "chat (scripted)"}]
    assert (written["tasks"][0]["task"], written["tasks"][0]["band"]) == ("kettle", "medium")
