"""Which tasks are sampled, and how hot an agent is so that its rollouts differ."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from arena_core.errors import UsageError
from arena_core.worlds import World
from orchestrator.agents.choice import find_agent
from orchestrator.agents.options import by_name
from orchestrator.analysis.run_report.run_report import RunReport
from orchestrator.export.training.bands import Band, MeasuredTask, plan
from orchestrator.export.training.split import Split
from orchestrator.runs.agent_choice import AgentChoice
from tasks.loader import Selection, select_tasks
from tasks.schema import Suite

TEMPERATURE: Final = 1.0
_HEAT: Final = "temperature"


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplePlan:
    """What is sampled.

    Attributes:
        tasks: all tasks that were asked for, with how hard they were, and whether they are sampled.
        runs: the earlier runs that say so.
    """

    tasks: tuple[MeasuredTask, ...]
    runs: tuple[RunReport, ...]

    @property
    def chosen(self) -> tuple[str, ...]:
        """The ids of the tasks that are sampled."""
        return tuple(one.task for one in self.tasks if one.is_chosen)


def plan_sample(
    suite: Suite,
    patterns: Sequence[str],
    *,
    worlds: Collection[World],
    measured: Sequence[RunReport],
    bands: Collection[Band] | None,
    split: Split | None,
) -> SamplePlan:
    """Choose the tasks to sample; arguments and errors are those of `arena.runs.plan_sample`."""
    if bands is not None and not measured:
        message = "bands are of earlier runs, and none is given"
        raise UsageError(message, hint="name them with --measured RUN")
    tasks = tuple(
        task
        for task in select_tasks(suite, Selection(ids=tuple(patterns)))
        if not set(worlds).isdisjoint(task.worlds)
    )
    chosen = plan(suite, tasks, measured, worlds=worlds, bands=bands, split=split)
    return SamplePlan(tasks=chosen, runs=tuple(measured))


def heated(
    agent: AgentChoice, options: Mapping[str, object], on_equal: Callable[[str], None]
) -> Mapping[str, object]:
    """Return the options of an agent that shall not do the same in every rollout.

    Args:
        on_equal: called with a warning where nothing lets its rollouts differ.
    """
    declared = by_name(find_agent(agent).kind.options)
    if _HEAT in declared and _HEAT not in options:
        return {**options, _HEAT: TEMPERATURE}
    if _HEAT in declared and float(str(options[_HEAT])) > 0:
        return options
    is_drawn = "seed" in declared and _HEAT not in declared
    rate = options.get("error_rate") or options.get("errs")
    if "error_rate" in declared and not float(str(rate or 0)):
        is_drawn = False  # an oracle that never errs does the same whatever its seed
    if not is_drawn:
        why = "at temperature 0" if _HEAT in declared else "without a temperature"
        on_equal(f"{agent} {why}: its rollouts of a task may all be equal")
    return options
