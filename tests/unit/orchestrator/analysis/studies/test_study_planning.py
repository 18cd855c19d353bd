"""A study is planned from its file or its folder, and from runs on the disk; nothing is started."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import yaml
from support.agents.arena_process import Ended
from support.runs.tiny_run import SUITE
from support.studies.registered_study import lock_of, make_study, play

from arena_core.errors import UsageError
from orchestrator.api.arena import Arena
from orchestrator.runs.store.run_folder import RunFolder

pytestmark = pytest.mark.usefixtures("_few_simulations")

STUDY = """\
name: planned
agents: {first: {agent: idle}, second: {agent: random}}
worlds: [offline, online]
staged: true
suites: [{suite: pair.yaml}]
repeats: 4
workers: 2
questions:
  - {id: better, kind: difference, of: agents, first: first, second: second}
  - {id: offline-better, kind: difference, of: agents, first: first, second: second,
     within: {world: offline}}
  - {id: same, kind: equivalence, of: worlds, first: offline, second: online, margin: 0.1}
  - {id: same-of-first, kind: equivalence, of: worlds, first: offline, second: online, margin: 0.1,
     within: {agent: first}}
"""

ARMS = """\
variations: {dark: [look=dark], large: [look=large]}
questions:
  - {id: cost, kind: difference, of: arms, first: dark, second: clean, within: {agent: first}}
  - {id: back, kind: difference, of: arms, first: large, second: dark}
  - {id: in-dark, kind: difference, of: agents, first: first, second: second,
     within: {arm: dark}}
  - {id: in-large, kind: difference, of: agents, first: first, second: second,
     within: {arm: large}}
  - {id: robust, kind: non_inferiority, of: arms, first: dark, second: clean, margin: 0.1,
     within: {agent: first}}
"""


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A study of the task `one` in both worlds and `two` offline alone, of one template."""
    suite = SUITE.model_dump(mode="json", exclude_none=True)
    [one] = suite["tasks"]
    one = {**one, "template": "both"}
    suite["tasks"] = [one, {**one, "id": "two", "worlds": ["offline"]}]
    (tmp_path / "pair.yaml").write_text(yaml.safe_dump(suite))
    (tmp_path / "study.yaml").write_text(STUDY)
    return tmp_path / "study.yaml"


def took(run: RunFolder, seconds: float) -> None:
    """Let each episode of a run have taken so long."""
    with closing(sqlite3.connect(run.path / "ledger.sqlite")) as ledger, ledger:
        ledger.execute("UPDATE attempt SET seconds = ?", (seconds,))


def test_it_counts_cells_and_episodes_and_knows_nothing_from_nothing(file: Path) -> None:
    plan = Arena().studies.plan(file)
    # 2 tasks offline and 1 online, × 4 repeats, × 2 agents.
    assert [(one.agent, one.world, one.episodes) for one in plan.cells] == [
        ("first", "offline", 8),
        ("first", "online", 4),
        ("second", "offline", 8),
        ("second", "online", 4),
    ]
    assert (plan.episodes, plan.workers, plan.hours) == (24, 2, None)
    assert plan.usd == 0  # neither agent asks a model
    pairs = {one.id: one.design.tasks for one in plan.questions}
    assert pairs == {"better": 3, "offline-better": 2, "same": 2, "same-of-first": 1}
    assert {one.measured_on for one in plan.questions} == {0}
    assert {one.alpha for one in plan.questions} == {0.05 / 4}
    sizes = [one.design.cluster_size for one in plan.questions]
    assert sizes == [3, 2, 2, 1]  # all tasks are of one template


def test_hours_and_rates_come_from_a_pilot_of_the_same_agents(file: Path, tmp_path: Path) -> None:
    pilot = make_study(tmp_path / "pilot")  # of idle: three times right, three times wrong
    for name in ("right", "wrong"):
        took(pilot.run_folder(name), 90)
    plan = Arena().studies.plan(file, [pilot.path])
    first_offline, first_online, second_offline, _ = plan.cells
    assert first_offline.seconds == pytest.approx(90)
    assert [one.known_from for one in plan.cells] == [6, 0, 0, 0]
    assert (first_online.seconds, second_offline.seconds) == (None, None)
    assert plan.hours is None
    # Of the second side, random offline and both online, nothing was played.
    assert {one.id for one in plan.questions if one.measured_on} == set()

    turned = tmp_path / "turned.yaml"
    text = STUDY.replace("worlds: [offline, online]\nstaged: true", "worlds: [offline]")
    head = text.partition("questions:")[0].replace(", second: {agent: random}", "")
    turned.write_text(
        head.replace("first: {agent: idle}", "a: {agent: idle}, b: {agent: idle}")
        + ("questions: [{id: q, kind: difference, of: agents, first: a, second: b}]")
    )
    alone = Arena().studies.plan(turned, [pilot.path])
    # 2 agents × 2 tasks × 4 repeats × 90 s, two at a time.
    assert alone.hours == pytest.approx(16 * 90 / 2 / 3600)
    [asked] = alone.questions
    assert (asked.measured_on, asked.design.rate) == (6, 0.5)


def test_runs_that_lie_here_are_the_pilot_where_none_is_named(file: Path) -> None:
    run = RunFolder.create(Path("arena-runs") / "earlier", lock_of("earlier"), SUITE)
    play(run, "1891", range(3))
    (Path("arena-runs") / "broken").mkdir()
    (Path("arena-runs") / "broken" / "lock.json").write_text("{")
    [first, *_] = Arena().studies.plan(file).cells
    assert first.known_from == 3


def test_runs_of_another_arm_say_nothing_of_a_study(file: Path) -> None:
    lock = lock_of("dark").model_copy(update={"vary": ("look=dark@v1",)})
    play(RunFolder.create(Path("arena-runs") / "dark", lock, SUITE), "1891", range(3))
    [first, *_] = Arena().studies.plan(file).cells
    assert first.known_from == 0
    offline = STUDY.replace("worlds: [offline, online]\nstaged: true", "worlds: [offline]")
    head = offline.partition("questions:")[0]
    asks = "questions: [{id: q, kind: difference, of: agents, first: first, second: second}]"
    file.write_text(f"{head}variations: {{dark: [look=dark]}}\n{asks}")
    plan = Arena().studies.plan(file)
    assert {one.agent: one.known_from for one in plan.cells} == {
        "first": 0,
        "first [dark]": 3,
        "second": 0,
        "second [dark]": 0,
    }
    assert [one.measured_on for one in plan.questions] == [0]


def test_questions_of_arms_are_planned_by_what_their_second_side_did_in_its_arm(file: Path) -> None:
    for name, vary, answer in (("dark", ("look=dark@v1",), "1891"), ("clean", (), "1892")):
        lock = lock_of(name).model_copy(update={"vary": vary})
        play(RunFolder.create(Path("arena-runs") / name, lock, SUITE), answer, range(3))
    head = STUDY.partition("questions:")[0].replace(
        "second: {agent: random}", "second: {agent: idle}"
    )
    file.write_text(head + ARMS)
    found = {one.id: one for one in Arena().studies.plan(file).questions}
    # Both tasks can be played offline; of all agents, each is a pair with itself.
    assert {name: one.design.tasks for name, one in found.items()} == {
        "cost": 2,
        "back": 4,
        "in-dark": 2,
        "in-large": 2,
        "robust": 2,
    }
    # The last episode in the arm is void, and says nothing.
    assert {name: one.measured_on for name, one in found.items()} == {
        "cost": 3,
        "back": 2,
        "in-dark": 2,
        "in-large": 0,
        "robust": 3,
    }
    assert found["cost"].design.rate < 0.5 < found["back"].design.rate
    assert found["robust"].alone is not None


async def test_a_folder_is_planned_as_it_stands_with_what_was_added(tmp_path: Path) -> None:
    study = make_study(tmp_path / "study")
    assert Arena().studies.plan(study.path).episodes == 6
    await Arena().studies.add(study.path, repeats=5)
    plan = Arena().studies.plan(study.path, [study.path])
    assert plan.episodes == 10
    assert [one.known_from for one in plan.cells] == [6, 6]


def test_a_margin_that_can_hardly_be_shown_is_said_plainly(
    file: Path, call: Callable[..., Ended]
) -> None:
    done = call("study", "plan", file, "--difference", "0.1")
    assert done.code == 0
    said = " ".join(done.out.split())
    table = next(number for number, line in enumerate(done.out.splitlines()) if "planned:" in line)
    assert max(map(len, done.out.splitlines()[table:])) <= 80
    assert "planned: 24 episodes, 2 workers in each world: unknown, $0.00" in said
    how = "2 pairs of tasks × 4 repeats, success near 50% (assumed), alpha 0.0125"
    assert f"same: {how}: where there is no difference, shows its margin" in said
    assert "shows its margin of 10 points in 0% (0% before Holm's correction)" in said
    assert (
        "arena: same: a margin of 10 points is unlikely to be shown: even if there is no"
        " difference at all, 0% of such studies show it"
    ) in done.err


@pytest.mark.parametrize("difference", [0.0, 1.0, 10.0])
def test_a_difference_that_is_none_is_refused(file: Path, difference: float) -> None:
    with pytest.raises(UsageError, match="ten points"):
        Arena().studies.plan(file, difference=difference)


async def test_less_than_an_hour_is_told_in_minutes(
    tmp_path: Path, call: Callable[..., Ended]
) -> None:
    study = make_study(tmp_path / "study")
    for name in ("right", "wrong"):
        took(study.run_folder(name), 90)
    done = call("study", "plan", study.path, "--pilot", study.path)
    assert "made: 6 episodes, 1 worker in each world: 9 min, $0.00" in done.out
