"""Writes figures, tables, the study card and the prompts into a folder."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena_core.errors import StoreError
from orchestrator.analysis.figures.agreement import agreement
from orchestrator.analysis.figures.cost import cost
from orchestrator.analysis.figures.forest import differences, forest, pairs
from orchestrator.analysis.figures.slices import heat_map, slices
from orchestrator.analysis.figures.style import drawing, save
from orchestrator.analysis.figures.tables import (
    ANSWERS,
    BREAKDOWNS,
    CELLS,
    latex,
    markdown,
    markdown_text,
)
from orchestrator.analysis.studies.findings import StudyAnalysis

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_FENCES: Final = re.compile(r"`{3,}")
FIGURES: Final[dict[str, Callable[[StudyAnalysis], Figure | None]]] = {
    "forest": forest,
    "differences": differences,
    "pairs": pairs,
    "heat-map": heat_map,
    "worlds": agreement,
    "slices": slices,
    "cost": cost,
}


def study_card(analysis: StudyAnalysis) -> str:
    """Return the study card; empty where nothing was played."""
    lines: list[str] = []
    for part in analysis.card.parts:
        lines += ["", f"## {markdown_text(part.title)}", ""]
        lines += [f"- {markdown_text(line)}" for line in part.lines]
    return "\n".join([f"# {markdown_text(analysis.title)}", *lines, ""]) if lines else ""


def prompts(analysis: StudyAnalysis) -> str:
    """Return the first prompt of each agent, word for word; empty where no model was asked."""
    lines: list[str] = []
    for one in analysis.prompts:
        lines += ["", f"## {markdown_text(f'{one.agent}, {one.suite}')}", ""]
        lines += [markdown_text(f"Model {one.model}, first request of {one.episode}.")]
        for message in one.messages:
            lines += ["", f"### {markdown_text(message.role)}", "", *_fenced(message.text)]
        if one.tools:
            lines += ["", "### functions offered", "", *_fenced(one.tools)]
    title = f"# Prompts of {markdown_text(analysis.title)}"
    return "\n".join([title, *lines, ""]) if lines else ""


def _fenced(text: str) -> list[str]:
    """Return a text as a block that nothing in it ends."""
    longest = max((len(one) for one in _FENCES.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return [fence, text, fence]


def write_figures(analysis: StudyAnalysis, folder: Path) -> tuple[Path, ...]:
    """Write each figure as SVG and PDF, each table as LaTeX and Markdown.

    The study card and the prompts are Markdown alone.

    A figure that has nothing to show (the worlds' agreement of one world) is left out. The same
    findings give the same bytes.

    Returns:
        What was written, in order.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return (*_figures(analysis, folder), *_tables(analysis, folder))
    except OSError as cause:
        message = f"{folder}: figures cannot be written there: {cause.strerror or cause}"
        raise StoreError(message) from cause


def _figures(analysis: StudyAnalysis, folder: Path) -> list[Path]:
    written: list[Path] = []
    if not analysis.cells:
        return written
    with drawing():
        for name, draw in FIGURES.items():
            if (figure := draw(analysis)) is not None:
                written += save(figure, folder, name)
    return written


def _tables(analysis: StudyAnalysis, folder: Path) -> list[Path]:
    written: list[Path] = []
    for name, table in {"cells": CELLS, "answers": ANSWERS, **BREAKDOWNS}.items():
        rows = table.rows(analysis)
        if not rows:
            continue
        for ending, text in (("tex", latex(table, rows)), ("md", markdown(table, rows))):
            target = folder / f"{name}.{ending}"
            target.write_text(text, encoding="utf-8")
            written.append(target)
    for name, text in (("study-card", study_card(analysis)), ("prompts", prompts(analysis))):
        if text:
            target = folder / f"{name}.md"
            target.write_text(text, encoding="utf-8")
            written.append(target)
    return written
