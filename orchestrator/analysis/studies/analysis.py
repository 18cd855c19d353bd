"""From episodes to findings: cells, answers, breakdowns, notes and reasons to be careful."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from statistics import median
from typing import Final

from arena_core.names import counted
from arena_core.worlds import World
from orchestrator.agents.interface import AgentClass
from orchestrator.analysis.stats.results import CLEAN, Cell, Compared, EpisodeTable
from orchestrator.analysis.studies.answers import answers_of, power_figures
from orchestrator.analysis.studies.breakdowns import (
    failures_of,
    fronts_of,
    trends_of,
    variance_figures,
)
from orchestrator.analysis.studies.cells import (
    agreements,
    cell_figures,
    cells_of,
    rank_correlations,
    suites_apart,
)
from orchestrator.analysis.studies.findings import Answer, CellFigures, StudyAnalysis
from orchestrator.analysis.studies.methods import card_of, methods_of, tapes_in_words
from orchestrator.analysis.studies.parted import parted_worlds
from orchestrator.analysis.studies.questions import Question, Stage, sides_of, stages_of
from orchestrator.analysis.studies.reliability import (
    calibration_of,
    collateral_figures,
    reliability_of,
)
from orchestrator.analysis.studies.robustness import robustness_of
from orchestrator.analysis.studies.secondary import Secondary, secondary_of
from orchestrator.analysis.studies.slices import slices_of, tasks_across, templates_of
from orchestrator.analysis.studies.study_runs import StudyRun, without_arms
from orchestrator.analysis.wording import percent
from orchestrator.gateway.variations import in_arm

_DAY_S: Final = 86_400
_UNEVEN: Final = 0.05  # a difference of unscored shares
_SOME: Final = 3  # episodes
_RARE: Final = 10  # templates
FEW_CLUSTERS: Final = 20
ALPHA: Final = 0.05
_MANY_UNSCORED: Final = 0.05


def cautions(answers: Sequence[Answer], table: EpisodeTable) -> tuple[str, ...]:
    """Return what to beware of in answers, each once."""
    found: dict[str, None] = {}
    for answer in answers:
        names = _cells_named(answer.question)
        sides = sides_of(answer.question, table)
        for said in (_days_apart(names, sides), _unevenly_unscored(names, sides)):
            if said is not None:
                found[said] = None
    few = [one for one in answers if 0 < one.clusters < FEW_CLUSTERS]
    if few:
        rest = "rests" if len(few) == 1 else "rest"
        found[
            f"{len(few)} of {counted(len(answers), 'answer')} {rest}"
            f" on fewer than {FEW_CLUSTERS} templates:"
            " intervals are wide, and where one side wins a few templates by far and loses many by"
            " little, a p near alpha is too small."
        ] = None
    whole = (_all_or_nothing(cell, rows) for cell, rows in table.cells.items())
    return (*found, *(said for said in whole if said is not None))


def _cells_named(question: Question) -> tuple[str, str]:
    """Return what both sides are called, with their arms as cells are."""
    first, second = question.sides
    if question.of is not Compared.ARMS:
        return in_arm(first, question.arm), in_arm(second, question.arm)
    if question.agent is None:
        return first, second
    arms = ["" if name == CLEAN else name for name in (question.first, question.second)]
    return in_arm(question.agent, arms[0]), in_arm(question.agent, arms[1])


def _all_or_nothing(cell: Cell, rows: EpisodeTable) -> str | None:
    """Say that a rate rests on few templates, each of which was won or lost as a whole."""
    templates: dict[str, set[bool]] = {}
    tasks: dict[str, set[str]] = {}
    for row in rows:
        if row.success is not None:
            templates.setdefault(row.template, set()).add(row.success)
            tasks.setdefault(row.template, set()).add(row.task)
    is_whole = all(len(outcomes) == 1 for outcomes in templates.values())
    won = sum(True in outcomes for outcomes in templates.values())
    lost = len(templates) - won
    # Whatever the rarer outcome is, it is what the rate rests on.
    rarer, what = (won, "won") if won <= lost else (lost, "lost")
    has_several = max(map(len, tasks.values()), default=0) > 1
    if not (is_whole and has_several and 0 < rarer < _RARE <= len(templates)):
        return None
    return (
        f"{cell.agent} on {cell.suite}, {cell.world}: each of {len(templates)} templates was won or"
        f" lost as a whole, and only {rarer} {'was' if rarer == 1 else 'were'} {what}: the interval"
        " of its rate is likely too narrow."
    )


def _days_apart(names: tuple[str, str], sides: tuple[EpisodeTable, EpisodeTable]) -> str | None:
    """Say that both sides were not played side by side, judged by when the middle one began."""
    began = [[one.began for one in rows if one.began is not None] for rows in sides]
    if not all(began):
        return None
    first, second = (median(moments) for moments in began)
    if abs(first - second) < _DAY_S:
        return None
    days = " and ".join(f"{datetime.fromtimestamp(one, UTC):%Y-%m-%d}" for one in (first, second))
    return (
        f"{' and '.join(names)} were not played side by side, but around {days}: anything that"
        " changed between these days (machine, network, model, site) counts as their difference,"
        " and no interval or p accounts for it."
    )


def _unevenly_unscored(
    names: tuple[str, str], sides: tuple[EpisodeTable, EpisodeTable]
) -> str | None:
    unscored = [sum(row.success is None for row in rows) for rows in sides]
    if not all(sides):
        return None
    shares = [count / len(rows) for count, rows in zip(unscored, sides, strict=True)]
    if abs(shares[0] - shares[1]) < _UNEVEN or max(unscored) < _SOME:
        return None
    each = f"{names[0]} {percent(shares[0])}, {names[1]} {percent(shares[1])}"
    return (
        f"The sides have different shares of unscored episodes ({each}): if these would have"
        " failed more often than others, the side with more of them looks better than it is; see"
        " the bounds, and what would turn the answer."
    )


def analyse(
    questions: Sequence[Question],
    table: EpisodeTable,
    runs: Sequence[StudyRun],
    *,
    title: str,
    alpha: float = ALPHA,
    seed: int = 0,
    notes: Iterable[str] = (),
    stages: Mapping[str, Stage] | None = None,
    secondary: Sequence[Secondary] = (),
    statement: str | None = None,
) -> StudyAnalysis:
    """Analyse a study, finished or not.

    Args:
        questions: in the order of their answers; ids are distinct.
        runs: in the order in which cells are shown; locks, and what is still to be played.
        alpha: level of every test; intervals are at 1 - alpha.
        seed: of everything that draws numbers: the same input gives the same findings.
        notes: what the reader must know beside what the rows and locks say.
        stages: how far each question is, with the looks of a sequential design; where omitted, as
            far as rows and locks say, without any look.
        secondary: the registered secondary outcomes; their questions' ids are distinct.
        statement: what the study's authors registered of contamination; None without a study.
    """
    confidence, none = 1 - alpha, EpisodeTable()
    cells = tuple(
        cell_figures(cell, table.cells.get(cell, none), mine, confidence=confidence)
        for cell, mine in cells_of(runs).items()
    )
    robustness = robustness_of(runs, table, confidence=confidence, seed=seed)
    known = stages_of(questions, table, runs) if stages is None else stages
    answers = answers_of(questions, table, alpha=alpha, seed=seed, stages=known)
    beside = stages_of([one.question for one in secondary], table, runs)
    every = [one.cell for one in cells]
    played, whole = runs, table
    runs, table = without_arms(runs, table)
    labels = {run.label for run in runs}
    clean = tuple(one for one in cells if one.cell.agent in labels)
    tasks = tasks_across(table, runs, confidence=confidence)
    named = [one.cell for one in clean]
    told = {
        run.label
        for run in runs
        if run.lock.agent.agent_class in {AgentClass.REFERENCE, AgentClass.GUIDED}
    }
    return StudyAnalysis(
        title=title,
        alpha=alpha,
        seed=seed,
        cells=cells,
        answers=answers,
        agreement=agreements(table, clean, confidence=confidence),
        parted=parted_worlds(table, runs, confidence=confidence),
        rank_correlation=rank_correlations(table, clean, suites_apart(runs)),
        variance=variance_figures(table),
        power=power_figures(answers, whole, alpha=alpha, seed=seed),
        slices=slices_of(tasks, named, confidence=confidence),
        tasks=tasks,
        methods=methods_of(played, cells, answers, whole, alpha=alpha, seed=seed),
        notes=(*notes, *_notes(played, cells, answers), *cautions(answers, whole)),
        secondary=secondary_of(secondary, whole, beside, confidence=confidence),
        templates=templates_of(tasks, named, confidence=confidence),
        failures=failures_of(table),
        fronts=fronts_of(clean, told),
        trends=trends_of(table, confidence=confidence),
        robustness=robustness,
        reliability=reliability_of(named, table, robustness, confidence=confidence),
        calibration=calibration_of(every, whole, confidence=confidence),
        collateral=collateral_figures(every, whole, confidence=confidence),
        prompts=tuple(run.prompt for run in runs if run.prompt is not None),
        card=card_of(played, statement),
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
    yield from tapes_in_words(runs)
    pools = dict.fromkeys(run.lock.live_pool for run in runs if run.lock.live_pool is not None)
    if len(pools) > 1:
        yield (
            f"Live sites were visited in {len(pools)} browsers ({', '.join(map(str, pools))}):"
            " their scores are kept apart, and an online difference of one agent with itself is one"
            " of browsers."
        )
    yield from _steered(runs)
    for run in runs:
        if run.lock.replayed is not None:
            yield f"{run.label}: replies of run {run.lock.replayed.run} answered it, no model."
    many = _grouped((said, one.cell.agent) for one in cells if (said := _many_unscored(one)))
    for said, labels in many.items():
        each = " each" if len(labels) > 1 else ""
        yield f"{', '.join(labels)} on {said}{each}; see the bounds."
    unpaired = {task for one in answers for task in one.unpaired}
    if unpaired:
        yield (
            f"{len(unpaired)} task{'' if len(unpaired) == 1 else 's'} could not be paired in some"
            " comparison (not played, or unscored, on one side) and"
            f" {'does' if len(unpaired) == 1 else 'do'} not count in it."
        )


def _steered(runs: Sequence[StudyRun]) -> Iterable[str]:
    """Say which runs somebody steered while they were played."""
    orders = _grouped((run.lock.steered_in_words, run.label) for run in runs)
    return (f"{', '.join(labels)}: {said}." for said, labels in orders.items() if said)


def _many_unscored(one: CellFigures) -> str | None:
    unscored = one.episodes - one.scored
    if not one.episodes or unscored / one.episodes <= _MANY_UNSCORED:
        return None
    share, world = percent(unscored / one.episodes), one.world_label
    reasons = ", ".join(f"{reason} {count}" for reason, count in one.unscored)
    return f"{one.cell.suite}, {world}: {share} of the episodes are unscored ({reasons})"


def _grouped(pairs: Iterable[tuple[str | None, str]]) -> dict[str | None, list[str]]:
    """Return the agents that share a note, each once."""
    found: dict[str | None, dict[str, None]] = {}
    for said, label in pairs:
        found.setdefault(said, {})[label] = None
    return {said: list(labels) for said, labels in found.items()}
