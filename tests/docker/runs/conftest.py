"""A folder to run `arena eval` in; what a run leaves behind is removed after its test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.runs.run_at import RunAt, on_engine


@pytest.fixture
def run(tmp_path: Path) -> Iterator[RunAt]:
    """A run to be; whatever containers it leaves are removed after the test."""
    cwd = tmp_path / "empty"
    cwd.mkdir()
    found = RunAt(cwd)
    yield found
    if (found.path / "lock.json").is_file():
        owner = found.lock.run
        on_engine(lambda engine: engine.sweep(owner))
