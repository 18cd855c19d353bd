"""`arena.runs`: go on with runs, sample, read, score, judge, report, export and compare them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Unpack

from arena_core.errors import UsageError
from arena_core.work_events import WorkStep
from orchestrator.api.opened import OpenArena
from orchestrator.api.steering import SteersRuns
from orchestrator.api.suites import DEMO, Suites

if TYPE_CHECKING:
    from orchestrator.analysis.judging.agreement_set import JudgeReport
    from orchestrator.analysis.judging.judge import JudgeChoice, JudgedRun
    from orchestrator.analysis.run_report.run_report import RunReport
    from orchestrator.analysis.studies.findings import StudyAnalysis
    from orchestrator.analysis.study_report.reporting import ComparedRuns, RunOrLabelled
    from orchestrator.export.exporting import Exported, RunChoice
    from orchestrator.export.training.sampling import SamplePlan
    from orchestrator.runs.agent_choice import AgentChoice
    from orchestrator.runs.spec import Asked, Changes
    from orchestrator.runs.store.lock import RunLock
    from orchestrator.runs.store.rescoring import ScoredEpisode
    from orchestrator.runs.store.scorer_reports import ScorerReport

ROLLOUTS: Final = 8


class Runs(SteersRuns):
    """Runs that were begun: `Arena.run` begins one."""

    def __init__(self, opened: OpenArena, suites: Suites) -> None:
        self._opened = opened
        self._suites = suites

    async def resume(
        self,
        run: Path | str,
        *,
        agent: AgentChoice | None = None,
        options: Mapping[str, object] | None = None,
        headless: bool = True,
        again: Sequence[str] = (),
        yes: bool = False,
        stop: asyncio.Event | None = None,
        **changes: Unpack[Changes],
    ) -> RunReport:
        """Go on with a run as it began; nothing that finished is played again.

        Args:
            run: its folder.
            agent: the run's agent once more; needed only where it was a Python object.
            options: of the agent, those whose values no lock holds: its secrets.
            headless: as in `Arena.run`.
            again: reasons, such as `internal` and `infra`: episodes that are unscored for one of
                them are played again.
            yes: as in `Arena.run`.
            stop: as in `Arena.run`.
            changes: `workers`, `spares`, `memory`, `strategy` or `screenshots` in place of what the
                run began with; `max_usd` or `max_tokens` in place of what it was last played with,
                what was spent before included. A larger limit plays what the last one ended, and
                stands in the lock with who set it and when. `browser` names the address again of
                which the lock keeps no secret.

        Returns:
            The report of the whole run.

        Raises:
            StoreError: no run folder, or another process writes it.
            UsageError: there is no such reason, or the browser is another one now and the run
                visits live sites.
            ImageError: an image that the run began with is gone or another one now.
            ArenaError: as in `Arena.run`.
        """
        from orchestrator.api.canary_runs import way_to_play
        from orchestrator.api.suites import warn_of_faults
        from orchestrator.runs.lock_writer import require_same_browser, require_same_images
        from orchestrator.runs.new_run import read_reasons, require_meant, resumed_request
        from orchestrator.runs.spec import RunSettings
        from orchestrator.runs.store.run_folder import RunFolder
        from orchestrator.runs.tapes import require_same_tapes

        asked = dict(changes)
        asked.pop("browser", None)  # which must fit the worlds of the run
        RunSettings.of(**asked)
        opened = self._opened
        folder = RunFolder.open(Path(run))
        request = resumed_request(
            folder,
            opened.registry,
            agent=agent,
            options=options or {},
            changes=changes,
            headless=headless,
            again=read_reasons(again),
        )
        settings = request.settings
        require_meant(is_meant=yes, episodes=0, workers=settings.workers_at_first)
        await warn_of_faults(request.suite, request.tasks, opened.registry, opened.on_event)
        await require_same_images(folder.lock(), await opened.engine())
        await require_same_browser(folder.lock(), request)
        require_same_tapes(folder.lock())
        folder.change_limits(settings.budget)
        return await way_to_play(settings)(request, folder, opened, stop)

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
            patterns: as in `Arena.run`.
            suite: as in `suites.read`.
            worlds: as in `Arena.run`.
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
        from orchestrator.export.training.bands import read_bands
        from orchestrator.export.training.sampling import plan_sample
        from orchestrator.export.training.split import read_split
        from orchestrator.runs.spec import RunSpec

        wanted = read_bands(bands) if bands else None
        found = self._suites.read(suite)
        return plan_sample(
            found,
            patterns,
            worlds=RunSpec.of(worlds=worlds).worlds,
            measured=[self.read(run) for run in measured],
            bands=wanted,
            split=None if split is None else read_split(Path(split), [found]),
        )

    async def sample(
        self,
        agent: AgentChoice,
        patterns: Sequence[str] = (),
        *,
        rollouts: int = ROLLOUTS,
        measured: Iterable[Path | str] = (),
        bands: Sequence[str] = (),
        split: Path | str | None = None,
        from_run: Path | str | None = None,
        from_step: str | int | None = None,
        out: Path | str | None = None,
        headless: bool = True,
        yes: bool = False,
        stop: asyncio.Event | None = None,
        **asked: Unpack[Asked],
    ) -> RunReport:
        """Play each task several times into a run, which `export` makes training data of.

        An agent with a model is sampled with a temperature of 1 unless `options` says otherwise;
        each repeat asks with another seed. What the agent is shown is kept, and no screenshots
        beside that unless they are asked for.

        Args:
            agent: as in `Arena.run`, and so whatever is not named here.
            patterns: as in `Arena.run`.
            rollouts: how often each task is played in each world, in place of `repeats`.
            measured: as in `plan_sample`, and so the next two. Where there are any, `bands.json` in
                the run's folder says which task was in which band.
            bands: names of those to sample.
            split: a split file.
            from_run: a finished run, on whose tasks and replicas rollouts go on from the middle of
                each offline episode. What it did until then is done again and must lead to the same
                pages; each rollout is proven equal to a checkpoint there, or `unscored: fork`.
            from_step: after how many actions: `3`, several as `2,4`, or `every`.
            out: as in `Arena.run`.
            headless: as in `Arena.run`.
            yes: as in `Arena.run`.
            stop: as in `Arena.run`.
            asked: as in `Arena.run`.

        Returns:
            The report of the run.

        Raises:
            ArenaError: as `plan_sample` and `Arena.run`.
        """
        from orchestrator.api.canary_runs import way_to_play
        from orchestrator.api.playing import play_new, play_rollouts
        from orchestrator.export.training.bands import BANDS_FILE, write_bands
        from orchestrator.export.training.sampling import heated
        from orchestrator.runs.spec import RunSpec

        named = agent if isinstance(agent, str) else "a Python object"
        spec = RunSpec.of(**{"screenshots": False} | asked, agent=named, repeats=rollouts)
        if from_run is not None or from_step is not None:
            if measured or bands or split is not None:
                message = "bands and splits have no effect on rollouts from a step"
                raise UsageError(message, hint="a split takes effect in `arena export`")
            options = heated(agent, spec.options, self._opened.warn)
            return await play_rollouts(
                self._opened,
                spec.model_copy(update={"options": options, "tasks": tuple(patterns)}),
                agent,
                run=from_run,
                step=from_step,
                asked=asked,
                out=out,
                headless=headless,
                yes=yes,
                stop=stop,
            )
        planned = self.plan_sample(
            patterns,
            suite=spec.suite,
            worlds=spec.worlds,
            measured=measured,
            bands=bands,
            split=split,
        )
        options = heated(agent, spec.options, self._opened.warn)
        spec = spec.model_copy(update={"tasks": planned.chosen, "options": options})
        folder = None if out is None else Path(out)
        try:
            how = way_to_play(spec)
            report = await play_new(
                self._opened, spec, agent, how, out=out, headless=headless, yes=yes, stop=stop
            )
            folder = report.folder.path
        finally:
            # Also of a run that was broken off, where it is known which folder that is.
            if planned.runs and folder is not None and folder.is_dir():
                write_bands(planned.tasks, planned.runs, folder / BANDS_FILE)
        return report

    def read(self, run: Path | str) -> RunReport:
        """Read a run, finished or not, and score it from its evidence.

        Raises:
            StoreError: no run folder, or it cannot be read.
        """
        from orchestrator.analysis.run_report.run_report import read_run
        from orchestrator.runs.store.run_folder import RunFolder

        return read_run(RunFolder.open(Path(run)))

    def read_lock(self, run: Path | str) -> RunLock:
        """Read what a run was asked to do, and with what: agent, tasks, images, versions.

        Raises:
            StoreError: no run folder, or it cannot be read.
        """
        from orchestrator.runs.store.run_folder import RunFolder

        return RunFolder.open(Path(run)).lock()

    def report(
        self, report: RunReport, html: Path | str | None = None, *, form: str = "html"
    ) -> Path:
        """Write a run's report as one file, self-contained HTML where nothing is said.

        Args:
            report: as `Arena.run`, `resume` and `read` return it.
            html: where it goes; into the run's folder where omitted.
            form: the name of a registered report.

        Returns:
            The path of the file.

        Raises:
            UnknownNameError, PluginError: there is no such report, or it cannot be used.
            StoreError: the file cannot be written.
        """
        from orchestrator.analysis.run_report.extension_points import REPORTS

        writer = REPORTS.load(form)
        target = report.folder.path / f"report.{writer.suffix}" if html is None else Path(html)
        if html is None and target.is_symlink():
            target.unlink()  # in a folder of somebody else's it may lead to any file
        writer.write(report, target)
        return target

    def score(
        self, run: Path | str, suite: str | None = None, *, processes: int | None = None
    ) -> tuple[ScoredEpisode, ...]:
        """Score a run's finished episodes again, without browser, containers or keys.

        Args:
            run: its folder.
            suite: other checks for the same tasks, as in `suites.read`; those that the run kept
                where omitted.
            processes: how many work on it; as many as long runs and the machine's cores ask for
                where omitted. The scores are the same.

        Raises:
            StoreError: the run cannot be read, or the suite lacks a task of it.
            WorkerProcessError: a process died over an episode.
            UnknownNameError, TaskError: no such suite, or it is wrong.
        """
        from orchestrator.runs.store.rescoring import rescore
        from orchestrator.runs.store.run_folder import RunFolder

        checks = None if suite is None else self._suites.read(suite)
        return rescore(RunFolder.open(Path(run)), checks, processes=processes)

    def score_with(
        self, scored: Sequence[ScoredEpisode], scorers: Iterable[str]
    ) -> tuple[ScorerReport, ...]:
        """Score a run as published code would, beside its strict scores.

        Args:
            scored: as `score` returns it.
            scorers: names of installed scorers: `webarena`.

        Raises:
            UnknownNameError, PluginError: there is no such scorer, or it cannot be used.
            UsageError: no episode is of a task that one of them can read.
        """
        from orchestrator.runs.store.scorer_reports import score_run_with

        return score_run_with(scorers, scored)

    async def judge(
        self,
        run: Path | str,
        judge: JudgeChoice,
        *,
        scorers: Sequence[str] = (),
        anew: bool = False,
    ) -> JudgedRun:
        """Let a model judge what a run's finished episodes leave to judges.

        Replies are kept in the run's folder as soon as they come, and asked for once: a call that
        was broken off goes on where it was. Outcomes that they change are written down.

        Args:
            run: its folder.
            judge: the model.
            scorers: compatible scorers whose questions are put too, by name.
            anew: ask again what was answered before; the later reply counts.

        Raises:
            StoreError: the run cannot be read or written, or another process writes it.
            UsageError: there is no key, or the votes would not decide.
            UnknownNameError, PluginError: there is no such scorer, or it cannot be used.
        """
        from evaluators.scorers.base import SCORERS
        from orchestrator.analysis.judging.judge import Judge, judge_run
        from orchestrator.runs.store.run_folder import RunFolder

        chosen = tuple(SCORERS.load(name) for name in scorers)
        asked = Judge(judge.options())
        try:
            return await judge_run(
                RunFolder.open(Path(run)),
                asked,
                scorers=chosen,
                anew=anew,
                on_judged=lambda done, total: self._opened.on_event(
                    WorkStep("judge", f"{done} of {total} questions answered", done, total)
                ),
            )
        finally:
            await asked.close()

    async def check_judge(
        self, labelled: Path | str, judge: JudgeChoice, second: JudgeChoice | None = None
    ) -> JudgeReport:
        """Say how far a judge agrees with labelled texts, and with a second judge.

        Args:
            labelled: a YAML, JSON or JSON-lines file of {rubric, reference, text, label}.
            judge: whose verdicts are compared with the labels.
            second: whose verdicts are compared with the first's.

        Raises:
            InputError: the file cannot be read, or an entry is wrong.
            ModelError: a judge did not answer a question.
        """
        from orchestrator.analysis.judging.agreement_set import check_judge

        return await check_judge(Path(labelled), judge, second, self._opened.on_event)

    def export(
        self,
        runs: RunChoice | Sequence[RunChoice],
        form: str = "jsonl",
        out: Path | str | None = None,
        *,
        options: Mapping[str, object] | None = None,
    ) -> Exported:
        """Write one or several runs for other programs, as one file or folder.

        Passwords and API keys of the sites' accounts, secrets of this machine's environment, and
        what was typed into password fields are `[redacted]` in texts; training data leaves out the
        records that hold one. Pictures are not searched.

        Args:
            runs: reports, as `Arena.run`, `resume` and `read` return them, or the folders of
                runs, or of studies, whose runs are taken.
            form: the name of a registered exporter; `jsonl` writes one episode a line.
            out: where it goes; in the folder of the run or study where omitted, as `export.SUFFIX`
                or with the form's name where that is not the suffix. What an earlier export left
                there is replaced.
            options: of the exporter, by name, as it declares them; text is read as that type.

        Raises:
            UnknownNameError, PluginError: there is no such exporter, or it cannot be used.
            UsageError: an option or `out` is wrong, a run is given twice, or there are several runs
                and nothing says where the export goes.
            StoreError: a run cannot be read, or the export cannot be written.
            PrerequisiteError: a package that the form needs is missing.
        """
        from orchestrator.export.exporting import export_runs

        return export_runs(
            runs,
            form,
            None if out is None else Path(out),
            options or {},
            registry=self._opened.registry,
            on_work=self._opened.on_event,
        )

    def compare(
        self,
        runs: Sequence[RunOrLabelled],
        *,
        margin: float | None = None,
        alpha: float = 0.05,
        seed: int = 0,
    ) -> ComparedRuns:
        """Compare runs on the tasks that they share; what `arena compare` does.

        Every pair of agents is compared in each world that both played, and the two worlds of each
        agent that played both. None of these questions was registered, and each answer says so.

        Args:
            runs: their folders; `(label, folder)` to call an agent otherwise than its lock does.
            margin: also ask whether the worlds are equivalent within it: 0.05 is 5 points.
            alpha: level of every test, corrected over all questions.
            seed: of the resampling.

        Raises:
            UsageError: the runs cannot be compared, or an argument makes no sense.
            StoreError: a run cannot be read.
        """
        from orchestrator.analysis.study_report.reporting import compare_runs

        return compare_runs(runs, margin=margin, alpha=alpha, seed=seed)

    def write_figures(self, analysis: StudyAnalysis, folder: Path | str) -> tuple[Path, ...]:
        """Write the figures (SVG, PDF) and tables (LaTeX, Markdown) of a study or a comparison.

        Args:
            analysis: of a study, or the one in what `compare` returns.
            folder: where they go; it is made where it is missing.

        Returns:
            What was written.

        Raises:
            StoreError: the folder cannot be written.
        """
        from orchestrator.analysis.figures.writing import write_figures

        return write_figures(analysis, Path(folder))

    def write_comparison(self, found: ComparedRuns, folder: Path | str) -> Path:
        """Write the page of a comparison, with figures, tables and episodes beside it.

        Args:
            found: as `compare` returns it.
            folder: where all of it goes; it is made where it is missing.

        Returns:
            The path of the page, `index.html`.

        Raises:
            UsageError: the folder is named like a file.
            StoreError: a run cannot be read, or the folder cannot be written.
        """
        from orchestrator.analysis.study_report.reporting import write_comparison

        return write_comparison(found, Path(folder))
