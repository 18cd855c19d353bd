"""A run as data: worlds side by side, and what counts as a parting."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from arena_process import Ended as Process
from tiny_run import SUITE, make_lock

from arena_core.worlds import World
from evaluators.evidence import Ended, Evidence
from orchestrator.report.html import render_html
from orchestrator.report.run_report import RunReport, TaskRow, read_run
from orchestrator.spending import Spent
from orchestrator.store.ledger import AttemptState
from orchestrator.store.lock import SpendingLimits
from orchestrator.store.run_folder import RunFolder
from orchestrator.store.trials import Trial


def row(report: RunReport, task: str) -> TaskRow:
    return next(row for row in report.rows if row.task.id == task)


def test_every_task_of_the_run_has_a_row_even_one_that_was_not_played(report: RunReport) -> None:
    names = [one.task.id for one in report.rows]
    assert names == ["agrees", "parts", "gone", "broken", "hostile", "left"]
    assert row(report, "left").trials[World.ONLINE] == ()
    assert report.pending == 1


def test_worlds_part_at_the_check_that_only_one_meets(report: RunReport) -> None:
    assert [one.check for one in row(report, "parts").divergences] == ["price"]
    assert row(report, "parts").diverges
    assert not row(report, "agrees").diverges


def test_a_world_that_drifted_parts_without_a_check(report: RunReport) -> None:
    """The agent never started: that no check is met says nothing."""
    assert row(report, "gone").diverges
    assert row(report, "gone").divergences == ()


def test_a_machine_that_failed_is_no_parting_of_the_worlds(report: RunReport) -> None:
    assert not row(report, "broken").diverges
    assert row(report, "broken").divergences == ()


def test_a_task_played_in_one_world_alone_parts_from_nothing(report: RunReport) -> None:
    assert not row(report, "left").diverges


def test_totals_leave_the_unscored_out_and_name_them(report: RunReport) -> None:
    offline, online = report.summaries[World.OFFLINE], report.summaries[World.ONLINE]
    assert (offline.trials, offline.scored) == (6, 5)
    assert (online.trials, online.scored) == (5, 4)
    assert [(str(reason), count) for reason, count in online.unscored] == [("drifted", 1)]
    assert {one.trial.task for one in report.unscored} == {"gone", "broken"}


def test_agreement_is_over_tasks_that_have_a_score_in_both(report: RunReport) -> None:
    assert report.agreement is not None
    assert report.agreement.both == ("agrees",)
    assert report.agreement.first_only == ("parts", "hostile")


def spending_run(path: Path, limits: SpendingLimits, *reported: Spent | None) -> RunFolder:
    """Write a run of three repeats under limits, and what the agent reported of each."""
    lock = make_lock().model_copy(update={"limits": limits, "repeats": 3})
    folder = RunFolder.create(path, lock, SUITE)
    with folder.writing() as ledger:
        for repeat, spent in enumerate(reported):
            trial = Trial("one", World.OFFLINE, repeat)
            number = ledger.start(trial)
            if spent is not None:
                ledger.spend(trial, number, spent)
            evidence = Evidence(
                suite="tiny",
                task="one",
                world=World.OFFLINE,
                agent="own",
                repeat=repeat,
                attempt=number,
                started_at="2026-11-21T00:00:00Z",
                seconds=1.0,
                answer="1891",
                ended=Ended.STOPPED,
            )
            folder.save_evidence(trial.folder(number), evidence, {})
            ledger.end(trial, number, AttemptState.FINISHED, "success")
        last = Trial("one", World.OFFLINE, len(reported))
        ledger.end(last, ledger.start(last), AttemptState.FINISHED, "unscored: budget")
    return folder


def test_a_limit_that_an_agent_kept_silent_under_is_said_not_to_have_been_held(
    tmp_path: Path, call: Callable[..., Process]
) -> None:
    """It declared that it says what it spends, so the run began."""
    limits = SpendingLimits(max_usd=1)
    folder = spending_run(tmp_path / "run", limits, None, Spent.reported(100, 10, 0.1))
    words = "the limit of $1.00 could not be held: idle reported no spending in 1 episode,"
    report = read_run(folder)
    assert str(report.unheld_budget).startswith(words)
    assert words in render_html(report)
    shown = call("report", str(folder.path), "--html", str(tmp_path / "r.html"))
    assert words in " ".join(shown.out.split())


@pytest.mark.parametrize(
    ("limits", "reported"),
    [
        (SpendingLimits(), None),
        (SpendingLimits(max_usd=1), Spent.reported(0, 0, 0.0)),
        (SpendingLimits(max_tokens=1000), Spent.reported(100, 10, None)),
    ],
)
def test_a_limit_that_was_held_or_is_none_is_not_spoken_of(
    tmp_path: Path, limits: SpendingLimits, reported: Spent | None
) -> None:
    assert read_run(spending_run(tmp_path / "run", limits, reported)).unheld_budget is None
