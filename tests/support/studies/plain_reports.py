"""Reports without what they take longest for: drawn figures, and the power of open answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator.analysis.figures import writing
from orchestrator.analysis.studies import analysis

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def save_plainly(figure: Figure, folder: Path, name: str) -> tuple[Path, Path]:
    """Write what a figure says into both its files; the same figure gives the same bytes."""
    from matplotlib.text import Text  # noqa: PLC0415  it takes a second to import

    said = [text.get_text() for text in figure.findobj(Text)]
    said += [str(line.get_xydata()) for axes in figure.axes for line in axes.lines]
    svg, pdf = folder / f"{name}.svg", folder / f"{name}.pdf"
    for path in (svg, pdf):
        path.write_text("\n".join(said), encoding="utf-8")
    return svg, pdf


@contextmanager
def plain_reports() -> Iterator[None]:
    """Write figures without drawing them, and leave the power of undecided answers out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing, "save", save_plainly)
        patch.setattr(analysis, "power_figures", lambda *_, **__: ())
        yield
