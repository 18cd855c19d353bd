"""From episodes to what a study says: cells, answers, agreement, spread, slices, methods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from arena_core.worlds import World
from orchestrator.report.wording import percent
from orchestrator.stats.results import EpisodeResult
from orchestrator.studies.answering import answers_of
from orchestrator.studies.cells import cell_figures, cells_of, rows_by_cell
from orchestrator.studies.findings import Answer, CellFigures, StudyAnalysis
from orchestrator.studies.methods import methods_of
from orchestrator.studies.questions import Question
from orchestrator.studies.results import StudyRun
from orchestrator.studies.slicing import slices_of, tasks_across
from orchestrator.studies.spread import power_figures, variance_figures
from orchestrator.studies.worlds_compared import agreements, rank_correlations

ALPHA: Final = 0.05
_MANY_UNSCORED: Final = 0.05
_FEW_CLUSTERS: Final = 10


def analyse(
    questions: Sequence[Question],
    results: Sequence[EpisodeResult],
    runs: Sequence[StudyRun],
    *,
    title: str,
    alpha: float = ALPHA,
    seed: int = 0,
    notes: Iterable[str] = (),
) -> StudyAnalysis:
    """Analyse a study, finished or not.

    Args:
        questions: in the order of their answers; ids are distinct.
        results: one row an episode that ended, of all runs.
        runs: in the order in which cells are shown; locks, and what is still to be played.
        title: of the page and the tables.
        alpha: level of every test; intervals are at 1 - alpha.
        seed: of everything that draws numbers: the same input gives the same findings.
        notes: what the reader must know beside what the rows and locks say.

    Raises:
        InputError: the same episode stands in `results` twice.
    """
    confidence = 1 - alpha
    by_cell = rows_by_cell(results)
    cells = tuple(
        cell_figures(cell, by_cell.get(cell, []), mine, confidence=confidence)
        for cell, mine in cells_of(runs).items()
    )
    answers = answers_of(questions, results, alpha=alpha, seed=seed)
    tasks = tasks_across(by_cell, runs)
    slices = slices_of(tasks, [one.cell for one in cells], confidence=confidence)
    return StudyAnalysis(
        title=title,
        alpha=alpha,
        seed=seed,
        cells=cells,
        answers=answers,
        agreement=agreements(by_cell, cells, confidence=confidence),
        rank_correlation=rank_correlations(by_cell, cells),
        variance=variance_figures(by_cell),
        power=power_figures(answers, results, alpha=alpha, seed=seed),
        slices=slices,
        tasks=tasks,
        methods=methods_of(runs, cells, answers, alpha=alpha, seed=seed),
        notes=(*notes, *_notes(runs, cells, answers)),
    )


def _notes(
    runs: Sequence[StudyRun], cells: Sequence[CellFigures], answers: Sequence[Answer]
) -> Iterable[str]:
    for note, labels in _grouped((one.agent_note, one.cell.agent) for one in cells).items():
        if note:
            yield f"{', '.join(labels)}: {note}."
    staged = sorted({site for run in runs for site in run.lock.staged})
    if staged and any(World.ONLINE in run.lock.worlds for run in runs):
        yield f"Staged live origins, not the real web: {', '.join(staged)}."
    for run in runs:
        if run.lock.replayed is not None:
            yield f"{run.label}: replies of run {run.lock.replayed.run} answered it, no model."
    many = _grouped((said, one.cell.agent) for one in cells if (said := _many_unscored(one)))
    for said, labels in many.items():
        each = " each" if len(labels) > 1 else ""
        yield f"{', '.join(labels)} on {said}{each}; see the bounds."
    few = [one for one in answers if 0 < one.clusters < _FEW_CLUSTERS]
    if few:
        yield (
            f"{len(few)} of {len(answers)} questions compare fewer than {_FEW_CLUSTERS} templates:"
            " their intervals are wide and rest on few."
        )
    unpaired = {task for one in answers for task in one.unpaired}
    if unpaired:
        yield (
            f"{len(unpaired)} task{'' if len(unpaired) == 1 else 's'} could not be paired in some"
            " comparison (not played, or unscored, on one side) and"
            f" {'does' if len(unpaired) == 1 else 'do'} not count in it."
        )


def _many_unscored(one: CellFigures) -> str | None:
    unscored = one.episodes - one.scored
    if not one.episodes or unscored / one.episodes <= _MANY_UNSCORED:
        return None
    share, world = percent(unscored / one.episodes), one.world_label
    reasons = ", ".join(f"{reason} {count}" for reason, count in one.unscored)
    return f"{one.cell.suite}, {world}: {share} of the episodes are unscored ({reasons})"


def _grouped(pairs: Iterable[tuple[str | None, str]]) -> dict[str | None, list[str]]:
    """Return the agents of which the same is to be said, each once."""
    found: dict[str | None, dict[str, None]] = {}
    for said, label in pairs:
        found.setdefault(said, {})[label] = None
    return {said: list(labels) for said, labels in found.items()}
