"""The part of `Arena` about comparing runs that no study holds together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from orchestrator.studies.comparison import Comparison, NamedRun
    from orchestrator.studies.findings import StudyAnalysis
    from orchestrator.studies.questions import Question

RunOrLabelled = Path | str | tuple[str, Path | str]
_LEVEL_LIMIT: Final = 0.5


@dataclass(frozen=True, slots=True)
class ComparedRuns:
    """Runs that were compared, and what was found."""

    comparison: Comparison
    analysis: StudyAnalysis


class ComparisonOperations:
    """Compares runs, and writes what was found as a page, figures and tables."""

    def compare(
        self,
        runs: Sequence[RunOrLabelled],
        *,
        margin: float | None = None,
        alpha: float = 0.05,
        seed: int = 0,
    ) -> ComparedRuns:
        """Compare runs on the tasks that they share; what `arena compare` does.

        Every pair of agents is compared in each world that both played, and the two worlds of each
        agent that played both. None of these questions was registered, and each answer says so.

        Args:
            runs: their folders; `(label, folder)` to call an agent otherwise than its lock does.
            margin: also ask whether the worlds are equivalent within it: 0.05 is 5 points.
            alpha: level of every test, corrected over all questions.
            seed: of the resampling.

        Raises:
            UsageError: the runs cannot be compared, or an argument makes no sense.
            StoreError: a run cannot be read.
        """
        from orchestrator.studies.analysis import analyse
        from orchestrator.studies.comparison import own_questions, read_comparison

        _refuse_numbers(margin, alpha)
        comparison = read_comparison([_named(run) for run in runs])
        questions = own_questions(comparison.runs, margin)
        _refuse_no_question(margin, questions)
        labels = dict.fromkeys(run.label for run in comparison.runs)
        analysis = analyse(
            questions,
            comparison.results,
            comparison.runs,
            title=f"Comparison of {' and '.join(labels)}",
            alpha=alpha,
            seed=seed,
            notes=comparison.notes,
        )
        return ComparedRuns(comparison, analysis)

    def write_figures(self, analysis: StudyAnalysis, folder: Path | str) -> tuple[Path, ...]:
        """Write the figures (SVG, PDF) and tables (LaTeX, Markdown) of a study or a comparison.

        Args:
            analysis: of a study, or the one in what `compare` returns.
            folder: where they go; it is made where it is missing.

        Returns:
            What was written.

        Raises:
            StoreError: the folder cannot be written.
        """
        from orchestrator.figures.writing import write_figures

        return write_figures(analysis, Path(folder))

    def write_comparison(self, found: ComparedRuns, folder: Path | str) -> Path:
        """Write the page of a comparison, with figures, tables and episodes beside it.

        Args:
            found: as `compare` returns it.
            folder: where all of it goes; it is made where it is missing.

        Returns:
            The path of the page, `index.html`.

        Raises:
            UsageError: the folder is named like a file.
            StoreError: a run cannot be read, or the folder cannot be written.
        """
        from arena_core.errors import UsageError

        target = Path(folder)
        if target.suffix in {".html", ".htm"} or target.is_file():
            message = f"{target}: the page needs a folder, since its episodes stand beside it"
            raise UsageError(message, hint=f"take {target.with_suffix('')}")
        from orchestrator.figures.writing import write_figures
        from orchestrator.study_report.page import ReportedRun, write_study_report

        pairs = zip(found.comparison.runs, found.comparison.folders, strict=True)
        runs = [ReportedRun(label=run.label, folder=at, suite=run.suite) for run, at in pairs]
        figures = write_figures(found.analysis, target / "figures")
        return write_study_report(found.analysis, runs, target, beside=figures)


def _named(run: RunOrLabelled) -> NamedRun:
    from orchestrator.store.run_folder import RunFolder
    from orchestrator.studies.comparison import NamedRun

    label, path = run if isinstance(run, tuple) else (None, run)
    return NamedRun(folder=RunFolder.open(Path(path)), label=label)


def _refuse_numbers(margin: float | None, alpha: float) -> None:
    from arena_core.errors import UsageError

    if margin is not None and not 0 < margin < 1:
        message = f"a margin is a share between 0 and 1, as in a study's file, not {margin:g}"
        raise UsageError(message, hint="0.05 is 5 points")
    if not 0 < alpha < _LEVEL_LIMIT:
        message = f"alpha lies between 0 and {_LEVEL_LIMIT}, not at {alpha:g}"
        raise UsageError(message)


def _refuse_no_question(margin: float | None, questions: Sequence[Question]) -> None:
    from arena_core.errors import UsageError

    if not questions:
        message = (
            "there is nothing to compare: no two agents were played in the same world, and none in"
            " both (other options or versions make another agent)"
        )
        raise UsageError(message)
    if margin is not None and all(one.margin is None for one in questions):
        message = "a margin has no effect here: no agent was played in both worlds"
        raise UsageError(message)
