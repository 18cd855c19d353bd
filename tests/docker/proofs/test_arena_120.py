"""The suite arena-120, whole: every key is computed, and every proof of every task is played."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.agents.arena_process import arena

pytestmark = [pytest.mark.docker, pytest.mark.browser]

LIMIT_S = 3_000.0


@pytest.mark.slow(minutes=20)
def test_every_task_of_arena_120_is_proven_in_its_worlds(tmp_path: Path) -> None:
    words = ("tasks", "lint", "arena-120", "--prove", "--workers", "2", "--json")
    ended = arena(*words, cwd=tmp_path, limit_s=LIMIT_S)
    assert ended.code == 0, ended.err
    assert [one for one in ended.document if one["severity"] == "error"] == []
