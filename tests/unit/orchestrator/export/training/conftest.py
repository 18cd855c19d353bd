from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.runs.played_episode import ANSWER, NODE
from support.runs.sampled_runs import Sampled, sampled_run
from support.worlds.fake_world import browsing_task

from orchestrator.analysis.run_report.extension_points import EXPORTERS, Written
from orchestrator.analysis.run_report.run_report import RunReport
from tasks.schema import Task

Play = Callable[..., Any]
Export = Callable[..., tuple[Written, list[dict[str, Any]], dict[str, Any]]]


@pytest.fixture
def task() -> Task:
    """A task with a key node on the way."""
    return browsing_task(checks=[NODE, ANSWER])


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Play episodes into a run: `await play([Sampled(…)])`."""

    async def _play(episodes: Sequence[Sampled], name: str = "run", **more: Any) -> RunReport:
        return await sampled_run(tmp_path / name, episodes, run=name, **more)

    return _play


@pytest.fixture
def export(tmp_path: Path) -> Export:
    """Export runs: `written, records, card = export("sft", run)`."""

    def _export(
        form: str, *runs: RunReport, **options: object
    ) -> tuple[Written, list[dict[str, Any]], dict[str, Any]]:
        folder = tmp_path / f"{form}-{len(list(tmp_path.iterdir()))}"
        written = EXPORTERS.load(form).export(runs, folder, **options)
        lines = (folder / f"{form}.jsonl").read_text(encoding="utf-8").splitlines()
        card = json.loads((folder / "data-card.json").read_text(encoding="utf-8"))
        return written, [json.loads(line) for line in lines], card

    return _export
