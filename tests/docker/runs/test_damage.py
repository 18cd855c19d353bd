"""A run folder that was damaged: whole commands name it, go on with the rest, and repair it."""

from __future__ import annotations

from pathlib import Path

import pytest
from quick_cases import SLOW
from support.agents.arena_process import arena
from support.runs.run_at import RunAt
from support.tasks.small_suites import bells, write_suite

from arena_core.errors import StoreError

pytestmark = [pytest.mark.docker, pytest.mark.browser]


@SLOW
def test_a_run_that_was_damaged_is_reported_with_its_gaps_and_repaired_by_going_on(
    run: RunAt, tmp_path: Path
) -> None:
    played = run.play(write_suite(tmp_path, bells("bells"), bells("after")))
    assert played.code == 0, played.err
    assert "(reference agent, not a contestant)" in played.err.splitlines()[0]
    path = run.path / "evidence" / "offline-bells-r0-a1" / "evidence.json"
    path.write_text(path.read_text(encoding="utf-8")[:1000], encoding="utf-8")
    (run.path / "ledger.sqlite").write_bytes(b"")
    reported = arena("report", "run", "--json", cwd=run.cwd)
    assert reported.code == StoreError.exit_code, reported.err
    assert reported.document["totals"]["offline"]["unscored"] == {"unreadable": 1}
    assert reported.document["recovered"] == 2
    resumed = run.resume()
    assert resumed.code == 0, resumed.err
    assert "offline-bells-r0-a1/evidence.json" in resumed.err
    assert sorted(run.ledger()) == [
        ("after", 1, "finished", "success"),
        ("bells", 1, "abandoned", None),
        ("bells", 2, "finished", "success"),
    ]
    again = arena("report", "run", "--json", cwd=run.cwd)
    assert (again.document["recovered"], again.document["unreadable"]) == (0, [])
