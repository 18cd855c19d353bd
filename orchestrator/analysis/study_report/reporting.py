"""Analyses a study and writes its report."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from arena_core.errors import StoreError
from orchestrator.analysis.figures.writing import write_figures
from orchestrator.analysis.stats.results import EpisodeResult, EpisodeTable, StudyArm
from orchestrator.analysis.studies.analysis import analyse
from orchestrator.analysis.studies.findings import StudyAnalysis
from orchestrator.analysis.studies.questions import WITH_ADDED, Stage, stages_of
from orchestrator.analysis.studies.registration import Study, StudyFolder
from orchestrator.analysis.studies.seals import (
    read_looks,
    record_look,
    seal_study,
    stages_with_looks,
)
from orchestrator.analysis.studies.study_runs import StudyRun, read_study_run
from orchestrator.analysis.study_report.page import EPISODES, ReportedRun, write_study_report
from orchestrator.runs.store.ledger import AttemptState
from orchestrator.runs.store.run_folder import RunFolder

FIGURES: Final = "figures"
WRITTEN: Final = (FIGURES, EPISODES)
_UNCOUNTED: Final = (AttemptState.RETRIED, AttemptState.ABANDONED)


@dataclass(frozen=True, slots=True, repr=False)
class StudyReport:
    """A study's report.

    Attributes:
        page: the path of its `index.html`.
        head: the digest of the study's last seal, to be published; empty where none was written.
    """

    page: Path
    analysis: StudyAnalysis
    head: str = ""

    def __repr__(self) -> str:
        return f"<StudyReport {self.analysis!r}>"

    def to_pandas(self) -> Any:
        """Return the figures of each agent, suite and world, one a row.

        Raises:
            PrerequisiteError: pandas is not installed; says what installs it.
        """
        return self.analysis.to_pandas()


def report_study(folder: StudyFolder) -> StudyReport:
    """Analyse a study and write its report; errors are those of `arena.studies.report`.

    What an earlier report left there goes, and the study is sealed with the new one.
    """
    if folder.report_path.is_symlink():
        message = f"{folder.report_path}: is a link, which may lead anywhere"
        raise StoreError(message, hint="remove it")
    for name in WRITTEN:
        shutil.rmtree(folder.report_path / name, ignore_errors=True)
    report = write_report(folder, folder.report_path)
    seal = seal_study(folder, with_report=True)
    return replace(report, head=seal.digest)


def write_report(folder: StudyFolder, into: Path) -> StudyReport:
    """Analyse a study and write its report anywhere, as it would stand in the study's folder.

    Raises:
        StoreError: the study or a run cannot be read, or the report cannot be written.
    """
    study = folder.study()
    runs: list[StudyRun] = []
    rows: list[EpisodeResult] = []
    shown: list[ReportedRun] = []
    uncounted: dict[str, Counter[AttemptState]] = {}
    registered = {one.folder for one in study.registration.runs}
    for one in study.runs:
        kept = folder.run_folder(one.folder)
        is_added = one.folder not in registered
        arm = StudyArm(one.arm, one.agent) if one.arm else None
        run, found = read_study_run(
            one.label, one.suite, one.folder, kept, is_added=is_added, arm=arm
        )
        runs.append(run)
        rows += found
        shown.append(ReportedRun(label=one.label, folder=kept, suite=one.suite))
        uncounted.setdefault(one.label, Counter()).update(_uncounted(kept))
    table = EpisodeTable(rows)
    analysis = analyse(
        study.questions,
        table,
        runs,
        stages=_looked_at(
            folder,
            study,
            stages_of(study.questions, table, runs),
            is_look=into == folder.report_path,
        ),
        title=study.file.title or study.file.name,
        alpha=study.file.alpha,
        seed=study.file.seed,
        notes=[*_notes(study), *_uncounted_notes(uncounted)],
        secondary=study.secondary,
        statement=study.file.contamination,
    )
    figures = write_figures(analysis, into / FIGURES)
    page = write_study_report(analysis, shown, into, place=folder.report_path, beside=figures)
    return StudyReport(page, analysis)


def _uncounted(run: RunFolder) -> Iterable[AttemptState]:
    if not run.is_begun:
        return ()
    with run.reading() as ledger:
        return [one.state for one in ledger.attempts() if one.state in _UNCOUNTED]


def _uncounted_notes(found: Mapping[str, Counter[AttemptState]]) -> list[str]:
    """Say how many attempts of each agent count for nothing."""
    return [
        f"{agent}: {_attempts(attempts[AttemptState.RETRIED])} broke off and"
        f" {_were(attempts[AttemptState.RETRIED])} made again,"
        f" {attempts[AttemptState.ABANDONED]} {_were(attempts[AttemptState.ABANDONED])} abandoned;"
        " they do not count."
        for agent, attempts in found.items()
        if attempts
    ]


def _attempts(count: int) -> str:
    return f"{count} attempt{'' if count == 1 else 's'}"


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _notes(study: Study) -> list[str]:
    """Say when it was registered, under which digest, and what came later."""
    registration = study.registration
    digest = registration.registered_digest
    notes = [f"Registered at {registration.registered_at}; SHA-256 {digest}."]
    for one in registration.amendments:
        parts = [
            *(f"agent {label}" for label in one.agents),
            *(f"question {question.id}" for question in one.questions),
            *([] if one.repeats is None else [f"{one.repeats} repeats instead of fewer"]),
            *([] if one.budget is None else ["another budget"]),
            *(f"the run {run.run}, played earlier" for run in one.runs if run.was_played),
        ]
        notes.append(f"Added after the registration, at {one.at} by {one.by}: {', '.join(parts)}.")
    if study.file.variations:
        notes.append(
            "Agreement, slices, failures and variance are of the clean arm alone, and so is each"
            " question that names no arm; cells, calibration and collateral changes are of all."
        )
    if any(one.is_with_added for one in study.questions):
        notes.append(
            "Registered questions use only what was registered; cells, tables, slices"
            f" and the questions that end in {WITH_ADDED} also use what was added."
        )
    return notes


def _looked_at(
    folder: StudyFolder, study: Study, stages: Mapping[str, Stage], *, is_look: bool
) -> Mapping[str, Stage]:
    """Return the stages with the looks of a sequential design, this one written down as well."""
    if study.file.sequential is None:
        return stages
    asked = {one.id: stages[one.id] for one in study.questions if one.registered}
    digest = study.registration.registered_digest
    looks = record_look(folder.path, digest, asked) if is_look else read_looks(folder.path, digest)
    return {**stages, **stages_with_looks(asked, looks, study.file.sequential.spending)}
