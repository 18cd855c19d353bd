"""Why the worlds part: of the tasks that one world alone solved, how many by which cause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena_core.worlds import World
from orchestrator.analysis.run_report.parting import (
    PartingCause,
    Repeat,
    Side,
    no_parting,
    parting,
)
from orchestrator.analysis.stats.rates import Interval, clustered_mean
from orchestrator.analysis.stats.results import Cell, EpisodeResult, EpisodeTable
from orchestrator.analysis.studies.study_runs import StudyRun
from orchestrator.runs.store.run_folder import RunFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseShare:
    """How many of the tasks part by a cause; `interval` holds for all causes together."""

    cause: PartingCause
    tasks: int
    share: float
    interval: Interval | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartedTask:
    """Where a task's episodes part, and why; `template` as its cluster."""

    task: str
    template: str
    step: int
    cause: PartingCause
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PartedWorlds:
    """Why the worlds part for one agent on one suite.

    Attributes:
        tasks: that one world alone solved, as `WorldAgreement` counts them.
        causes: all there are, the most frequent first; the shares make 1.
        parts: the tasks.
    """

    agent: str
    suite: str
    tasks: int
    causes: tuple[CauseShare, ...]
    parts: tuple[PartedTask, ...]


def parted_worlds(
    table: EpisodeTable, runs: Sequence[StudyRun], *, confidence: float
) -> tuple[PartedWorlds, ...]:
    """Return why the worlds part, for each agent and suite that they disagree on a task of.

    A task disagrees where more than half of its scored repeats succeed in one world, and less than
    half in the other: what is unscored is no disagreement. It counts once, with the first repeat of
    each world that ends as most do there. Runs without a folder are left out.
    """
    folders = {run.name: run.folder for run in runs if run.folder is not None}
    cells = table.where(lambda row: row.run in folders).cells
    found = (
        _worlds(cell, [cells[cell], cells[online]], folders, confidence)
        for cell in cells
        if cell.world is World.OFFLINE
        and (online := Cell(cell.agent, cell.suite, World.ONLINE)) in cells
    )
    return tuple(one for one in found if one.tasks)


def _worlds(
    cell: Cell,
    worlds: Sequence[EpisodeTable],
    folders: Mapping[str, RunFolder],
    confidence: float,
) -> PartedWorlds:
    offline, online = (one.scored.by(lambda row: row.task) for one in worlds)
    parts = [
        _parted(mine, online[task], folders)
        for task, mine in offline.items()
        if task in online and _lead(mine) * _lead(online[task]) < 0
    ]
    return PartedWorlds(
        agent=cell.agent,
        suite=cell.suite,
        tasks=len(parts),
        causes=cause_shares(parts, confidence=confidence),
        parts=tuple(parts),
    )


def _lead(rows: EpisodeTable) -> int:
    [task] = rows.tasks
    return task.lead


def cause_shares(parts: Sequence[PartedTask], *, confidence: float) -> tuple[CauseShare, ...]:
    """Return the share of each cause in tasks, with Goodman's simultaneous intervals.

    These are Wilson's at Bonferroni's level over all causes that there can be, found or not
    (Goodman 1965, Technometrics 7:247), at the effective number of tasks that templates leave.
    """
    level = 1 - (1 - confidence) / len(PartingCause)
    found = []
    for cause in PartingCause:
        hits = [(one.template, float(one.cause is cause)) for one in parts]
        rate, count = clustered_mean(hits, confidence=level), sum(hit for _, hit in hits)
        found.append(
            CauseShare(
                cause=cause, tasks=int(count), share=rate.value or 0.0, interval=rate.interval
            )
        )
    return tuple(sorted(found, key=lambda one: -one.tasks))


def _parted(
    offline: EpisodeTable, online: EpisodeTable, folders: Mapping[str, RunFolder]
) -> PartedTask:
    repeats = [[_repeat(row, folders) for row in mine] for mine in (offline, online)]
    first, second = (_side(mine, folders) for mine in (offline, online))
    found = parting(first, second, repeats) or no_parting(first)
    row = offline.rows[0]
    return PartedTask(
        task=row.task,
        template=row.template,
        step=found.step,
        cause=found.cause,
        because=found.because,
    )


def _side(rows: EpisodeTable, folders: Mapping[str, RunFolder]) -> Side:
    """Return the first repeat that ends as most do."""
    has_won = _lead(rows) > 0
    row = min((row for row in rows if row.success is has_won), key=lambda row: row.repeat)
    folder = folders[row.run]
    return Side(folder.evidence(row.folder), folder=folder.evidence_folder(row.folder))


def _repeat(row: EpisodeResult, folders: Mapping[str, RunFolder]) -> Repeat:
    return Repeat(row.path, row.success, folders[row.run].evidence_folder(row.folder))
