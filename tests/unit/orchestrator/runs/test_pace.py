"""How many workers: what the machine bore comes in, and the next number comes out."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_core.errors import UsageError
from orchestrator.runs.pace import Load, Pace, Room, next_pace
from orchestrator.runs.spec import RunSettings
from orchestrator.sandbox.memory import GIB, MIB

WIDE = 64 * GIB
loads = st.builds(
    Load,
    cpu=st.floats(0, 1),
    free_bytes=st.integers(0, 8 * GIB),
    total_bytes=st.just(8 * GIB),
)
rooms = st.builds(
    Room, least=st.integers(1, 4), most=st.integers(1, 9), each_bytes=st.integers(0, 2 * GIB)
)
paces = st.builds(
    Pace,
    workers=st.integers(1, 12),
    too_many=st.integers(0, 12),
    looks=st.integers(0, 16),
    patience=st.integers(0, 16),
)


def load(cpu: float, free: int = WIDE) -> Load:
    return Load(cpu=cpu, free_bytes=free, total_bytes=WIDE)


def room(most: int = 9, least: int = 1, each: int = 500 * MIB) -> Room:
    return Room(least=least, most=most, each_bytes=each)


@given(paces, loads, rooms)
def test_it_changes_by_one_and_never_leaves_its_bounds(pace: Pace, load: Load, room: Room) -> None:
    after, why = next_pace(pace, load, room)
    step = after.workers - pace.workers
    assert step in {-1, 0, 1}
    assert bool(why) == bool(step)
    assert after.workers >= 1
    if step > 0:
        assert after.workers <= room.most
        assert load.free_bytes - room.each_bytes >= load.kept_free_bytes


@given(paces, loads, rooms)
def test_a_machine_that_bears_the_same_all_the_time_gets_a_number_that_stays(
    pace: Pace, load: Load, room: Room
) -> None:
    numbers = [pace.workers]
    for _ in range(40):
        pace, _ = next_pace(pace, load, room)
        numbers.append(pace.workers)
    assert numbers in (sorted(numbers), sorted(numbers, reverse=True))
    assert len(set(numbers[-3:])) == 1


@given(st.integers(2, 8), st.integers(20, 200))
def test_a_number_that_is_too_much_for_the_cores_is_tried_more_and_more_seldom(
    too_many: int, looks: int
) -> None:
    pace, tried = Pace(workers=1), 0
    for _ in range(looks):
        before = pace.workers
        pace, _ = next_pace(pace, load(0.95 if before >= too_many else 0.2), room(most=20))
        tried += pace.workers == too_many != before
    assert tried <= 1 + (looks / 8 + 1) ** 0.5
    assert pace.workers in {too_many - 1, too_many} or looks < too_many


def test_idle_cores_get_more_workers_and_busy_ones_fewer_until_one_a_core() -> None:
    assert next_pace(Pace(workers=2), load(0.1), room())[0].workers == 3
    assert next_pace(Pace(workers=2), load(0.7), room())[0].workers == 2
    assert next_pace(Pace(workers=3), load(0.95), room(least=2))[0].workers == 2
    assert next_pace(Pace(workers=2), load(1.0), room(least=2))[0].workers == 2


def test_scarce_memory_takes_workers_away_whatever_the_cores_do() -> None:
    after, why = next_pace(Pace(workers=2), load(0.0, free=300 * MIB), room(least=2))
    assert (after.workers, why) == (1, "300 MiB of memory are free")
    assert next_pace(after, load(0.0, free=300 * MIB), room(least=2))[0].workers == 1
    assert next_pace(after, load(0.0, free=WIDE // 20 + 100 * MIB), room())[0].workers == 1


def test_after_the_machine_is_quiet_again_a_number_that_was_too_many_is_tried_once_more() -> None:
    pace = Pace(workers=3)
    pace, _ = next_pace(pace, load(0.95), room())
    numbers = []
    for _ in range(9):
        pace, _ = next_pace(pace, load(0.1), room())
        numbers.append(pace.workers)
    assert numbers == [2] * 7 + [3, 4]


@pytest.mark.parametrize("given", [3, "3"])
def test_a_number_is_one_also_as_a_command_line_has_it(given: Any) -> None:
    assert RunSettings.of(workers=given).workers == 3


def test_auto_begins_with_a_worker_a_core_and_four_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = RunSettings.of(workers="auto")
    begun = []
    for cores in (None, 1, 2, 64):
        monkeypatch.setattr(os, "cpu_count", lambda found=cores: found)
        begun.append(asked.workers_at_first)
    assert (asked.workers, begun) == ("auto", [1, 1, 2, 4])


@pytest.mark.parametrize("given", [0, -1, "0", "many", "", "٣", True, 1.5])
def test_what_is_neither_a_number_nor_auto_is_refused(given: Any) -> None:
    with pytest.raises(UsageError, match="workers: must be a number from 1, or auto"):
        RunSettings.of(workers=given)
