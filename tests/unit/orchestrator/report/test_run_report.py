"""A run as data: worlds side by side, and what counts as a parting."""

from __future__ import annotations

from arena_core.worlds import World
from orchestrator.report.run_report import RunReport, TaskRow


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
