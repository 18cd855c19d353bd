"""A study's plan and verification, as the terminal shows them."""

from __future__ import annotations

from dataclasses import asdict, astuple
from typing import TYPE_CHECKING

from arena_core.errors import VerificationError
from arena_core.names import counted
from orchestrator.cli.console import Cell, Column, Console

if TYPE_CHECKING:
    from orchestrator.analysis.stats.power import Needed
    from orchestrator.analysis.studies.planning import StudyPlan
    from orchestrator.analysis.studies.question_plans import QuestionPlan
    from orchestrator.analysis.studies.verification import Verification
    from orchestrator.analysis.study_report.reporting import StudyReport

# Of the ledger, from taking the episode up to writing it down: what a plan must reckon with. A
# report has `seconds` of the evidence, which begin when the replica is there.
SECONDS_WITH_WAITING = "s with waiting"
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
        Column(SECONDS_WITH_WAITING, right=True),
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
    console.line(f"{plan.name}: {counted(plan.episodes, 'episode')}, {workers}: {hours}, {usd}")
    for question in plan.questions:
        _fold(_question(question), console)
    for warning in plan.warnings:
        console.warn(f"arena: {warning}")


def _hours(hours: float) -> str:
    return f"{hours * 60:.0f} min" if hours < 1 else f"{hours:.1f} h"


def _fold(text: str, console: Console) -> None:
    from orchestrator.cli.analysis.terminal_study import folded, reading_width

    for line in folded(text, reading_width()):
        console.line(line)


def _question(plan: QuestionPlan) -> str:
    if plan.least is None:
        return f"{plan.id}: there is no task that both sides play: it cannot be answered"
    design = plan.design
    pairs, repeats = counted(design.tasks, "pair"), counted(design.repeats, "repeat")
    past = f"past: {counted(plan.measured_on, 'episode')}" if plan.measured_on else "assumed"
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
        said += f"; {abs(plan.wanted.goal.size) * 100:g} points in {_chance(plan)}"
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
    return counted(round(found.value), what)


def show_verification(found: Verification, console: Console) -> None:
    """Show what a verification found."""
    if console.as_json:
        console.json(
            {
                "registered": found.registered,
                "current": found.current,
                "head": found.head,
                "episodes": sum(one.scored for one in found.agents),
                "agents": [asdict(one) for one in found.agents],
                "differences": [asdict(one) for one in found.differences],
                "notes": list(found.notes),
            }
        )
    else:
        console.table(_TALLY, [list(astuple(one)) for one in found.agents], None)
        for one in found.differences:
            console.line(f"{one.where}: {one.what}")
        for note in found.notes:
            console.line(f"note: {note}")
        console.line(f"registered: {found.registered}")
        if found.current != found.registered:
            console.line(f"with what was added: {found.current}")
        console.line(f"head: {found.head}")
    if found.refusal:
        raise VerificationError(found.refusal)


_TALLY = (
    Column("agent"),
    Column("asked", right=True),
    Column("scored", right=True),
    Column("not played", right=True),
    Column("lost", right=True),
    Column("without digest", right=True),
    Column("judged later", right=True),
    Column("retried", right=True),
    Column("abandoned", right=True),
)


def show_answers(report: StudyReport, console: Console) -> None:
    """Show the answer to each question, and where the report is."""
    from orchestrator.analysis.studies.sentences import decision_said

    analysis = report.analysis
    if console.as_json:
        console.json({"report": str(report.page), "head": report.head, **analysis.document()})
        return
    for one in analysis.answers:
        mark = "" if one.question.registered else " (not registered)"
        _fold(f"{one.question.id}{mark}: {decision_said(one)}: {one.sentence}", console)
    for other in analysis.secondary:
        _fold(f"{other.asked.question.id} (secondary): {other.sentence}", console)
    for robust in analysis.robustness:
        _fold(robust.sentence, console)
    if analysis.pending:
        console.note(f"not finished: {analysis.pending:,} episodes are still to be played")
    console.note(f"head, to be published with the figures: {report.head}")
    console.note(f"report: {report.page}")


def workers_told(number: int) -> str:
    """Say how many episodes a world plays side by side."""
    return f"{counted(number, 'worker')} in each world"
