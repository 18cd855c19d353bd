"""`make soak` tells what grows from what comes and goes, and a slower end from an even pace."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from soak.trends import Sample, descriptors, episodes_a_minute, files_below, memory_mb, trend


def _samples(name: str, figure: Callable[[float], float]) -> list[Sample]:
    return [Sample(at, {name: figure(at)}) for at in range(0, 3600, 10)]


def test_what_comes_and_goes_is_flat() -> None:
    found = trend("containers", _samples("containers", lambda at: 6 + (at // 10) % 3))
    assert found is not None
    assert found.is_flat
    assert found.mean == pytest.approx(7, abs=0.1)


def test_a_leak_grows_and_its_day_is_reckoned() -> None:
    found = trend("driver MB", _samples("driver MB", lambda at: 200 + at / 36))
    assert found is not None
    assert not found.is_flat
    assert found.growth == pytest.approx(100, rel=0.01)
    assert found.of_a_day == pytest.approx(2400, rel=0.01)


def test_a_figure_that_falls_is_flat_and_one_that_was_not_read_has_no_trend() -> None:
    found = trend("processes", _samples("processes", lambda at: 90 - at / 60))
    assert found is not None
    assert found.is_flat
    assert trend("volumes", _samples("processes", lambda _: 1)) is None


def test_the_pace_counts_episodes_by_their_end() -> None:
    ends = [*range(0, 600, 20), *range(600, 1200, 40)]
    assert episodes_a_minute(ends, 0, 600) == pytest.approx(3)
    assert episodes_a_minute(ends, 600, 1200) == pytest.approx(1.5)


def test_a_process_and_a_folder_are_read(tmp_path: Path) -> None:
    before = descriptors(os.getpid())
    with (tmp_path / "a").open("wb") as file:
        file.write(b"x" * 3_000_000)
        file.flush()
        assert descriptors(os.getpid()) == before + 1
        assert files_below(tmp_path) == (1, 3.0)
    assert memory_mb(os.getpid()) > 5
