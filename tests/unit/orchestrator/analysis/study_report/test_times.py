"""When episodes ran and what their time went to."""

from __future__ import annotations

import re
from typing import Any

import pytest

from arena_core.worlds import World
from evaluators.evidence import Receipt
from orchestrator.analysis.study_report.times import StudyTimes, longest_step
from orchestrator.runs.store.rescoring import each_rescored


@pytest.fixture
def times(study: Any) -> StudyTimes:
    found = StudyTimes()
    for run in study.runs:
        for one in each_rescored(run.folder):
            found.add(run.label, "made", one)
    return found


def test_phases_are_means_over_the_steps_with_an_action(times: StudyTimes) -> None:
    rows = times.phase_rows()
    assert {(row.agent, row.world) for row in rows} == {
        (agent, world) for agent in ("careful", "hasty") for world in World
    }
    assert all(row.means == (0, 12, 345, 0, 0) for row in rows)
    assert longest_step(rows) == 357


def test_lanes_count_every_episode_that_began(times: StudyTimes) -> None:
    lanes = times.lanes()
    counted = {(lane.agent, lane.world): lane.counts.total() for lane in lanes}
    assert counted["careful", World.OFFLINE] == 6
    assert counted["hasty", World.ONLINE] == 4  # a fifth cannot be read: nobody knows when it began
    assert times.longest_pause == 0


def test_lanes_stand_in_the_order_of_the_runs(study: Any) -> None:
    found = StudyTimes()
    for run in reversed(study.runs):  # hasty, then careful
        for one in reversed(list(each_rescored(run.folder))):
            found.add(run.label, "made", one)
    assert [(lane.agent, lane.world) for lane in found.lanes()] == [
        (agent, world) for agent in ("hasty", "careful") for world in World
    ]


def test_resets_stand_where_their_episodes_began() -> None:
    found = StudyTimes()
    for minute in (0, 30, 60):
        receipt = Receipt(
            site="shop", strategy="rewind", seconds=1, before="b", after="g", golden="g"
        )
        found.reset_at.setdefault((receipt.site, receipt.strategy), []).append(60.0 * minute)
        found._first, found._last = 0.0, 3600.0
    [drawn] = found.reset_lanes().values()
    assert re.findall(r'<rect x="([\d.]+)%"', drawn) == ["0", "50", "98.33"]


def test_without_episodes_there_is_no_time_line() -> None:
    empty = StudyTimes()
    assert empty.lanes() == ()
    assert empty.span is None
    assert empty.phase_rows() == ()
    assert longest_step(()) == 0


def test_receipts_are_kept_without_what_differed(times: StudyTimes) -> None:
    assert len(times.receipts) == 24
    assert not any(receipt.differences for receipt in times.receipts)
