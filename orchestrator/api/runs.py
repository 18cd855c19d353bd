"""The part of `Arena` about runs: play an agent over tasks, go on with a run, read it, score it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator.api.suites import DEMO, SuiteOperations

if TYPE_CHECKING:
    from orchestrator.report.run_report import RunReport
    from orchestrator.runner.agent_choice import AgentChoice
    from orchestrator.store.lock import RunLock
    from orchestrator.store.reading_scores import RunReading
    from orchestrator.store.rescoring import ScoredTrial

RUNS: Final = Path("arena-runs")


class RunOperations(SuiteOperations):
    """Plays runs, and reads those that were played."""

    async def evaluate(
        self,
        agent: AgentChoice = "oracle",
        patterns: Sequence[str] = (),
        *,
        suite: str = DEMO,
        worlds: Sequence[str] = ("offline",),
        repeats: int = 1,
        attempts: int = 3,
        workers: int | None = None,
        spares: int | None = None,
        memory: str | None = None,
        strategy: str | None = None,
        staged: bool = False,
        resolve: Sequence[str] = (),
        options: Mapping[str, object] | None = None,
        max_usd: float | None = None,
        max_tokens: int | None = None,
        out: Path | str | None = None,
        screenshots: bool = True,
        record_requests: bool = False,
        trace: bool = False,
        headless: bool = True,
        stop: asyncio.Event | None = None,
    ) -> RunReport:
        """Run an agent over tasks, score it, write the report; what `arena eval` does.

        The run is played into a folder of its own. Cancelling the call ends it at once; whatever
        ends it leaves no container behind, and a run that `resume` goes on with.

        Args:
            agent: a registered name (`oracle`, `chat`, `webarena`, …, a plug-in's),
                `package.module:Factory`, or the object: a factory that takes an episode's
                `Assignment` and returns its `Agent`, an `AgentSpec`, or an `AgentMaker`.
            patterns: task ids, or patterns with `*` and `?`; all tasks where none is given.
            suite: as in `suite`.
            worlds: `offline`, `online` or both.
            repeats: how often each task is played in each world.
            attempts: tries of an episode that breaks off for no fault of the agent.
            workers: episodes of each world side by side; 1 where omitted.
            spares: warm replicas beyond the workers', of each site that holds state; what is
                thought best where omitted.
            memory: budget for all replicas, such as `4GiB`; most of the machine where omitted.
            strategy: of resets between episodes: `auto`, `swap`, `clean`, `rewind`, `recreate`.
            staged: live origins are staged on this machine, and labelled so.
            resolve: `HOST:PORT:ADDR:PORT`: send a live host elsewhere, as curl does.
            options: of the agent, by name, as it declares them; text is read as the declared type.
            max_usd: what the run may spend on models; like the next, it may be overshot by what the
                decisions under way cost when it is reached. What is left then is unscored.
            max_tokens: how many tokens, of prompts and replies together.
            out: folder of the new run; a new one in `arena-runs` where omitted.
            screenshots: keep one screenshot per step.
            record_requests: record the requests of every episode, and not only where a task asks.
            trace: keep Playwright's trace of every episode, `trace.zip` beside its evidence.
            headless: show no browser window.
            stop: set it to finish the steps under way and end the run there.

        Returns:
            The report of the run; its `folder` says where the run is.

        Raises:
            UsageError: arguments contradict each other or would have no effect.
            UnknownNameError, TaskError: no such suite, task or agent, or a task has mistakes.
            EngineMissingError, BrowserMissingError, ImageError: something is missing here.
            InterruptedRunError: `stop` was set before the run was done.
            ModelError: the model refuses for good; the run can go on when that is mended.
            ArenaError: a worker's last attempt could not begin.
        """
        from orchestrator.api.new_run import NewRun
        from orchestrator.api.playing import play
        from orchestrator.api.run_resources import RunResources

        asked = NewRun(
            patterns=tuple(patterns),
            suite=suite,
            agent=agent,
            worlds=tuple(worlds),
            repeats=repeats,
            attempts=attempts,
            staged=staged,
            resolves=tuple(resolve),
            options=options or {},
            max_usd=max_usd,
            max_tokens=max_tokens,
            resources=RunResources.read(
                workers=workers, spares=spares, memory=memory, strategy=strategy
            ),
            screenshots=screenshots,
            record_requests=record_requests,
            trace=trace,
            headless=headless,
        )
        request, source = asked.prepare()
        await asked.refuse_mistakes(request, source, self.atlas)
        engine = await self._engine()
        folder = await asked.write_down(request, self.atlas, engine, out, RUNS)
        return await play(request, folder, self.atlas, engine, on_event=self._on_event, stop=stop)

    async def resume(
        self,
        run: Path | str,
        *,
        agent: AgentChoice | None = None,
        options: Mapping[str, object] | None = None,
        workers: int | None = None,
        spares: int | None = None,
        memory: str | None = None,
        strategy: str | None = None,
        max_usd: float | None = None,
        max_tokens: int | None = None,
        screenshots: bool = True,
        headless: bool = True,
        stop: asyncio.Event | None = None,
    ) -> RunReport:
        """Go on with a run as it began; nothing that finished is played again.

        Args:
            run: its folder.
            agent: the run's agent once more; needed only where it was a Python object.
            options: of the agent, those whose values no lock holds: its secrets.
            workers: as in `evaluate`; as the run began where omitted, and so the next three.
            spares: as in `evaluate`.
            memory: as in `evaluate`.
            strategy: as in `evaluate`.
            max_usd: as in `evaluate`, what was spent before included; a larger one than before
                plays what the last one ended, and stands in the lock with who set it and when. As
                the run was last played where omitted, and so the next.
            max_tokens: as in `evaluate`.
            screenshots: as in `evaluate`.
            headless: as in `evaluate`.
            stop: as in `evaluate`.

        Returns:
            The report of the whole run.

        Raises:
            StoreError: no run folder, or another process writes it.
            ImageError: an image that the run began with is gone or another one now.
            ArenaError: as in `evaluate`.
        """
        from orchestrator.api.new_run import resumed_request
        from orchestrator.api.playing import play
        from orchestrator.api.preflight import warn_of_faults
        from orchestrator.api.run_resources import RunResources
        from orchestrator.runner.lock_writer import require_same_images
        from orchestrator.store.run_folder import RunFolder

        resources = RunResources.read(
            workers=workers, spares=spares, memory=memory, strategy=strategy
        )
        folder = RunFolder.open(Path(run))
        request = resumed_request(
            folder,
            agent,
            options or {},
            resources,
            self.atlas,
            screenshots=screenshots,
            headless=headless,
            max_usd=max_usd,
            max_tokens=max_tokens,
        )
        await warn_of_faults(request.suite, request.tasks, self.atlas, self._on_event)
        engine = await self._engine()
        await require_same_images(folder.lock(), engine)
        folder.change_limits(request.limits)
        return await play(request, folder, self.atlas, engine, on_event=self._on_event, stop=stop)

    def read_run(self, run: Path | str) -> RunReport:
        """Read a run, finished or not, and score it from its evidence.

        Raises:
            StoreError: no run folder, or it cannot be read.
        """
        from orchestrator.report.run_report import read_run
        from orchestrator.store.run_folder import RunFolder

        return read_run(RunFolder.open(Path(run)))

    def read_lock(self, run: Path | str) -> RunLock:
        """Read what a run was asked to do, and with what: agent, tasks, images, versions.

        Raises:
            StoreError: no run folder, or it cannot be read.
        """
        from orchestrator.store.run_folder import RunFolder

        return RunFolder.open(Path(run)).lock()

    def write_report(
        self, report: RunReport, html: Path | str | None = None, *, form: str = "html"
    ) -> Path:
        """Write a run's report as one file, self-contained HTML where nothing is said.

        Args:
            report: as `evaluate`, `resume` and `read_run` return it.
            html: where it goes; into the run's folder where omitted.
            form: the name of a registered report.

        Returns:
            The path of the file.

        Raises:
            UnknownNameError, PluginError: there is no such report, or it cannot be used.
            StoreError: the file cannot be written.
        """
        from orchestrator.report.seams import REPORTS

        writer = REPORTS.load(form)
        target = report.folder.path / f"report.{writer.suffix}" if html is None else Path(html)
        writer.write(report, target)
        return target

    def score(
        self, run: Path | str, suite: str | None = None, *, processes: int | None = None
    ) -> tuple[ScoredTrial, ...]:
        """Score a run's finished episodes again, without browser, containers or keys.

        Args:
            run: its folder.
            suite: other checks for the same tasks, as in `suite`; those that the run kept where
                omitted.
            processes: how many work on it; as many as long runs and the machine's cores ask for
                where omitted. The scores are the same.

        Raises:
            StoreError: the run cannot be read, or the suite lacks a task of it.
            WorkerProcessError: a process died over an episode.
            UnknownNameError, TaskError: no such suite, or it is wrong.
        """
        from orchestrator.store.rescoring import rescore
        from orchestrator.store.run_folder import RunFolder

        checks = None if suite is None else self.suite(suite)
        return rescore(RunFolder.open(Path(run)), checks, processes=processes)

    def score_readings(
        self, scored: Sequence[ScoredTrial], readings: Iterable[str]
    ) -> tuple[RunReading, ...]:
        """Score a run as published code would, beside its strict scores.

        Args:
            scored: as `score` returns it.
            readings: names of installed readings: `webarena`.

        Raises:
            UnknownNameError, PluginError: there is no such reading, or it cannot be used.
            UsageError: no episode is of a task that one of them can read.
        """
        from orchestrator.store.reading_scores import read_run_as

        return read_run_as(readings, scored)
