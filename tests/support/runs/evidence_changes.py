"""Evidence of a run on disk, changed by hand."""

from __future__ import annotations

import json

from orchestrator.runs.store.run_folder import RunFolder


def change(run: RunFolder, name: str, **changes: object) -> None:
    """Write other evidence in place of an attempt's."""
    path = run.evidence_folder(name) / "evidence.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    run.evidence(name)
