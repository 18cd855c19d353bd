"""A run under seeded faults loses nothing; `make faults` injects a thousand."""

from __future__ import annotations

from pathlib import Path

import pytest
from faults.played import play

pytestmark = [pytest.mark.docker, pytest.mark.browser]


@pytest.mark.slow(minutes=10)
@pytest.mark.parametrize("seed", [0, 1, 2], ids=["oracle", "chat", "miniwob"])
def test_a_run_under_faults_finishes_every_trial_once_and_leaves_nothing(
    seed: int, tmp_path: Path
) -> None:
    played = play(seed, 12, tmp_path)
    assert played.wrong == []
    # How many, goes by how fast the machine plays.
    assert any(one.struck is not None for one in played.injected)
