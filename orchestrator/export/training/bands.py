"""How hard tasks were for an agent, from earlier runs, and which of them are sampled next."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from arena_core.errors import UsageError
from arena_core.names import offered
from arena_core.worlds import World
from evaluators.verdicts import OutcomeKind
from orchestrator.agents.interface import AgentClass
from orchestrator.analysis.run_report.run_report import RunReport
from orchestrator.analysis.stats.rates import wilson
from orchestrator.export.training.split import Split
from tasks.schema import Suite, Task

BANDS_FILE: Final = "bands.json"


class Band(StrEnum):
    """How often a task succeeded.

    `never`: not once. `hard`: up to a third of the time, `medium`: up to two thirds, `easy`: more,
    but not always. `always`: every time. `unmeasured`: no episode of it was scored.
    """

    NEVER = "never"
    HARD = "hard"
    MEDIUM = "medium"
    EASY = "easy"
    ALWAYS = "always"
    UNMEASURED = "unmeasured"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredTask:
    """How a task went in earlier runs.

    Attributes:
        unscored: those that were not; they count for nothing else.
        rate: right ÷ scored; None where none was scored, and so the next.
        low, high: Wilson's interval of the rate, at 95 %. With few episodes it spans several bands.
        refused: why a split keeps it from training; empty where it does not.
    """

    task: str
    right: int
    scored: int
    unscored: int
    rate: float | None
    low: float | None
    high: float | None
    band: Band
    refused: str = ""
    is_chosen: bool = True


def band_of(right: int, scored: int) -> Band:
    if not scored:
        return Band.UNMEASURED
    if right in {0, scored}:
        return Band.ALWAYS if right else Band.NEVER
    # In whole numbers: a third of 6 is 2, whatever a float makes of it.
    if 3 * right <= scored:
        return Band.HARD
    return Band.MEDIUM if 3 * right <= 2 * scored else Band.EASY


def read_bands(names: Iterable[str]) -> frozenset[Band]:
    wanted = [name.strip() for name in names]
    unknown = [name for name in wanted if name not in set(Band)]
    if unknown:
        message = f"there is no band '{unknown[0]}'"
        raise UsageError(message, hint=offered(unknown[0], list(Band), intro="bands"))
    return frozenset(Band(name) for name in wanted)


def plan(
    suite: Suite,
    tasks: Sequence[Task],
    runs: Sequence[RunReport],
    *,
    worlds: Collection[World],
    bands: Collection[Band] | None,
    split: Split | None,
) -> tuple[MeasuredTask, ...]:
    """Say of each task how hard it was, and whether it is sampled."""
    counts: Counter[tuple[str, OutcomeKind]] = Counter()
    for run in runs:
        counts += _counted(run, suite, tasks, worlds)
    measured = tuple(_measured(suite, task, counts, bands, split) for task in tasks)
    if not any(one.is_chosen for one in measured):
        message = f"no task of '{suite.suite}' is left to sample: {_why_none(measured)}"
        raise UsageError(message, hint="choose other bands, tasks or another split")
    return measured


def write_bands(measured: Sequence[MeasuredTask], runs: Sequence[RunReport], path: Path) -> None:
    document = {
        "runs": [
            {"run": one.lock.run, "suite": one.lock.suite, "agent": one.lock.agent.name}
            for one in runs
        ],
        "tasks": [asdict(one) for one in measured],
    }
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def _counted(
    run: RunReport, suite: Suite, tasks: Sequence[Task], worlds: Collection[World]
) -> Counter[tuple[str, OutcomeKind]]:
    if run.lock.agent.agent_class is AgentClass.REFERENCE:
        message = f"{run.folder.path}: is of {run.lock.agent.name}, which knows each solution"
        raise UsageError(message, hint="measure with the agent that is to be trained")
    if run.lock.arm is not None:
        message = f"{run.folder.path}: was played in the arm {run.lock.arm}; rollouts are clean"
        raise UsageError(message, hint="measure with a run that was played without --vary")
    # A task of the same name that asks or checks something else has measured nothing.
    same = {task.id: task for task in tasks}
    found = Counter(
        (one.task.id, one.score.outcome.kind)
        for one in run.episodes
        if one.is_attempt and one.key.world in worlds and same.get(one.task.id) == one.task
    )
    if not found:
        message = (
            f"{run.folder.path}: has no finished episode of these tasks of '{suite.suite}', as they"
            f" are now, {' or '.join(sorted(worlds))}"
        )
        raise UsageError(message, hint="measure with a run of the same suite")
    return found


def _measured(
    suite: Suite,
    task: Task,
    counts: Counter[tuple[str, OutcomeKind]],
    bands: Collection[Band] | None,
    split: Split | None,
) -> MeasuredTask:
    right = counts[task.id, OutcomeKind.SUCCESS]
    scored = right + counts[task.id, OutcomeKind.FAILURE]
    interval = wilson(right / scored, scored) if scored else None
    band = band_of(right, scored)
    refused = split.refuses(suite.suite, task) if split is not None else None
    return MeasuredTask(
        task=task.id,
        right=right,
        scored=scored,
        unscored=counts[task.id, OutcomeKind.UNSCORED],
        rate=right / scored if scored else None,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        band=band,
        refused=refused or "",
        is_chosen=refused is None and (bands is None or band in bands),
    )


def _why_none(measured: Sequence[MeasuredTask]) -> str:
    refused = sum(bool(one.refused) for one in measured)
    others = Counter(one.band for one in measured if not one.refused)
    parts = [f"{refused} kept for tests by the split"] if refused else []
    parts += [f"{count} {band}" for band, count in sorted(others.items())]
    return ", ".join(parts)
