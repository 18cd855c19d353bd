"""A run's report in the terminal: tasks side by side, totals, where the worlds diverge."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from arena_core.names import counted
from arena_core.worlds import World
from evaluators.verdicts import CheckStatus
from orchestrator.analysis.run_report.failure_causes import (
    FailureCause,
    causes_in_words,
    counted_causes,
    failure_causes,
)
from orchestrator.analysis.run_report.page_sources import host_totals, tape_documents, tape_lines
from orchestrator.analysis.run_report.parting import causes, causes_said, partings
from orchestrator.analysis.run_report.run_report import RunReport, TaskRow
from orchestrator.analysis.run_report.safety import safety_reports
from orchestrator.analysis.stats.summary import Summary
from orchestrator.analysis.wording import interval, percent
from orchestrator.cli.console import Column, Console, Json
from orchestrator.cli.runs.safety_tables import show_safety
from orchestrator.runs.store.rescoring import ScoredEpisode
from orchestrator.runs.store.scorer_reports import ScorerReport, documents_by_folder


def scorer_lines(scorers: Iterable[ScorerReport]) -> Iterable[str]:
    """Yield the published figures of each scorer, and each episode on which it differs."""
    for found in scorers:
        yield ""
        for world, figures in found.figures.items():
            said = ", ".join(
                f"{name} {'–' if value is None else f'{value:.4g}'}"
                for name, value in figures.items()
            )
            yield f"{found.name}, {world}: {said} ({found.counted(world)})"
        if found.left_out:
            left_out = counted(found.left_out, "episode is", "episodes are")
            yield f"{found.name}: {left_out} of tasks that it does not read"
        for one in found.differing:
            key = one.scored.key
            repeat = f" repeat {key.repeat}" if key.repeat else ""
            yield (
                f"differs: {key.world} {key.task}{repeat}:"
                f" strict {one.scored.score.outcome} ({one.scored.score.because}),"
                f" {found.name} {one.worth} ({one.score.because})"
            )
        if not found.differing:
            yield f"{found.name} and the strict score agree on every episode"


def show_run(report: RunReport, console: Console) -> None:
    """Print a run: one JSON document, or tables for people."""
    if console.as_json:
        console.json(_document(report))
        return
    if report.changed_evidence:
        console.line(report.changed_evidence)
        console.line("")
    if report.agent_note:
        console.line(f"{report.lock.agent.name}: {report.agent_note}")
        console.line("")
    if report.shard_note:
        console.line(report.shard_note)
        console.line("")
    if report.lock.arm:
        console.line(_varied(report))
        console.line("")
    worlds = report.lock.worlds
    columns = [Column("task"), *(column for world in worlds for column in _columns(report, world))]
    console.table(
        [*columns, Column("diverges at")], [_cells(row, worlds) for row in report.rows], None
    )
    console.line("")
    totals = [
        _totals(name, summary)
        for world in worlds
        for name, summary in (
            (world.value, report.summaries[world]),
            *((f"{world}, {tier}", one) for tier, one in report.tiers[world].items()),
        )
    ]
    console.table(_TOTALS, totals, None)
    show_safety(report, console)
    for line in (
        *_by_hand(report),
        *_failed(report),
        *_parted(report),
        *_branches(report),
        *_closing(report),
    ):
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
        episodes = row.episodes[world]
        cells += _episode_cells(episodes) if episodes else ["–", "", "", ""]
    return [*cells, ", ".join(divergence.check for divergence in row.divergences)]


def _episode_cells(episodes: tuple[ScoredEpisode, ...]) -> list[str]:
    first = episodes[0]
    outcomes = [str(episode.score.outcome) for episode in episodes]
    return [
        outcomes[0] if len(set(outcomes)) == 1 else " / ".join(outcomes),
        f"{first.score.key_nodes_met}/{first.score.key_nodes}",
        str(first.score.steps),
        f"{first.outline.played_seconds:.1f}",
    ]


def _totals(name: str, summary: Summary) -> list[str]:
    return [
        name,
        percent(summary.success),
        interval(summary.success.interval),
        interval(summary.bounds),
        percent(summary.micro_completion),
        f"{summary.scored}/{summary.episodes}",
        ", ".join(f"{reason} {count}" for reason, count in summary.unscored),
    ]


def _by_hand(report: RunReport) -> Iterable[str]:
    if report.by_hand is not None:
        yield ""
        yield f"by hand: {report.by_hand}"


def _failed(report: RunReport) -> Iterable[str]:
    found = failure_causes(report)
    if not found:
        return
    yield ""
    yield f"why episodes failed: {causes_in_words(found.values())}"
    for episode in report.episodes:
        cause = found.get(episode.folder)
        if cause is not None:
            left = f"; left the known paths at {cause.left}" if cause.left else ""
            yield f"{_named(episode)}: {cause.kinds}{left}"


def _failure_document(cause: FailureCause | None) -> Json:
    if cause is None:
        return None
    left = None if cause.left is None else asdict(cause.left)
    labels = [{"class": one.kind.value, "because": one.because} for one in cause.labels]
    return {"left": left, "labels": labels}


def _parted(report: RunReport) -> Iterable[str]:
    found = partings(report)
    if found:
        yield ""
        yield f"where the worlds part: {causes_said(found.values())}"
        yield from (f"{task}: {one}" for task, one in found.items())


def _branches(report: RunReport) -> Iterable[str]:
    if report.branches is not None:
        yield report.branches
        yield from (f"value of {one}" for one in report.values)


def _closing(report: RunReport) -> Iterable[str]:
    if report.agent_note:
        yield ""
        yield f"the figures are of {report.lock.agent.name}: {report.agent_note}"
    agreement = report.agreement
    if agreement is not None:
        sure = interval(agreement.rate.interval)
        yield ""
        yield (
            f"worlds agree on {percent(agreement.rate)}{f' ({sure})' if sure else ''}"
            f" of {agreement.paired} paired tasks"
            f" (both {len(agreement.both)}, only offline {len(agreement.first_only)},"
            f" only online {len(agreement.second_only)}, neither {len(agreement.neither)};"
            f" McNemar p = {agreement.p_value:.3f})"
        )
    if report.lock.arm:
        yield _varied(report)
    if report.costs is not None:
        yield f"models: {report.costs}"
    yield from (f"judge: {one}" for one in report.judges)
    yield from filter(None, (report.lock.steered_in_words, report.changed_budget))
    if report.unheld_budget is not None:
        yield report.unheld_budget
    if report.over_budget is not None:
        yield report.over_budget
    if report.lock.staged:
        yield f"staged live origins, not the real web: {', '.join(report.lock.staged)}"
    yield from (f"live host {one}" for one in host_totals(report))
    yield from tape_lines(report)
    yield from scorer_lines(report.scorers)
    yield from report.broken_scorers
    yield from damage(report)
    yield from bugs(report)
    if report.pending:
        left = counted(report.pending, "episode is", "episodes are")
        yield f"{left} left: arena eval --resume {report.folder.path}"


def _varied(report: RunReport) -> str:
    return (
        f"arm {report.lock.arm}: what the agent met was varied, checks read the sites as they are"
    )


def damage(report: RunReport) -> Iterable[str]:
    """Yield what cannot be read in the run's folder, and how to fix it."""
    todo = f"arena eval --resume {report.folder.path}"
    if report.recovered:
        yield (
            f"the ledger knows nothing of {counted(report.recovered, 'attempt')} whose evidence is"
            f" there, and was read; {todo} enters {'it' if report.recovered == 1 else 'them'} again"
        )
    for episode in report.unreadable:
        yield f"unreadable, so unscored: {episode.key.world} {episode.score.because}"
    if report.unreadable:
        yield f"what cannot be read is played again by {todo}"


def bugs(report: RunReport) -> Iterable[str]:
    """Yield the episodes that a bug of Arena's ended, and those in which the agent crashed."""
    for episode in report.internal:
        yield f"a bug of Arena's: {_named(episode)}: {episode.score.because}"
    for episode in report.crashed:
        yield f"the agent's code crashed: {_named(episode)}: {episode.outline.ended_because}"


def _named(episode: ScoredEpisode) -> str:
    repeat = f" repeat {episode.key.repeat}" if episode.key.repeat else ""
    return f"{episode.key.world} {episode.key.task}{repeat}"


def _document(report: RunReport) -> Json:
    agreement = report.agreement
    scorers, merged = documents_by_folder(report.scorers), report.lock.merged
    found, failed = partings(report), failure_causes(report)
    parted = {task: asdict(one) for task, one in found.items()}
    return {
        "run": report.lock.run,
        "folder": str(report.folder.path),
        "suite": report.lock.suite,
        "agent": report.lock.agent.name,
        "agent_note": report.agent_note,
        "staged": list(report.lock.staged),
        "hosts": [one.document() for one in host_totals(report)],
        "tapes": tape_documents(report),
        "vary": list(report.lock.vary),
        "shard": report.lock.shard,
        "merged": None if merged is None else merged.model_dump(mode="json"),
        "input_tokens": report.spent.input_tokens,
        "output_tokens": report.spent.output_tokens,
        "usd": report.spent.usd,
        "judges": [asdict(one) for one in report.judges],
        "replayed_from": report.lock.replayed.run if report.lock.replayed else None,
        "edited": list(report.edited),
        "pending": report.pending,
        "branches": sum(not one.is_attempt for one in report.episodes),
        "values": [one.document() for one in report.values],
        "recovered": report.recovered,
        "unreadable": [episode.score.because for episode in report.unreadable],
        "internal": [episode.score.because for episode in report.internal],
        "crashed": [episode.outline.ended_because for episode in report.crashed],
        "totals": {world.value: _summary(report.summaries[world]) for world in report.lock.worlds},
        "tiers": {
            world.value: {tier.value: _summary(one) for tier, one in report.tiers[world].items()}
            for world in report.lock.worlds
        },
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
        "parts": {cause.value: count for cause, count in causes(found.values()).items()},
        "failures": {kind.value: count for kind, count in counted_causes(failed.values()).items()},
        "safety": {one.world.value: one.document() for one in safety_reports(report)},
        "scorers": {one.name: one.document() for one in report.scorers},
        "tasks": [
            {
                "task": row.task.id,
                "diverges_at": [divergence.check for divergence in row.divergences],
                "parts": parted.get(row.task.id),
                "episodes": [
                    {
                        **episode.document(),
                        "scorers": scorers.get(episode.folder, {}),
                        "seconds": episode.outline.seconds,
                        "failure": _failure_document(failed.get(episode.folder)),
                        "unmet": [
                            verdict.check
                            for verdict in episode.score.verdicts
                            if verdict.status is CheckStatus.UNMET
                        ],
                    }
                    for episodes in row.episodes.values()
                    for episode in episodes
                ],
            }
            for row in report.rows
        ],
    }


def _summary(summary: Summary) -> Json:
    success = summary.success.interval
    return {
        "tasks": summary.tasks,
        "episodes": summary.episodes,
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
