"""An agent held to a bar: played, or read where it was, and compared with a baseline."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from arena_core.errors import UsageError
from orchestrator.analysis.run_report.run_report import RunReport, read_run
from orchestrator.analysis.studies.baseline import (
    Baseline,
    differences,
    require_alike,
    require_finished,
    write_text,
)
from orchestrator.analysis.studies.regression import Bar, HeldRun, hold
from orchestrator.analysis.studies.regression_files import junit_of, markdown_of
from orchestrator.runs.spec import RunSpec
from orchestrator.runs.store.lock import RunLock
from orchestrator.runs.store.run_folder import RunFolder
from tasks.loader import Selection, load_suite, select_tasks
from tasks.schema import Suite, Task


async def hold_new(
    spec: RunSpec,
    play: Callable[[], Awaitable[RunReport]],
    bar: Bar,
    summary: Path | str | None,
    junit: Path | str | None,
) -> HeldRun:
    """Play a run and hold it; what is wrong with the bar is said before anything is played."""
    if spec.shard is not None:
        raise UsageError("a shard is held to no bar: its figures are of its share of the trials")
    baseline = bar.baseline()
    if baseline is not None:
        suite = load_suite(spec.suite)
        chosen = select_tasks(suite, Selection(ids=spec.tasks))
        _compared(baseline, suite, chosen, spec, bar)
    return _held(await play(), baseline, bar, summary, junit)


def hold_finished(
    run: Path | str,
    bar: Bar,
    summary: Path | str | None,
    junit: Path | str | None,
    *,
    is_asked: bool = False,
) -> HeldRun:
    """Hold a run that is finished; refuse to, where something else is asked to be played."""
    if is_asked:
        raise UsageError("a finished run is held as it is: what to play has no effect")
    report = read_run(RunFolder.open(Path(run)))
    baseline = bar.baseline()
    if baseline is not None and baseline.run == report.lock.run:
        raise UsageError(f"{run}: is the run of the baseline, and cannot be held to itself")
    return _held(report, baseline, bar, summary, junit)


def _held(
    report: RunReport,
    baseline: Baseline | None,
    bar: Bar,
    summary: Path | str | None,
    junit: Path | str | None,
) -> HeldRun:
    require_finished(report)
    notes: tuple[str, ...] = ()
    if baseline is not None:
        chosen = tuple(row.task for row in report.rows)
        notes = _compared(baseline, report.folder.suite(), chosen, report.lock, bar)
    held = hold(report, baseline, min_success=bar.min_success, alpha=bar.alpha, notes=notes)
    for path, text in ((summary, markdown_of), (junit, junit_of)):
        if path is not None:
            write_text(Path(path), text(held))
    return held


def _compared(
    baseline: Baseline, suite: Suite, chosen: tuple[Task, ...], terms: RunSpec | RunLock, bar: Bar
) -> tuple[str, ...]:
    """Refuse a baseline that was played otherwise; return what of that was allowed."""
    found = differences(baseline, suite, chosen, terms)
    require_alike(baseline, found, bar.allow, suite)
    bar.require_breakable(baseline, terms.worlds)
    return tuple(f"allowed: {said}" for said in found.values())
