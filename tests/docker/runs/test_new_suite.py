"""The suite that `arena tasks new` writes can be solved, and by nothing less."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.agents.arena_process import arena

pytestmark = [pytest.mark.docker, pytest.mark.browser]


def test_a_new_suite_proves_as_it_is_written(tmp_path: Path) -> None:
    assert arena("tasks", "new", "my-suite.yaml", cwd=tmp_path).code == 0

    proved = arena("tasks", "lint", "my-suite.yaml", "--prove", "--json", cwd=tmp_path)

    assert proved.code == 0, proved.err
    assert proved.document == []
