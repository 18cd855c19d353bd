"""An agent held to a bar: only a significant drop fails, and nothing hides one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from lxml import etree
from support.runs.small_runs import small_suite, write_run

from arena_core.errors import (
    ArenaError,
    InputError,
    NothingScoredError,
    UsageError,
    VerificationError,
)
from arena_core.worlds import World
from orchestrator import Arena, Bar, BarVerdict, Baseline, HeldRun

TEN = tuple(f"task-{number}" for number in range(10))
ONLINE, OFFLINE = World.ONLINE, World.OFFLINE


def outcomes(
    lost: Sequence[str] = (),
    blank: Sequence[str] = (),
    repeats: int = 1,
    tasks: Sequence[str] = TEN,
) -> dict[World, dict[str, list[bool | None]]]:
    """Return all tasks as solved but those that are lost, or unscored."""
    of = {task: None if task in blank else task not in lost for task in tasks}
    return {OFFLINE: {task: [one] * repeats for task, one in of.items()}}


def run_of(path: Path, *lost: str, blank: Sequence[str] = (), **more: Any) -> Path:
    repeats = more.get("repeats", 1)
    return write_run(path, "mine", outcomes(lost, blank, repeats), **more).path


def held(run: Path, against: Path | None, **bar: Any) -> HeldRun:
    return asyncio.run(Arena().ci(finished=run, bar=Bar(against=against, **bar)))


@pytest.fixture
def base(tmp_path: Path) -> Path:
    Baseline.read(run_of(tmp_path / "base")).write(tmp_path / "baseline.json")
    return tmp_path / "baseline.json"


def test_the_same_outcomes_hold(tmp_path: Path, base: Path) -> None:
    found = held(run_of(tmp_path / "now"), base)
    found.require_held()
    assert (found.verdict, found.lost) == (BarVerdict.HELD, ())


def test_a_drop_in_one_task_only_holds_and_is_named_with_its_check_and_step(
    tmp_path: Path, base: Path
) -> None:
    found = held(run_of(tmp_path / "now", "task-3"), base)
    found.require_held()
    [lost] = found.lost
    assert lost.task == "task-3"
    assert lost.why.startswith("price: ")
    assert "(step 1, " in lost.why
    assert any("fewer than 6 tasks" in note for note in found.notes)


@pytest.mark.parametrize(("count", "verdict"), [(5, BarVerdict.HELD), (6, BarVerdict.DROPPED)])
def test_only_a_significant_drop_breaks_the_bar(
    tmp_path: Path, base: Path, count: int, verdict: BarVerdict
) -> None:
    found = held(run_of(tmp_path / "now", *TEN[:count]), base)
    assert found.verdict is verdict
    if verdict is BarVerdict.DROPPED:
        with pytest.raises(ArenaError, match=r"a significant drop: −60 points") as raised:
            found.require_held()
        assert raised.value.exit_code == 1


def test_a_significant_rise_holds(tmp_path: Path) -> None:
    base = run_of(tmp_path / "base", *TEN[:8])
    assert held(run_of(tmp_path / "now"), base, min_success=0.1).verdict is BarVerdict.HELD


def test_it_says_the_p_and_the_effect_of_arena_compare(tmp_path: Path) -> None:
    base, now = run_of(tmp_path / "base", "task-9"), run_of(tmp_path / "now", *TEN[:7])
    [world] = held(now, base, min_success=0.1).worlds
    [answer] = Arena().runs.compare([("now", now), ("base", base)]).analysis.answers
    assert world.compared is not None
    assert (world.compared.effect, world.compared.interval) == (answer.effect, answer.interval)
    assert world.p == answer.p_adjusted


@pytest.mark.parametrize("count", [6, 9])
def test_unscored_episodes_do_not_hide_a_drop(tmp_path: Path, base: Path, count: int) -> None:
    found = held(run_of(tmp_path / "now", blank=TEN[:count]), base)
    assert found.verdict is BarVerdict.UNKNOWN
    with pytest.raises(NothingScoredError, match=f"{count} episodes are unscored"):
        found.require_held()


def test_a_run_that_is_unscored_throughout_never_passes(tmp_path: Path, base: Path) -> None:
    now = run_of(tmp_path / "now", blank=TEN)
    for found in (held(now, base), held(now, None, min_success=0.01)):
        assert found.verdict is BarVerdict.UNKNOWN
        with pytest.raises(NothingScoredError, match="none of 10 episodes could be scored"):
            found.require_held()


def test_a_few_unscored_episodes_that_could_not_matter_hold(tmp_path: Path, base: Path) -> None:
    found = held(run_of(tmp_path / "now", blank=TEN[:2]), base)
    found.require_held()
    [world] = found.worlds
    assert (world.rate, world.least, world.unscored) == (1.0, 0.8, 2)


def test_less_than_the_absolute_bar_fails_and_what_could_be_less_is_not_known(
    tmp_path: Path,
) -> None:
    now = run_of(tmp_path / "now", "task-0", "task-1")
    assert held(now, None, min_success=0.8).verdict is BarVerdict.HELD
    below = held(now, None, min_success=0.81)
    with pytest.raises(ArenaError, match="80% success, less than 81%") as raised:
        below.require_held()
    assert raised.value.exit_code == 1
    blank = run_of(tmp_path / "blank", blank=TEN[:3])
    assert held(blank, None, min_success=0.8).verdict is BarVerdict.UNKNOWN


def test_repeats_of_one_task_are_one_task(tmp_path: Path) -> None:
    """Ten failures of one task are evidence of one task, not of ten."""
    base = run_of(tmp_path / "base", repeats=10)
    found = held(run_of(tmp_path / "now", "task-0", repeats=10), base)
    assert found.verdict is BarVerdict.HELD


def test_a_baseline_that_no_drop_could_break_is_refused(tmp_path: Path) -> None:
    few = write_run(tmp_path / "few", "mine", outcomes(tasks=TEN[:5])).path
    now = write_run(tmp_path / "now", "mine", outcomes(tasks=TEN[:5])).path
    with pytest.raises(UsageError, match=r"no drop could be significant.*5 groups.*0\.0625"):
        held(now, few)
    bad = run_of(tmp_path / "bad", *TEN[:5])
    with pytest.raises(UsageError, match="no drop could be significant"):
        held(run_of(tmp_path / "now2"), bad)
    blank = run_of(tmp_path / "blank", blank=TEN[1:])
    with pytest.raises(UsageError, match="no drop could be significant"):
        held(run_of(tmp_path / "now3"), blank)
    assert held(now, few, min_success=0.5).verdict is BarVerdict.HELD


def test_nothing_to_hold_to_is_refused(tmp_path: Path, base: Path) -> None:
    now = run_of(tmp_path / "now")
    with pytest.raises(UsageError, match="nothing to hold the agent to"):
        held(now, None)
    with pytest.raises(UsageError, match="least success is a share"):
        held(now, None, min_success=80)
    with pytest.raises(UsageError, match="cannot be held to itself"):
        held(tmp_path / "base", base)


def test_an_edited_baseline_is_refused(tmp_path: Path, base: Path) -> None:
    now = run_of(tmp_path / "now", *TEN[:7])
    whole = json.loads(base.read_text())
    whole["tasks"][0]["outcomes"] = ["failure"]
    base.write_text(json.dumps(whole))
    with pytest.raises(VerificationError, match="its digest differs"):
        held(now, base)
    base.write_text(base.read_text().replace('"failure"', '"perhaps"'))
    with pytest.raises(InputError, match=r"baseline\.json:1: tasks\.0\.outcomes\.0: must be"):
        held(now, base)


def test_a_baseline_that_names_a_task_twice_is_refused(tmp_path: Path, base: Path) -> None:
    whole = json.loads(base.read_text())
    whole["tasks"].append(whole["tasks"][0])
    base.write_text(json.dumps(whole))
    with pytest.raises(InputError, match="names a task twice"):
        held(run_of(tmp_path / "now"), base)


def test_a_baseline_without_some_tasks_is_refused_with_their_names(tmp_path: Path) -> None:
    suite = small_suite(TEN)
    part = outcomes(tasks=TEN[:8])
    base = write_run(tmp_path / "base", "mine", part, suite=suite, tasks=TEN[:8]).path
    now = run_of(tmp_path / "now", "task-8", "task-9")
    with pytest.raises(UsageError, match="it lacks task-8, task-9") as raised:
        held(now, base)
    assert "--allow tasks" in raised.value.hint
    found = held(now, base, allow=["tasks"])
    assert any("allowed: it lacks task-8, task-9" in note for note in found.notes)
    assert any("no drop shows where the baseline has no score" in note for note in found.notes)


def test_a_run_that_leaves_tasks_out_is_refused(tmp_path: Path, base: Path) -> None:
    easy = write_run(
        tmp_path / "now", "mine", outcomes(tasks=TEN[:7]), suite=small_suite(TEN), tasks=TEN[:7]
    ).path
    with pytest.raises(UsageError, match="not played now: task-7, task-8, task-9"):
        held(easy, base)


def test_a_baseline_of_another_version_of_a_task_is_refused_and_does_not_count(
    tmp_path: Path, base: Path
) -> None:
    changed = small_suite(TEN, asks={"task-4": "1.00"})
    now = write_run(tmp_path / "now", "mine", outcomes(), suite=changed).path
    with pytest.raises(UsageError, match=r"of small version 1 \(.*changed: task-4"):
        held(now, base)
    found = held(now, base, allow=["suite"])
    assert found.lost == ()  # task-4 failed by another ruler
    with pytest.raises(UsageError, match="nothing that may differ is called images"):
        held(now, base, allow=["images"])
    other = write_run(tmp_path / "other", "mine", outcomes(tasks=["else"])).path
    with pytest.raises(UsageError, match="the baseline is of another suite"):
        held(other, base, allow=["suite", "tasks"])


def test_another_world_or_arm_is_refused(tmp_path: Path, base: Path) -> None:
    dark = run_of(tmp_path / "dark", vary=["look=dark"])
    with pytest.raises(UsageError, match=r"its arm: clean, not look=dark"):
        held(dark, base)
    live = write_run(tmp_path / "live", "mine", {ONLINE: outcomes()[OFFLINE]}).path
    with pytest.raises(UsageError, match="its worlds: offline, not online"):
        held(live, base)


def test_other_images_are_noted(tmp_path: Path, base: Path) -> None:
    found = held(run_of(tmp_path / "now", image="cd"), base)
    assert any("other builds of the sites" in note for note in found.notes)


def test_a_run_that_is_not_finished_is_neither_held_nor_a_baseline(
    tmp_path: Path, base: Path
) -> None:
    part = write_run(tmp_path / "now", "mine", outcomes(tasks=TEN[:9]), suite=small_suite(TEN)).path
    with pytest.raises(UsageError, match="1 episode is not played yet"):
        held(part, base)
    with pytest.raises(UsageError, match="1 episode is not played yet"):
        Baseline.read(part)
    with pytest.raises(NothingScoredError, match="nothing is scored"):
        Baseline.read(run_of(tmp_path / "blank", blank=TEN))


def test_a_run_whose_evidence_was_edited_is_neither(tmp_path: Path, base: Path) -> None:
    now = run_of(tmp_path / "now", "task-0")
    [evidence] = now.glob("**/*task-0*/evidence.json")
    evidence.write_text(evidence.read_text().replace("I do not know", "it is 39.99"))
    with pytest.raises(VerificationError, match="not as the run recorded"):
        held(now, base)
    with pytest.raises(VerificationError, match="not as the run recorded"):
        Baseline.read(now)


def test_two_worlds_are_two_tests_and_the_worse_decides(tmp_path: Path) -> None:
    def both(name: str, *lost: str) -> Path:
        worlds = {OFFLINE: outcomes()[OFFLINE], ONLINE: outcomes(lost)[OFFLINE]}
        return write_run(tmp_path / name, "mine", worlds).path

    found = held(both("now", *TEN[:6]), both("base"))
    assert [one.verdict for one in found.worlds] == [BarVerdict.HELD, BarVerdict.HELD]
    found = held(both("worse", *TEN[:7]), both("base2"))
    assert [one.verdict for one in found.worlds] == [BarVerdict.HELD, BarVerdict.DROPPED]
    assert found.verdict is BarVerdict.DROPPED


def test_the_summary_and_junit_say_the_same_and_escape_what_pages_say(
    tmp_path: Path, base: Path
) -> None:
    now = run_of(tmp_path / "now", *TEN[:6], blank=["task-9"])
    files = {"summary": tmp_path / "s.md", "junit": tmp_path / "out" / "j.xml"}
    bar = Bar(against=base)
    work = Arena().ci(finished=now, bar=bar, summary=files["summary"], junit=files["junit"])
    found = asyncio.run(work)
    assert found.verdict is BarVerdict.DROPPED
    said = files["summary"].read_text()
    assert said.startswith("## ❌ dropped: `mine` on small")
    assert "| offline | 33% |" in said
    assert said.count("`task-") == 6
    root = etree.fromstring(files["junit"].read_bytes())
    [world, bar] = root.findall("testsuite")
    assert dict(world.attrib) | {"name": ""} == {
        "name": "",
        "tests": "10",
        "failures": "6",
        "errors": "0",
        "skipped": "1",
    }
    assert len(world.findall(".//failure")) == 6
    assert world.find(".//skipped").get("message").startswith("unscored: infra")
    assert bar.find("testcase/failure").get("type") == "dropped"
