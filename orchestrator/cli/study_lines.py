"""A study's plan and verification, as the terminal shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena_core.errors import VerificationError
from orchestrator.cli.console import Cell, Column, Console

if TYPE_CHECKING:
    from orchestrator.api.study_reporting import StudyReport
    from orchestrator.stats.power import Needed
    from orchestrator.studies.planning import StudyPlan
    from orchestrator.studies.question_planning import QuestionPlan
    from orchestrator.studies.verifying import Verification

_SHOWN = 12


def show_plan(plan: StudyPlan, console: Console) -> None:
    """Show what a study takes and can find."""
    if console.as_json:
        console.json(plan.document())
        return
    columns = (
        Column("agent"),
        Column("suite"),
        Column("world"),
        Column("tasks", right=True),
        Column("episodes", right=True),
        Column("s an episode", right=True),
        Column("$ an episode", right=True),
        Column("known from", right=True),
    )
    rows: list[list[Cell]] = [
        [
            one.agent,
            one.suite,
            one.world,
            one.tasks,
            one.episodes,
            "unknown" if one.seconds is None else f"{one.seconds:.1f}",
            "unknown" if one.usd is None else f"{one.usd:.4f}",
            one.known_from,
        ]
        for one in plan.cells
    ]
    console.table(columns, rows, None)
    hours = "unknown" if plan.hours is None else _hours(plan.hours)
    usd = "unknown" if plan.usd is None else f"${plan.usd:.2f}"
    workers = workers_told(plan.workers)
    console.line(f"{plan.name}: {plan.episodes} episodes, {workers}: {hours}, {usd}")
    for question in plan.questions:
        _fold(_question(question), console)
    for warning in plan.warnings:
        console.warn(f"arena: {warning}")


def _hours(hours: float) -> str:
    return f"{hours * 60:.0f} min" if hours < 1 else f"{hours:.1f} h"


def _fold(text: str, console: Console) -> None:
    from orchestrator.cli.terminal_study import folded, reading_width

    for line in folded(text, reading_width()):
        console.line(line)


def _question(plan: QuestionPlan) -> str:
    if plan.least is None:
        return f"{plan.id}: there is no task that both sides play: it cannot be answered"
    design = plan.design
    pairs = "1 pair" if design.tasks == 1 else f"{design.tasks} pairs"
    repeats = "1 repeat" if design.repeats == 1 else f"{design.repeats} repeats"
    past = f"past: {plan.measured_on} episodes" if plan.measured_on else "assumed"
    how = (
        f"{plan.id}: {pairs} of tasks × {repeats}, success near {design.rate:.0%} ({past}),"
        f" alpha {plan.alpha:.3g}"
    )
    return f"{how}: {_found(plan) if plan.margin is None else _shown(plan, plan.margin)}"


def _found(plan: QuestionPlan) -> str:
    found = plan.least
    if found is None or found.value is None:
        said = f"finds no difference in 80% of studies ({_because(found)})"
    else:
        said = f"finds {found.value * 100:.0f} points or more in 80% of studies"
    if plan.wanted is not None:
        said += f"; {abs(plan.wanted.difference) * 100:g} points in {_chance(plan)}"
        said += f", and in 80% with {_enough(plan)}"
    return said


def _shown(plan: QuestionPlan, margin: float) -> str:
    said = (
        f"where there is no difference, shows its margin of {margin * 100:g} points in"
        f" {_chance(plan)} of studies, and in 80% with {_enough(plan)}"
    )
    if plan.least is None or plan.least.value is None:
        return f"{said}; no margin in 80% ({_because(plan.least)})"
    return f"{said}; a margin of {plan.least.value * 100:.0f} points in 80%"


def _chance(plan: QuestionPlan) -> str:
    """Say how often at the level after Holm's correction, and before it where that differs."""
    if plan.wanted is None or plan.alone is None:
        return "an unknown share"
    said = f"{plan.wanted.value:.0%}"
    is_corrected = plan.alone.alpha != plan.wanted.alpha
    return f"{said} ({plan.alone.value:.0%} before Holm's correction)" if is_corrected else said


def _because(found: Needed | None) -> str:
    return "unknown" if found is None else found.undefined or "unknown"


def _enough(plan: QuestionPlan) -> str:
    return f"{_count(plan.tasks, 'pair')} or {_count(plan.repeats, 'repeat')}"


def _count(found: Needed | None, what: str) -> str:
    if found is None or found.value is None:
        return f"no number of {what}s"
    return f"{found.value:.0f} {what}{'' if found.value == 1 else 's'}"


def show_verification(found: Verification, console: Console) -> None:
    """Show what a verification found.

    Raises:
        VerificationError: something differs.
    """
    if console.as_json:
        console.json(
            {
                "registered": found.registered,
                "current": found.current,
                "seal": found.seal,
                "episodes": found.episodes,
                "unproven": found.unproven,
                "judged": found.judged,
                "open": found.open,
                "differences": [
                    {"where": one.where, "what": one.what} for one in found.differences
                ],
                "notes": list(found.notes),
            }
        )
    else:
        for one in found.differences:
            console.line(f"{one.where}: {one.what}")
        for note in found.notes:
            console.line(f"note: {note}")
        console.line(f"registered {found.registered}")
        if found.current != found.registered:
            console.line(f"with what was added {found.current}")
        console.line(f"seal {found.seal}")
        console.line(
            f"{found.episodes} episodes scored again, {len(found.differences)} differences;"
            f" {found.unproven} attempts without a digest of when they were saved, {found.open}"
            f" episodes not played" + (f", {found.judged} judged later" if found.judged else "")
        )
    if found.differences:
        message = f"{len(found.differences)} differences; the first: {found.differences[0].where}"
        raise VerificationError(message)


def show_answers(report: StudyReport, console: Console) -> None:
    """Show the answer to each question, and where the report is."""
    answers = report.analysis.answers
    if console.as_json:
        document: list[dict[str, Cell]] = [
            {
                "question": one.question.id,
                "registered": one.question.registered,
                "decision": str(one.decision),
                "sentence": one.sentence,
            }
            for one in answers
        ]
        console.json({"report": str(report.page), "answers": document})
        return
    for one in answers:
        mark = "" if one.question.registered else " (not registered)"
        _fold(f"{one.question.id}{mark}: {one.decision}: {one.sentence}", console)
    console.note(f"report: {report.page}")


def workers_told(number: int) -> str:
    """Say how many episodes a world plays side by side."""
    return f"{number} worker{'' if number == 1 else 's'} in each world"
