"""Analyses a study, or compares runs that no study holds together, and writes the report."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from arena_core.errors import StoreError, UsageError
from arena_core.names import counted
from orchestrator.analysis.figures.writing import write_figures
from orchestrator.analysis.stats.results import EpisodeResult, EpisodeTable, StudyArm
from orchestrator.analysis.studies.analysis import analyse
from orchestrator.analysis.studies.comparison import (
    Comparison,
    NamedRun,
    browsers_apart,
    own_questions,
    read_comparison,
)
from orchestrator.analysis.studies.findings import StudyAnalysis
from orchestrator.analysis.studies.questions import WITH_ADDED, Question, Stage, stages_of
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


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRows:
    """The runs of a study as its report takes them.

    Attributes:
        shown: the same runs, in the same order, as its page names them.
        uncounted: by agent, attempts that count for nothing.
    """

    runs: tuple[StudyRun, ...]
    rows: tuple[EpisodeResult, ...]
    shown: tuple[ReportedRun, ...]
    uncounted: Mapping[str, Counter[AttemptState]]


def read_rows(folder: StudyFolder, study: Study) -> StudyRows:
    """Read the runs of a study, and score them from their evidence."""
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
    return StudyRows(runs=tuple(runs), rows=tuple(rows), shown=tuple(shown), uncounted=uncounted)


def write_report(folder: StudyFolder, into: Path, *, place: Path | None = None) -> StudyReport:
    """Analyse a study and write its report anywhere, as it would stand in the study's folder.

    Args:
        into: where the report goes.
        place: the folder that it is written for, where that is not the study's own `report`: it
            stands alone there, with screenshots of its own.
    """
    study = folder.study()
    read = read_rows(folder, study)
    table = EpisodeTable(read.rows)
    analysis = analyse(
        study.questions,
        table,
        read.runs,
        stages=_looked_at(
            folder,
            study,
            stages_of(study.questions, table, read.runs),
            is_look=into == folder.report_path,
        ),
        title=study.file.title or study.file.name,
        alpha=study.file.alpha,
        seed=study.file.seed,
        notes=[*_notes(study), *_uncounted_notes(read.uncounted)],
        secondary=study.secondary,
        statement=study.file.contamination,
    )
    figures = write_figures(analysis, into / FIGURES)
    page = write_study_report(
        analysis, read.shown, into, place=place or folder.report_path, beside=figures
    )
    return StudyReport(page, analysis)


def _uncounted(run: RunFolder) -> Iterable[AttemptState]:
    if not run.is_begun:
        return ()
    with run.reading() as ledger:
        return [one.state for one in ledger.attempts() if one.state in _UNCOUNTED]


def _uncounted_notes(found: Mapping[str, Counter[AttemptState]]) -> list[str]:
    """Say how many attempts of each agent count for nothing."""
    return [
        f"{agent}: {counted(attempts[AttemptState.RETRIED], 'attempt')} broke off and"
        f" {_were(attempts[AttemptState.RETRIED])} made again,"
        f" {attempts[AttemptState.ABANDONED]} {_were(attempts[AttemptState.ABANDONED])} abandoned;"
        " they do not count."
        for agent, attempts in found.items()
        if attempts
    ]


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
