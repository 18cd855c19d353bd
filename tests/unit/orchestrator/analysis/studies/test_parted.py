"""Why the worlds part, over the tasks of a study: each disagreement once, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from support.runs.evidence_changes import change
from support.runs.small_runs import small_suite, write_run

from arena_core.worlds import World
from orchestrator.analysis.figures.tables import BREAKDOWNS
from orchestrator.analysis.run_report.parting import PartingCause
from orchestrator.analysis.stats.results import EpisodeTable
from orchestrator.analysis.studies.analysis import analyse
from orchestrator.analysis.studies.comparison import NamedRun, read_comparison
from orchestrator.analysis.studies.findings import StudyAnalysis
from orchestrator.analysis.studies.parted import PartedTask, cause_shares
from orchestrator.analysis.studies.study_runs import read_study_run
from orchestrator.analysis.study_report.page import ReportedRun, write_study_report
from orchestrator.cli.analysis.terminal_study import show_study
from orchestrator.cli.console import Console
from orchestrator.runs.store.run_folder import RunFolder

SLOW: Final = pytest.mark.slow(minutes=5)
Plays = Mapping[str, tuple[Sequence[bool | None], Sequence[bool | None]]]


def played(path: Path, plays: Plays, template: str | None = None) -> RunFolder:
    """Write a run of each task's repeats offline and online."""
    suite = small_suite(list(plays))
    if template is not None:
        tasks = tuple(one.model_copy(update={"template": template}) for one in suite.tasks)
        suite = suite.model_copy(update={"tasks": tasks})
    outcomes = {
        world: {task: both[side] for task, both in plays.items()}
        for side, world in enumerate((World.OFFLINE, World.ONLINE))
    }
    repeats = max(len(one) for both in plays.values() for one in both)
    return write_run(path, "a", outcomes, repeats=repeats, suite=suite)


def analysed(folder: RunFolder) -> StudyAnalysis:
    run, rows = read_study_run("a", "small", "run", folder)
    return analyse([], EpisodeTable(rows), [run], title="Parted")


def refused(folder: RunFolder, task: str) -> None:
    """Let the page answer 403 online, where the agent then says that it does not know."""
    steps = [one.model_dump(mode="json") for one in folder.evidence(f"online-{task}-r0-a1").steps]
    steps[1]["status"] = 403
    change(folder, f"online-{task}-r0-a1", steps=steps)


WON, LOST = (True,), (False,)
PLAYS: Final[Plays] = {
    "t0": (WON, LOST),
    "t1": (WON, LOST),
    "t2": (LOST, WON),
    "same": (WON, WON),
    "neither": (LOST, LOST),
    "broken": (WON, (None,)),
}


def test_each_task_that_one_world_alone_solved_counts_once_and_no_other(tmp_path: Path) -> None:
    folder = played(tmp_path / "run", PLAYS)
    refused(folder, "t0")
    analysis = analysed(folder)
    [found], [agreed] = analysis.parted, analysis.agreement
    assert [one.task for one in found.parts] == ["t0", "t1", "t2"]
    assert found.tasks == len(agreed.offline_only) + len(agreed.online_only) == 3
    told = {one.cause: one.tasks for one in found.causes}
    assert told[PartingCause.UNKNOWN] == 2
    assert told[PartingCause.BLOCKED] == 1
    assert set(told) == set(PartingCause)
    assert sum(one.share for one in found.causes) == pytest.approx(1)
    first = found.causes[0]
    assert first.interval is not None
    assert first.interval.low < 2 / 3 < first.interval.high


def test_repeats_that_disagree_within_one_world_are_chance_and_one_task(tmp_path: Path) -> None:
    plays = {"t": ([True] * 3, [False, True, False]), "u": ([True] * 3, [False] * 3)}
    [found] = analysed(played(tmp_path / "run", plays)).parted
    assert [(one.task, one.cause) for one in found.parts] == [
        ("t", PartingCause.CHANCE),
        ("u", PartingCause.UNKNOWN),
    ]
    assert found.tasks == 2


def test_a_task_is_shown_by_the_first_repeat_that_ends_as_most_do(tmp_path: Path) -> None:
    [found] = analysed(
        played(tmp_path / "run", {"t": ([False, True, True], [True, False, False])})
    ).parted
    assert "“answered: it is 39.99” offline" in found.parts[0].because


@pytest.mark.parametrize(
    ("offline", "online"),
    [((True, False), (False, False)), ((None, None), (False, False)), ((None, True), (True, None))],
)
def test_half_of_the_repeats_and_unscored_ones_are_no_disagreement(
    tmp_path: Path, offline: Sequence[bool | None], online: Sequence[bool | None]
) -> None:
    assert analysed(played(tmp_path / "run", {"t": (offline, online)})).parted == ()


def test_tasks_of_one_template_have_no_interval(tmp_path: Path) -> None:
    [found] = analysed(played(tmp_path / "run", PLAYS, template="all")).parted
    assert {one.interval for one in found.causes} == {None}


def test_worlds_that_two_runs_played_are_held_together(tmp_path: Path) -> None:
    runs = [
        write_run(tmp_path / world, "a", {world: {"t": [world is World.OFFLINE]}})
        for world in World
    ]
    read = read_comparison([NamedRun(folder=one) for one in runs])
    [found] = analyse([], read.table, read.runs, title="Both").parted
    assert [one.task for one in found.parts] == ["t"]


def test_terminal_page_table_and_document_say_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = played(tmp_path / "run", PLAYS)
    refused(folder, "t0")
    analysis = analysed(folder)
    show_study(analysis, Console())
    assert "why the worlds part on 3 tasks: unknown 2 (67%, " in " ".join(
        capsys.readouterr().out.split()
    )
    row = BREAKDOWNS["parted"].rows(analysis)[0]
    assert row[:5] == ("a", "small", "unknown", "2 of 3", "67%")
    assert [one[2] for one in BREAKDOWNS["partings"].rows(analysis)] == ["t0", "t1", "t2"]
    page = write_study_report(analysis, [ReportedRun(label="a", folder=folder)], tmp_path / "page")
    assert "<h3>Why the worlds part</h3>" in page.read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(json.dumps(analysis.document()))
    assert document["parted"][0]["causes"][0]["tasks"] == 2
    assert document["parted"][0]["parts"][0]["cause"] == "blocked"


def covered(templates: int, tasks: int, count: int) -> float:
    """Return how often the intervals of all causes cover their true shares at once.

    Templates lean to causes (Dirichlet), as tasks that are alike do.
    """
    random = np.random.default_rng(20_260)
    truth = np.array([0.3, 0.25, 0.2, 0.1, 0.1, 0.05, 0.0])
    hits = 0
    for _ in range(count):
        parts = [
            PartedTask(
                task=f"{template}-{task}",
                template=str(template),
                step=1,
                cause=tuple(PartingCause)[cause],
                because="",
            )
            for template in range(templates)
            for task, cause in enumerate(
                random.choice(6, size=tasks, p=random.dirichlet(4 * truth[:6]))
            )
        ]
        hits += all(
            one.interval is not None
            and one.interval.low <= truth[tuple(PartingCause).index(one.cause)]
            and truth[tuple(PartingCause).index(one.cause)] <= one.interval.high
            for one in cause_shares(parts, confidence=0.95)
        )
    return hits / count


@SLOW
@pytest.mark.parametrize("shape", [(10, 1), (30, 1), (100, 1), (12, 4), (30, 4)], ids=str)
def test_intervals_of_all_causes_cover_at_once(shape: tuple[int, int]) -> None:
    assert covered(*shape, 1_000) >= 0.95 - 0.0207  # three standard errors
