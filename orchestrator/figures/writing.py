"""All figures and tables of a study, into one folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena_core.errors import StoreError
from orchestrator.figures.agreement import agreement
from orchestrator.figures.cost import cost
from orchestrator.figures.differences import differences
from orchestrator.figures.forest import forest
from orchestrator.figures.heat_map import heat_map
from orchestrator.figures.slices import slices
from orchestrator.figures.style import drawing, save
from orchestrator.figures.tables import ANSWERS, CELLS, latex, markdown
from orchestrator.studies.findings import StudyAnalysis

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES: Final[dict[str, Callable[[StudyAnalysis], Figure | None]]] = {
    "forest": forest,
    "differences": differences,
    "heat-map": heat_map,
    "worlds": agreement,
    "slices": slices,
    "cost": cost,
}


def write_figures(analysis: StudyAnalysis, folder: Path) -> tuple[Path, ...]:
    """Write each figure as SVG and PDF, and the tables of cells and answers as LaTeX and Markdown.

    A figure that has nothing to show (the worlds' agreement of one world) is left out. The same
    findings give the same bytes.

    Returns:
        What was written, in order.

    Raises:
        StoreError: the folder cannot be written.
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
    for name, table in (("cells", CELLS), ("answers", ANSWERS)):
        rows = table.rows(analysis)
        if not rows:
            continue
        for ending, text in (("tex", latex(table, rows)), ("md", markdown(table, rows))):
            target = folder / f"{name}.{ending}"
            target.write_text(text, encoding="utf-8")
            written.append(target)
    return written
