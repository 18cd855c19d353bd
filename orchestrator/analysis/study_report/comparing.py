"""Compares runs that no study holds together, and writes the page of what was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from arena_core.errors import UsageError
from orchestrator.analysis.figures.writing import write_figures
from orchestrator.analysis.studies.analysis import analyse
from orchestrator.analysis.studies.comparison import (
    Comparison,
    NamedRun,
    browsers_apart,
    own_questions,
    read_comparison,
)
from orchestrator.analysis.studies.findings import StudyAnalysis
from orchestrator.analysis.studies.questions import Question
from orchestrator.analysis.study_report.page import ReportedRun, write_study_report
from orchestrator.runs.store.run_folder import RunFolder

RunOrLabelled = Path | str | tuple[str, Path | str]
_LEVEL_LIMIT: Final = 0.5


@dataclass(frozen=True, slots=True, repr=False)
class ComparedRuns:
    """Runs that were compared, and what was found."""

    comparison: Comparison
    analysis: StudyAnalysis

    def __repr__(self) -> str:
        return f"<ComparedRuns {self.analysis!r}>"

    def to_pandas(self) -> Any:
        """Return the figures of each agent, suite and world, one a row.

        Raises:
            PrerequisiteError: pandas is not installed; says what installs it.
        """
        return self.analysis.to_pandas()


def compare_runs(
    runs: Sequence[RunOrLabelled], *, margin: float | None, alpha: float, seed: int
) -> ComparedRuns:
    """Compare runs on the tasks that they share; arguments are those of `arena.runs.compare`."""
    _refuse_numbers(margin, alpha)
    comparison = read_comparison([_named(run) for run in runs])
    questions = own_questions(comparison.runs, margin)
    _refuse_no_question(margin, questions, comparison)
    labels = dict.fromkeys(run.label for run in comparison.runs)
    analysis = analyse(
        questions,
        comparison.table,
        comparison.runs,
        title=f"Comparison of {' and '.join(labels)}",
        alpha=alpha,
        seed=seed,
        notes=comparison.notes,
    )
    return ComparedRuns(comparison, analysis)


def write_comparison(found: ComparedRuns, folder: Path) -> Path:
    """Write the page of a comparison; errors are those of `arena.runs.write_comparison`."""
    if folder.suffix in {".html", ".htm"} or folder.is_file():
        message = f"{folder}: the page needs a folder, since its episodes stand beside it"
        raise UsageError(message, hint=f"take {folder.with_suffix('')}")
    pairs = zip(found.comparison.runs, found.comparison.folders, strict=True)
    runs = [ReportedRun(label=run.label, folder=at, suite=run.suite) for run, at in pairs]
    figures = write_figures(found.analysis, folder / "figures")
    return write_study_report(found.analysis, runs, folder, beside=figures)


def _named(run: RunOrLabelled) -> NamedRun:
    label, path = run if isinstance(run, tuple) else (None, run)
    return NamedRun(folder=RunFolder.open(Path(path)), label=label)


def _refuse_numbers(margin: float | None, alpha: float) -> None:
    if margin is not None and not 0 < margin < 1:
        message = f"a margin is a share between 0 and 1, as in a study's file, not {margin:g}"
        raise UsageError(message, hint="0.05 is 5 points")
    if not 0 < alpha < _LEVEL_LIMIT:
        raise UsageError(f"alpha lies between 0 and {_LEVEL_LIMIT}, not at {alpha:g}")


def _refuse_no_question(
    margin: float | None, questions: Sequence[Question], comparison: Comparison
) -> None:
    for said in () if questions else browsers_apart(comparison.runs):
        hint = "play one of them again in the browser of the other: --browser"
        raise UsageError(f"there is nothing to compare: {said}", hint=hint)
    if not questions:
        message = (
            "there is nothing to compare: no two agents were played in the same world, and none in"
            " both (other options or versions make another agent)"
        )
        raise UsageError(message)
    if margin is not None and all(one.margin is None for one in questions):
        raise UsageError("a margin has no effect here: no agent was played in both worlds")
