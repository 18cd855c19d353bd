from __future__ import annotations

import pytest

from arena_core.errors import UsageError
from orchestrator.reset.ladder import LADDER, rungs_for


def test_auto_is_the_whole_ladder_and_a_name_is_one_rung() -> None:
    assert [rung.name for rung in LADDER] == ["clean", "rewind", "recreate"]
    assert rungs_for("auto") == LADDER
    assert [rung.name for rung in rungs_for("recreate")] == ["recreate"]


def test_an_unknown_strategy_is_answered_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="'x'; there are: auto, swap, clean, rewind, recreate"):
        rungs_for("x")


def test_behind_a_swap_every_way_back_is_open() -> None:
    assert rungs_for("swap") == LADDER
