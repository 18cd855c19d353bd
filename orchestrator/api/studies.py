"""The part of `Arena` about studies: register, play, look, add, hold to what was registered."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator.api.runs import RUNS, RunOperations

if TYPE_CHECKING:
    from orchestrator.api.study_reporting import StudyReport
    from orchestrator.studies.planning import StudyPlan
    from orchestrator.studies.progress import StudyProgress
    from orchestrator.studies.verifying import Verification

STUDIES: Final = Path("arena-studies")


class StudyOperations(RunOperations):
    """Plays studies, and reads those that were played."""

    async def run_study(
        self,
        study: Path | str,
        *,
        out: Path | str | None = None,
        options: Mapping[str, Mapping[str, object]] | None = None,
        workers: int | None = None,
        spares: int | None = None,
        memory: str | None = None,
        strategy: str | None = None,
        headless: bool = True,
        register_only: bool = False,
        stop: asyncio.Event | None = None,
    ) -> StudyProgress:
        """Register a study and play it, or go on with one; what `arena study run` does.

        The episodes of all agents, suites and worlds take turns in a seeded order. Whatever ends
        the call, nothing that finished is played again.

        Args:
            study: its file, or its folder.
            out: its folder; one of its name in `arena-studies` where omitted.
            options: by agent's label, the secrets among its options: they stand in no file.
            workers: as in `evaluate`; as the study says where omitted, and so the next three.
            spares: as in `evaluate`.
            memory: as in `evaluate`.
            strategy: as in `evaluate`.
            headless: as in `evaluate`.
            register_only: write it down and play nothing yet.
            stop: as in `evaluate`.

        Returns:
            How far it is.

        Raises:
            InputError: the file is wrong; one line with file, line and field.
            StoreError: the file is not what was registered, or another process plays the study.
            BudgetSpentError: what the study may spend on models is spent before it was done.
            InterruptedRunError: `stop` was set before it was done.
            ArenaError: as in `evaluate`.
        """
        from orchestrator.api.new_study import NewStudy, registered_folder, study_path
        from orchestrator.api.run_resources import RunResources
        from orchestrator.api.study_playing import play_study
        from orchestrator.studies.progress import read_progress

        resources = RunResources.read(
            workers=workers, spares=spares, memory=memory, strategy=strategy
        )
        at = None if out is None else Path(out)
        folder = registered_folder(Path(study), at, STUDIES)
        if folder is None:
            new = NewStudy.read(Path(study), options)
            await new.refuse_mistakes(self.atlas)
            path = study_path(new.file, at, STUDIES)
            folder = await new.register(path, self.atlas, await self._engine())
        if not register_only:
            await play_study(
                folder,
                secret_options=options or {},
                resources=resources,
                headless=headless,
                atlas=self.atlas,
                engine=await self._engine(),
                on_event=self._on_event,
                stop=stop,
            )
        return read_progress(folder.path)

    def study_status(self, study: Path | str) -> StudyProgress:
        """Read how far a study is, by its ledgers alone; it may be played meanwhile.

        Raises:
            StoreError: it is no study's folder, or a ledger cannot be read.
        """
        from orchestrator.studies.progress import read_progress

        return read_progress(Path(study))

    async def add_to_study(
        self,
        study: Path | str,
        file: Path | str | None = None,
        *,
        repeats: int | None = None,
        runs: Mapping[str, Path | str] | None = None,
        max_usd: float | None = None,
        max_tokens: int | None = None,
        options: Mapping[str, Mapping[str, object]] | None = None,
    ) -> StudyProgress:
        """Add to a registered study; what is added is told apart, and played by `run_study`.

        Args:
            study: its folder.
            file: YAML with further `agents`, `questions`, `repeats` or `budget`.
            repeats: how often each agent plays each task from now on, in all.
            runs: by the label that the agent gets, folders of runs that were played already; their
                locks must fit the study's. They are copied.
            max_usd: what the study may spend on models from now on, in all.
            max_tokens: the same in tokens.
            options: by the label of a new agent, the secrets among its options.

        Raises:
            InputError: the file is wrong, or does not fit the study.
            StoreError: the study is played now, or a run does not fit it.
            ImageError: an image is missing, or another one than the study was registered with.
        """
        from orchestrator.api.study_adding import Addition, add_to_study, refuse_misfits
        from orchestrator.studies.progress import read_progress
        from orchestrator.studies.study_folder import StudyFolder

        folder = StudyFolder.open(Path(study))
        added = Addition.read(
            None if file is None else Path(file),
            repeats=repeats,
            max_usd=max_usd,
            max_tokens=max_tokens,
            runs={label: Path(run) for label, run in (runs or {}).items()},
        )
        refuse_misfits(folder.study(), added)
        await add_to_study(
            folder,
            added,
            secret_options=options or {},
            atlas=self.atlas,
            engine=await self._engine() if added.agents else None,
        )
        return read_progress(folder.path)

    def plan_study(
        self,
        study: Path | str,
        pilots: Sequence[Path | str] = (),
        *,
        difference: float | None = None,
    ) -> StudyPlan:
        """Reckon what a study takes and can show, from past runs; nothing is started or written.

        Args:
            study: its file, or its folder.
            pilots: runs, or studies, to reckon from; those in `arena-runs` and `arena-studies`
                where none is named.
            difference: a difference of success that one wants to find: 0.1 is ten points.

        Raises:
            InputError: the file is wrong; one line with file, line and field.
            StoreError: a pilot cannot be read.
        """
        from orchestrator.api.study_planning import plan_study

        return plan_study(Path(study), [Path(one) for one in pilots], difference, RUNS, STUDIES)

    def verify_study(self, study: Path | str, published: str | None = None) -> Verification:
        """Hold a study's folder to itself: registration, locks, digests, every episode's score.

        Needs no containers, browser or keys.

        Args:
            study: its folder, or a copy of it.
            published: a digest that was published.

        Raises:
            StoreError: it is no study's folder, or its registration cannot be read.
        """
        from orchestrator.studies.study_folder import StudyFolder
        from orchestrator.studies.verifying import verify_study

        return verify_study(StudyFolder.open(Path(study)), published)

    def report_study(self, study: Path | str) -> StudyReport:
        """Analyse a study, finished or not, and write its page, figures and tables.

        Args:
            study: its folder; `report` in it is written anew.

        Returns:
            Where the page is, and what was found.

        Raises:
            StoreError: the study or a run cannot be read, or the report cannot be written.
        """
        from orchestrator.api.study_reporting import report_study
        from orchestrator.studies.study_folder import StudyFolder

        return report_study(StudyFolder.open(Path(study)))
