"""The part of `Arena` that samples rollouts: many episodes of each task, to train on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena_core.errors import UsageError
from orchestrator.api.arguments import read_worlds, require_at_least
from orchestrator.api.events import WarningNote
from orchestrator.api.runs import RunOperations
from orchestrator.api.suites import DEMO

if TYPE_CHECKING:
    from orchestrator.report.run_report import RunReport
    from orchestrator.runner.agent_choice import AgentChoice
    from orchestrator.training.bands import MeasuredTask

ROLLOUTS: Final = 8
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


class SamplingOperations(RunOperations):
    """Plays each task several times."""

    def plan_sample(
        self,
        patterns: Sequence[str] = (),
        *,
        suite: str = DEMO,
        worlds: Sequence[str] = ("offline",),
        measured: Iterable[Path | str] = (),
        bands: Sequence[str] = (),
        split: Path | str | None = None,
    ) -> SamplePlan:
        """Say which tasks `sample` would play, and how hard they were in earlier runs.

        Args:
            patterns: as in `evaluate`.
            suite: as in `suite`.
            worlds: as in `evaluate`.
            measured: folders of earlier runs of the same suite.
            bands: names of the bands to sample: `never`, `hard`, `medium`, `easy`, `always`,
                `unmeasured`; all where none is given.
            split: a file that says which tasks are kept for tests.

        Raises:
            UsageError: there is no such band, no run says how hard tasks were, a run measures
                nothing of these tasks, or no task is left.
            UnknownNameError, TaskError, InputError: no such suite, task, or the split is wrong.
            StoreError: a run cannot be read.
        """
        from orchestrator.training.bands import plan, read_bands
        from orchestrator.training.split import read_split

        wanted = read_bands(bands) if bands else None
        reports = tuple(self.read_run(run) for run in measured)
        if wanted is not None and not reports:
            message = "bands are of earlier runs, and none is given"
            raise UsageError(message, hint="name them with --measured RUN")
        played = read_worlds(worlds)
        found = self.suite(suite)
        tasks = tuple(
            task for task in self.tasks(suite, patterns) if not set(played).isdisjoint(task.worlds)
        )
        kept = None if split is None else read_split(Path(split), [found])
        chosen = plan(found, tasks, reports, worlds=played, bands=wanted, split=kept)
        return SamplePlan(tasks=chosen, runs=reports)

    async def sample(
        self,
        agent: AgentChoice,
        patterns: Sequence[str] = (),
        *,
        rollouts: int = ROLLOUTS,
        suite: str = DEMO,
        worlds: Sequence[str] = ("offline",),
        measured: Iterable[Path | str] = (),
        bands: Sequence[str] = (),
        split: Path | str | None = None,
        attempts: int = 3,
        workers: int | None = None,
        memory: str | None = None,
        options: Mapping[str, object] | None = None,
        max_usd: float | None = None,
        max_tokens: int | None = None,
        out: Path | str | None = None,
        screenshots: bool = False,
        headless: bool = True,
        stop: asyncio.Event | None = None,
    ) -> RunReport:
        """Play each task several times into a run, which `export` makes training data of.

        An agent with a model is sampled with a temperature of 1 unless `options` says otherwise;
        each repeat asks with another seed.

        Args:
            agent: as in `evaluate`, and so whatever is not named here.
            patterns: as in `evaluate`.
            rollouts: how often each task is played in each world.
            suite: as in `suite`.
            worlds: as in `evaluate`.
            measured: as in `plan_sample`, and so the next two. Where there are any, `bands.json` in
                the run's folder says which task was in which band.
            bands: names of those to sample.
            split: a split file.
            attempts: as in `evaluate`.
            workers: as in `evaluate`.
            memory: as in `evaluate`.
            options: as in `evaluate`.
            max_usd: as in `evaluate`.
            max_tokens: as in `evaluate`.
            out: as in `evaluate`.
            screenshots: keep one screenshot per step; what the agent is shown is kept anyway.
            headless: as in `evaluate`.
            stop: as in `evaluate`.

        Returns:
            The report of the run.

        Raises:
            ArenaError: as `plan_sample` and `evaluate`.
        """
        from orchestrator.training.bands import BANDS_FILE, write_bands

        require_at_least(1, rollouts=rollouts)
        planned = self.plan_sample(
            patterns, suite=suite, worlds=worlds, measured=measured, bands=bands, split=split
        )
        folder = None if out is None else Path(out)
        try:
            report = await self.evaluate(
                agent,
                planned.chosen,
                suite=suite,
                worlds=worlds,
                repeats=rollouts,
                attempts=attempts,
                workers=workers,
                memory=memory,
                options=self._heated(agent, options or {}),
                max_usd=max_usd,
                max_tokens=max_tokens,
                out=out,
                screenshots=screenshots,
                headless=headless,
                stop=stop,
            )
            folder = report.folder.path
        finally:
            # Also of a run that was broken off, where it is known which folder that is.
            if planned.runs and folder is not None and folder.is_dir():
                write_bands(planned.tasks, planned.runs, folder / BANDS_FILE)
        return report

    def _heated(self, agent: AgentChoice, options: Mapping[str, object]) -> Mapping[str, object]:
        """Return the options of an agent that shall not do the same in every rollout."""
        from orchestrator.agents.choice import find_agent
        from orchestrator.agents.options import by_name

        declared = by_name(find_agent(agent).kind.options)
        if _HEAT in declared and _HEAT not in options:
            return {**options, _HEAT: TEMPERATURE}
        if _HEAT in declared and float(str(options[_HEAT])) > 0:
            return options
        is_drawn = "seed" in declared and _HEAT not in declared
        if "errs" in declared and not float(str(options.get("errs") or 0)):
            is_drawn = False  # an oracle that never errs does the same whatever its seed
        if not is_drawn:
            why = "at temperature 0" if _HEAT in declared else "without a temperature"
            self._on_event(WarningNote(f"{agent} {why}: its rollouts of a task may all be equal"))
        return options
