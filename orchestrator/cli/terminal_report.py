"""A run's report in the terminal: tasks side by side, totals, where the worlds diverge."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from arena_core.worlds import World
from evaluators.verdicts import CheckStatus
from orchestrator.cli.console import Column, Console, Json
from orchestrator.cli.reading_lines import reading_lines
from orchestrator.report.run_report import RunReport, TaskRow
from orchestrator.report.wording import interval, percent
from orchestrator.stats.summary import Summary
from orchestrator.store.reading_scores import documents_by_folder
from orchestrator.store.rescoring import ScoredTrial


def show_run(report: RunReport, console: Console) -> None:
    """Print a run: one JSON document, or tables for people."""
    if console.as_json:
        console.json(_document(report))
        return
    if report.agent_note:
        console.line(f"{report.lock.agent.name}: {report.agent_note}")
        console.line("")
    worlds = report.lock.worlds
    columns = [Column("task"), *(column for world in worlds for column in _columns(report, world))]
    console.table(
        [*columns, Column("diverges at")], [_cells(row, worlds) for row in report.rows], None
    )
    console.line("")
    console.table(_TOTALS, [_totals(world, report.summaries[world]) for world in worlds], None)
    for line in _closing(report):
        console.line(line)


_TOTALS = (
    Column("world"),
    Column("success", right=True),
    Column("95% interval", right=True),
    Column("bounds", right=True),
    Column("key nodes", right=True),
    Column("scored", right=True),
    Column("unscored"),
)


def _columns(report: RunReport, world: World) -> Iterable[Column]:
    yield Column(report.lock.label(world))
    yield Column("nodes", right=True)
    yield Column("steps", right=True)
    yield Column("s", right=True)


def _cells(row: TaskRow, worlds: tuple[World, ...]) -> list[str]:
    cells = [row.task.id]
    for world in worlds:
        trials = row.trials[world]
        cells += _trial_cells(trials) if trials else ["–", "", "", ""]
    return [*cells, ", ".join(divergence.check for divergence in row.divergences)]


def _trial_cells(trials: tuple[ScoredTrial, ...]) -> list[str]:
    first = trials[0]
    outcomes = [str(trial.score.outcome) for trial in trials]
    return [
        outcomes[0] if len(set(outcomes)) == 1 else " / ".join(outcomes),
        f"{first.score.key_nodes_met}/{first.score.key_nodes}",
        str(first.score.steps),
        f"{first.outline.seconds:.1f}",
    ]


def _totals(world: World, summary: Summary) -> list[str]:
    return [
        world.value,
        percent(summary.success),
        interval(summary.success.interval),
        interval(summary.bounds),
        percent(summary.micro_completion),
        f"{summary.scored}/{summary.trials}",
        ", ".join(f"{reason} {count}" for reason, count in summary.unscored),
    ]


def _closing(report: RunReport) -> Iterable[str]:
    if report.agent_note:
        yield ""
        yield f"the figures are of {report.lock.agent.name}: {report.agent_note}"
    agreement = report.agreement
    if agreement is not None:
        yield ""
        yield (
            f"worlds agree on {percent(agreement.rate)} ({interval(agreement.rate.interval)})"
            f" of {agreement.paired} paired tasks"
            f" (both {len(agreement.both)}, only offline {len(agreement.first_only)},"
            f" only online {len(agreement.second_only)}, neither {len(agreement.neither)};"
            f" McNemar p = {agreement.p_value:.3f})"
        )
    if report.costs is not None:
        yield f"models: {report.costs}"
    yield from (f"judge: {one}" for one in report.judges)
    if report.changed_budget is not None:
        yield report.changed_budget
    if report.unheld_budget is not None:
        yield report.unheld_budget
    if report.over_budget is not None:
        yield report.over_budget
    if report.lock.staged:
        yield f"staged live origins, not the real web: {', '.join(report.lock.staged)}"
    yield from reading_lines(report.readings)
    yield from report.broken_readings
    yield from damage(report)
    yield from bugs(report)
    if report.pending:
        left = "episode is" if report.pending == 1 else "episodes are"
        yield f"{report.pending} {left} left: arena eval --resume {report.folder.path}"


def damage(report: RunReport) -> Iterable[str]:
    """Yield what of the run's folder cannot be read, and what mends it."""
    todo = f"arena eval --resume {report.folder.path}"
    if report.recovered:
        yield (
            f"the ledger knows nothing of {report.recovered} attempts whose evidence is there:"
            f" they were read from it; {todo} enters them again"
        )
    for trial in report.unreadable:
        yield f"unreadable, so unscored: {trial.trial.world} {trial.score.because}"
    if report.unreadable:
        yield f"what cannot be read is played again by {todo}"


def bugs(report: RunReport) -> Iterable[str]:
    """Yield the episodes that a bug of Arena's ended, and those in which the agent crashed."""
    for trial in report.internal:
        yield f"a bug of Arena's: {_named(trial)}: {trial.score.because}"
    for trial in report.crashed:
        yield f"the agent's code crashed: {_named(trial)}: {trial.outline.ended_because}"


def _named(trial: ScoredTrial) -> str:
    repeat = f" repeat {trial.trial.repeat}" if trial.trial.repeat else ""
    return f"{trial.trial.world} {trial.trial.task}{repeat}"


def _document(report: RunReport) -> Json:
    agreement = report.agreement
    readings = documents_by_folder(report.readings)
    return {
        "run": report.lock.run,
        "folder": str(report.folder.path),
        "suite": report.lock.suite,
        "agent": report.lock.agent.name,
        "agent_note": report.agent_note,
        "staged": list(report.lock.staged),
        "input_tokens": report.spent.input_tokens,
        "output_tokens": report.spent.output_tokens,
        "usd": report.spent.usd,
        "judges": [asdict(one) for one in report.judges],
        "replayed_from": report.lock.replayed.run if report.lock.replayed else None,
        "pending": report.pending,
        "recovered": report.recovered,
        "unreadable": [trial.score.because for trial in report.unreadable],
        "internal": [trial.score.because for trial in report.internal],
        "crashed": [trial.outline.ended_because for trial in report.crashed],
        "totals": {world.value: _summary(report.summaries[world]) for world in report.lock.worlds},
        "agreement": None
        if agreement is None
        else {
            "paired": agreement.paired,
            "rate": agreement.rate.value,
            "both": list(agreement.both),
            "offline_only": list(agreement.first_only),
            "online_only": list(agreement.second_only),
            "neither": list(agreement.neither),
            "unpaired": list(agreement.unpaired),
            "mcnemar_p": agreement.p_value,
            "kappa": agreement.kappa,
        },
        "readings": {found.name: found.document() for found in report.readings},
        "tasks": [
            {
                "task": row.task.id,
                "diverges_at": [divergence.check for divergence in row.divergences],
                "trials": [
                    {
                        **trial.document(),
                        "readings": readings.get(trial.folder, {}),
                        "seconds": trial.outline.seconds,
                        "unmet": [
                            verdict.check
                            for verdict in trial.score.verdicts
                            if verdict.status is CheckStatus.UNMET
                        ],
                    }
                    for trials in row.trials.values()
                    for trial in trials
                ],
            }
            for row in report.rows
        ],
    }


def _summary(summary: Summary) -> Json:
    success = summary.success.interval
    return {
        "tasks": summary.tasks,
        "trials": summary.trials,
        "scored": summary.scored,
        "unscored": {reason.value: count for reason, count in summary.unscored},
        "success": summary.success.value,
        "interval": None if success is None else [success.low, success.high],
        "bounds": None if summary.bounds is None else [summary.bounds.low, summary.bounds.high],
        "macro_completion": summary.macro_completion,
        "micro_completion": summary.micro_completion,
        "efficiency": summary.efficiency,
        "alignment": summary.alignment,
    }
