"""Analyses a study and writes its report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from orchestrator.figures.writing import write_figures
from orchestrator.stats.results import EpisodeResult
from orchestrator.studies.analysis import analyse
from orchestrator.studies.findings import StudyAnalysis
from orchestrator.studies.questions import WITH_ADDED
from orchestrator.studies.results import StudyRun, read_study_run
from orchestrator.studies.study_folder import Study, StudyFolder
from orchestrator.study_report.page import ReportedRun, write_study_report


@dataclass(frozen=True, slots=True)
class StudyReport:
    """A study's report.

    Attributes:
        page: the path of its `index.html`.
    """

    page: Path
    analysis: StudyAnalysis


def report_study(folder: StudyFolder) -> StudyReport:
    """Analyse a study and write its report; errors are those of `Arena.report_study`."""
    study = folder.study()
    runs: list[StudyRun] = []
    results: list[EpisodeResult] = []
    shown: list[ReportedRun] = []
    registered = {one.folder for one in study.registration.runs}
    for one in study.runs:
        kept = folder.run_folder(one.folder)
        is_added = one.folder not in registered
        run, rows = read_study_run(one.agent, one.suite, one.folder, kept, is_added=is_added)
        runs.append(run)
        results += rows
        shown.append(ReportedRun(label=one.agent, folder=kept, suite=one.suite))
    analysis = analyse(
        study.questions,
        results,
        runs,
        title=study.file.title or study.file.name,
        alpha=study.file.alpha,
        seed=study.file.seed,
        notes=_notes(study),
    )
    figures = write_figures(analysis, folder.report_path / "figures")
    page = write_study_report(analysis, shown, folder.report_path, beside=figures)
    return StudyReport(page, analysis)


def _notes(study: Study) -> list[str]:
    """Say when it was registered, under which digest, and what came later."""
    registration = study.registration
    digest = registration.registered_digest
    notes = [f"Registered at {registration.registered_at}; SHA-256 {digest}."]
    for one in registration.amendments:
        parts = [
            *(f"agent {label}" for label in one.agents),
            *(f"question {question.id}" for question in one.questions),
            *([] if one.repeats is None else [f"{one.repeats} repeats in place of fewer"]),
            *([] if one.budget is None else ["another budget"]),
            *(f"the run {run.run}, played before" for run in one.runs if run.was_played),
        ]
        notes.append(f"Added after the registration, at {one.at} by {one.by}: {', '.join(parts)}.")
    if any(one.is_with_added for one in study.questions):
        notes.append(
            "Registered questions are answered of what was registered alone; cells, tables, slices"
            f" and the questions that end in {WITH_ADDED} take what was added too."
        )
    return notes
