from __future__ import annotations

import pytest

from arena_core.errors import UsageError
from orchestrator.sandbox.reset.ladder import LADDER, strategies_for


def test_auto_is_the_whole_ladder_and_a_name_is_one_strategy() -> None:
    assert [strategy.name for strategy in LADDER] == ["clean", "rewind", "recreate"]
    assert strategies_for("auto") == LADDER
    assert [strategy.name for strategy in strategies_for("recreate")] == ["recreate"]


def test_an_unknown_strategy_is_answered_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="'x'; there are: auto, swap, clean, rewind, recreate"):
        strategies_for("x")


def test_behind_a_swap_every_way_back_is_open() -> None:
    assert strategies_for("swap") == LADDER
