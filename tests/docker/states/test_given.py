"""`given` in a whole run: each task begins in its own world, and what cannot be set up is said."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from support.agents.arena_process import arena
from support.runs.run_at import RunAt, on_engine

from orchestrator.runs.store.rescoring import rescore
from orchestrator.runs.store.run_folder import RunFolder

pytestmark = [pytest.mark.docker, pytest.mark.browser]

GUIDE = Path("docs/set-up-a-world.md").resolve()


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunAt]:
    cwd = tmp_path / "empty"
    cwd.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    found = RunAt(cwd)
    yield found
    if (found.path / "lock.json").is_file():
        owner = found.lock.run
        on_engine(lambda engine: engine.sweep(owner))


def suite(folder: Path) -> Path:
    """Write the guide's suite, with a task on golden and two that cannot be set up beside it."""
    block = re.search(r"```yaml\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    document = yaml.safe_load(block[1])
    (task,) = document["tasks"]
    golden = {
        **task,
        "id": "golden",
        "given": {},
        "checks": [
            {
                "name": "as-sealed",
                "when": "end",
                "locate": {
                    "by": "db",
                    "site": "tools",
                    "sql": "SELECT COUNT(*) FROM desk_note WHERE title LIKE 'Rope %'",
                },
                "match": {"how": "exact", "value": "0"},
            }
        ],
        "reference": [{"do": "stop"}],
    }
    broken = {
        **task,
        "id": "broken",
        "given": {"tools": [{"sql": "INSERT INTO desk_note (id) VALUES (36)"}]},
    }
    lost = {
        **task,
        "id": "lost",
        "given": {"tools": [{"do": [{"do": "click", "role": "link", "name": "Not there"}]}]},
    }
    document["tasks"] = [task, golden, broken, {**task, "id": "again"}, lost]
    path = folder / "rope.yaml"
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return path


@pytest.mark.slow(minutes=2)
def test_each_task_begins_in_its_own_world(run: RunAt, tmp_path: Path) -> None:
    path = suite(tmp_path)
    played = run.play(path, "--agent", "oracle", "--repeats", "2")
    assert run.path.is_dir(), played.err
    found = {(row.key.task, row.key.repeat): row for row in rescore(RunFolder.open(run.path))}
    for repeat in (0, 1):
        for name in ("rope-pin", "golden", "again"):
            row = found[name, repeat]
            assert str(row.score.outcome) == "success", row.score.verdicts
        for name, why in (("broken", "ERROR "), ("lost", "finds no such element")):
            row = found[name, repeat]
            assert str(row.score.outcome) == "unscored: check_error"
            assert why in row.score.because
    assert played.err.count("setting up tools for 'rope-pin'") == 1
    assert "setting up tools for 'again'" not in played.err
    goldens = {
        name: {receipt.golden for receipt in found[name, 0].evidence.receipts}
        for name in ("rope-pin", "golden", "again")
    }
    assert goldens["rope-pin"] == goldens["again"] != goldens["golden"]
    proven = arena("tasks", "lint", str(path), "--task", "rope-pin", "--prove", cwd=run.cwd)
    # What a browser writes has the time of the site's clock, which runs.
    (warned,) = (line for line in proven.out.splitlines() if "rope.yaml:" in line)
    assert "set up twice, it differs: table desk_note: same number of rows" in warned
