from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from support.runs.evidence_changes import change
from support.runs.made_run import make_run

from orchestrator.runs.store.run_folder import RunFolder


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    """A run of eleven episodes, two of them unscored."""
    return make_run(tmp_path / "run")


@pytest.fixture
def repeated(run: RunFolder) -> RunFolder:
    """The run with a second repeat: of one task unscored, of another one the other outcome."""
    drifted = {"fault": {"reason": "drifted", "message": "no such product", "place": None}}
    for task, changes in (("agrees", drifted), ("parts", {"answer": "nobody knows"})):
        name = f"offline-{task}-r1-a1"
        shutil.copytree(run.evidence_folder(f"offline-{task}-r0-a1"), run.evidence_folder(name))
        change(run, name, repeat=1, **changes)
    lock = run.path / "lock.json"
    lock.write_text(json.dumps(json.loads(lock.read_text()) | {"repeats": 2}))
    return run
