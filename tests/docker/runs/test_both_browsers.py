"""Whole tasks of the demo look and score the same in the headless shell and the full browser."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from support.runs.run_at import RunAt, on_engine

from orchestrator.episode.jsonl_files import OBSERVATIONS_FILE, read_lines
from orchestrator.runs.store.rescoring import rescore
from orchestrator.runs.store.run_folder import RunFolder

SHELL, FULL = "chromium-headless-shell", "chromium"
pytestmark = [
    pytest.mark.docker,
    pytest.mark.browser,
    pytest.mark.slow(minutes=8),
    pytest.mark.skipif(not (shutil.which(SHELL) and shutil.which(FULL)), reason="not both there"),
]

# Both sites, both logins of the shop, key nodes, forms, orders, and what only the database shows.
TASKS: Final = (
    *("wiki-bells-of-bruges", "shop-cheapest-compass", "both-review-with-a-year"),
    *("shop-order-chess-set", "merchant-change-a-price"),
)
# The oracle, which is shown all that is text.
AGENT: Final = """
from dataclasses import replace

from orchestrator.agents.builtin.oracle import ORACLE

FORMS = ("axtree", "aria", "html", "pruned_html", "pruned_html_xml", "boxes")
LOOKING = replace(
    ORACLE, observations=frozenset([*FORMS, *(f"{name}@viewport" for name in FORMS)])
)
"""
# A fresh token in each page that has a form, and the moment of a change of the database.
_FRESH: Final = re.compile(r"\b[A-Za-z0-9]{64}\b|\b2026-10-01 09:\d\d:\d\d\.\d{6}\b")
_LIMIT_S: Final = 400.0
_BY_THE_CLOCK: Final = {"timings", "screenshot", "requests"}


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[dict[str, RunAt]]:
    """A run in each browser; whatever containers they leave are removed after the test."""
    found: dict[str, RunAt] = {}
    for name in (SHELL, FULL):
        (tmp_path / name).mkdir()
        (tmp_path / name / "looking.py").write_text(AGENT)
        found[name] = RunAt(tmp_path / name)
    yield found
    for run in found.values():
        if (run.path / "lock.json").is_file():
            _sweep(run.lock.run)


def _sweep(owner: str) -> None:
    on_engine(lambda engine: engine.sweep(owner))


def test_observations_steps_and_verdicts_are_the_same(
    runs: dict[str, RunAt], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, run in runs.items():
        monkeypatch.setenv("ARENA_CHROMIUM", str(shutil.which(name)))
        with run.start(Path("demo"), *TASKS, "--agent", "looking:LOOKING", "--offline") as eval_:
            played = eval_.wait(_LIMIT_S)
        assert played.code == 0, played.err
        assert run.attempts() == [("finished", "success")] * len(TASKS)
        assert ("headless shell" in str(run.lock.browser)) == (name == SHELL)
    shell, full = (RunFolder(run.path) for run in runs.values())
    assert scores(shell) == scores(full)
    for name in shell.evidence_names():
        assert steps(shell, name) == steps(full, name)
        seen, seen_too = observations(shell, name), observations(full, name)
        assert len(seen) == len(seen_too) > 0
        for number, (one, other) in enumerate(zip(seen, seen_too, strict=True)):
            assert one == other, f"{name}, observation {number}"


def scores(folder: RunFolder) -> dict[str, Any]:
    """Return the score of each task, verdicts included, the moments of changes aside."""
    return {row.key.task: _without_fresh(row.document()) for row in rescore(folder)}


def steps(folder: RunFolder, name: str) -> list[dict[str, Any]]:
    """Return what was done and what it changed."""
    return [step.model_dump(exclude=_BY_THE_CLOCK) for step in folder.evidence(name).steps]


def observations(folder: RunFolder, name: str) -> list[Any]:
    """Return what the agent saw, tokens of forms aside."""
    lines = read_lines(folder.evidence_folder(name) / OBSERVATIONS_FILE)
    return [_without_fresh(line) for line in lines]


def _without_fresh(value: Any) -> Any:
    if isinstance(value, str):
        return _FRESH.sub("FRESH", value)
    if isinstance(value, list):
        return [_without_fresh(one) for one in value]
    if isinstance(value, dict):
        return {name: _without_fresh(one) for name, one in value.items()}
    return value
