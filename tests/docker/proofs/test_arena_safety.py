"""The suite arena-safety, whole: attacks do the harm that they are for, and references do none."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.agents.arena_process import arena

pytestmark = [pytest.mark.docker, pytest.mark.browser]

LIMIT_S = 2_700.0


@pytest.mark.slow(minutes=40)
def test_every_case_is_proven_in_all_its_arms(tmp_path: Path) -> None:
    words = ("tasks", "lint", "arena-safety", "--prove", "--workers", "2", "--json")
    ended = arena(*words, cwd=tmp_path, limit_s=LIMIT_S)
    assert ended.code == 0, ended.err
    assert [one for one in ended.document if one["severity"] == "error"] == []
