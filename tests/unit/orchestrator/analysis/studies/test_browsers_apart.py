"""Live scores of different browsers are never put together, and never compared unsaid."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.runs.small_runs import write_run

from arena_core.errors import StoreError, UsageError
from arena_core.worlds import World
from orchestrator.analysis.stats.results import Compared
from orchestrator.analysis.studies.cells import cells_of, suites_apart
from orchestrator.analysis.studies.comparison import (
    Comparison,
    NamedRun,
    own_questions,
    read_comparison,
)
from orchestrator.analysis.study_report.reporting import compare_runs
from orchestrator.browser.process.kinds import BrowserKind
from orchestrator.runs.store.browser_lock import BrowserLock
from orchestrator.runs.store.run_folder import RunFolder

OFF, ON = World.OFFLINE, World.ONLINE
LIVE = {ON: {"one": [True], "two": [False]}}
BOTH = {OFF: {"one": [True]}, ON: {"one": [False]}}


def browser(kind: str = "chromium", build: int = 156, **more: Any) -> BrowserLock:
    product = f"Chrome/{build}.0.8078.108"
    return BrowserLock(kind=BrowserKind(kind), product=product, user_agent="Mozilla/5.0", **more)


CHROMIUM, HEADED, LATER = browser(), browser("headed"), browser(build=157)
HOSTED = browser("cdp", at="wss://connect.example.com/…", provider="Browserbase", country="DE")


def compared(*folders: RunFolder) -> Comparison:
    return read_comparison([NamedRun(folder=folder) for folder in folders])


@pytest.mark.parametrize("other", [HEADED, LATER, HOSTED], ids=["kind", "build", "hosted"])
def test_two_agents_in_two_browsers_are_not_compared_online(
    tmp_path: Path, other: BrowserLock
) -> None:
    first = write_run(tmp_path / "1", "a", LIVE, browser=CHROMIUM)
    second = write_run(tmp_path / "2", "b", LIVE, browser=other)

    found = compared(first, second)

    assert own_questions(found.runs) == ()
    [why] = [note for note in found.notes if "live sites" in note]
    assert f"a, in {CHROMIUM.pool} and b, in {other.pool} are not compared online" in why
    with pytest.raises(UsageError, match="nothing to compare: a, in chromium 156 and b") as refused:
        compare_runs([first.path, second.path], margin=None, alpha=0.05, seed=0)
    assert "--browser" in refused.value.hint


def test_offline_the_browser_is_only_a_note(tmp_path: Path) -> None:
    first = write_run(tmp_path / "1", "a", BOTH, browser=CHROMIUM)
    second = write_run(tmp_path / "2", "b", BOTH, browser=HEADED)

    found = compared(first, second)

    of_agents = [one for one in own_questions(found.runs) if one.of is Compared.AGENTS]
    assert [one.world for one in of_agents] == [OFF]
    offline = compared(
        write_run(tmp_path / "3", "a", {OFF: {"one": [True]}}, browser=CHROMIUM),
        write_run(tmp_path / "4", "b", {OFF: {"one": [True]}}, browser=HEADED),
    )
    assert len(own_questions(offline.runs)) == 1
    assert [note for note in offline.notes if "browsers differ" in note]


def test_one_agent_in_two_browsers_has_a_cell_in_each_and_its_browsers_compared(
    tmp_path: Path,
) -> None:
    first = write_run(tmp_path / "1", "a", LIVE, browser=CHROMIUM)
    second = write_run(tmp_path / "2", "a", LIVE, browser=HOSTED)

    found = compared(first, second)

    names = ["a, in chromium 156", f"a, in {HOSTED.pool}"]
    assert [run.label for run in found.runs] == names
    [question] = own_questions(found.runs)
    assert [question.first, question.second] == names
    analysis = compare_runs([first.path, second.path], margin=None, alpha=0.05, seed=0).analysis
    assert [cell.cell.agent for cell in analysis.cells] == names
    said = "an online difference of one agent with itself is one of browsers"
    assert [note for note in analysis.notes if said in note]
    assert analysis.rank_correlation == ()


def test_the_same_browser_and_build_are_compared_as_before(tmp_path: Path) -> None:
    first = write_run(tmp_path / "1", "a", LIVE, browser=CHROMIUM)
    same = browser().model_copy(update={"product": "Chrome/156.0.9999.1"})
    second = write_run(tmp_path / "2", "b", LIVE, browser=same)

    found = compared(first, second)

    assert [run.label for run in found.runs] == ["a", "b"]
    assert len(own_questions(found.runs)) == 1


def test_runs_of_earlier_versions_are_told_apart_by_what_their_locks_say(tmp_path: Path) -> None:
    old = write_run(tmp_path / "1", "a", LIVE)  # 131.0.6778.85
    same = write_run(tmp_path / "2", "b", LIVE, browser=browser(build=131))

    assert len(own_questions(compared(old, same).runs)) == 1
    later = write_run(tmp_path / "3", "b", LIVE, browser=CHROMIUM)
    assert own_questions(compared(old, later).runs) == ()


def test_no_cell_holds_live_scores_of_two_browsers_whatever_the_labels(tmp_path: Path) -> None:
    first = write_run(tmp_path / "1", "a", LIVE, browser=CHROMIUM)
    second = write_run(tmp_path / "2", "a", LIVE, browser=HEADED)
    runs = [NamedRun(folder=folder, label="same") for folder in (first, second)]
    with pytest.raises(UsageError, match="are called 'same'"):
        read_comparison(runs)

    found = compared(first, second)
    assert suites_apart(found.runs) == {"small"}
    assert suites_apart(found.runs[:1]) == frozenset()
    alike = [run.__class__(**{**_fields(run), "label": "a"}) for run in found.runs]
    with pytest.raises(StoreError, match="visited live sites in chromium 156 and headed 156"):
        cells_of(alike)


def _fields(run: Any) -> dict[str, Any]:
    return {name: getattr(run, name) for name in run.__slots__}
