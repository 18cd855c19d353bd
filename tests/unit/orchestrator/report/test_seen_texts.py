"""A report shows what the agent saw, folded, and stays small."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from made_run import make_run

from orchestrator.report.html import render_html
from orchestrator.report.run_report import read_run
from orchestrator.report.seen_texts import LONGEST, SeenTexts
from orchestrator.store.step_lines import OBSERVATIONS_FILE, StepLines


def write(folder: Path, *lines: dict[str, object]) -> None:
    kept = StepLines()
    for line in lines:
        kept.add(line)
    (folder / OBSERVATIONS_FILE).write_bytes(kept.packed())


def test_a_step_shows_the_texts_of_its_observation_cut_to_what_is_looked_through(
    tmp_path: Path,
) -> None:
    run = make_run(tmp_path / "run")
    name = run.evidence_names()[0]
    trial: Any = SimpleNamespace(folder=name)
    assert SeenTexts(run).text(trial, 0) == ""
    tree = {"text": "[1] <button>" + "x" * 9000}
    write(run.evidence_folder(name), {"step": 0, "parts": {"axtree": tree, "boxes": {"1": {}}}})
    shown = SeenTexts(run).text(trial, 0)
    assert shown.startswith("axtree\n[1] <button>")
    assert len(shown) < LONGEST + 100
    assert OBSERVATIONS_FILE in shown
    assert SeenTexts(run).text(trial, 1) == ""
    page = render_html(read_run(run))
    assert "what the agent saw then" in page
    assert "[1] &lt;button&gt;" in page


def test_a_damaged_file_hides_nothing_else(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    name = run.evidence_names()[0]
    (run.evidence_folder(name) / OBSERVATIONS_FILE).write_bytes(b"\x1f\x8bnothing")
    trial: Any = SimpleNamespace(folder=name)
    assert "cannot be read" in SeenTexts(run).text(trial, 0)
