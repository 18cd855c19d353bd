"""`arena.studies`: register, play, look, add, plan, and hold to what was registered."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from orchestrator.api.opened import OpenArena

if TYPE_CHECKING:
    from orchestrator.analysis.studies.planning import StudyPlan
    from orchestrator.analysis.studies.progress import StudyProgress
    from orchestrator.analysis.studies.verification import Verification
    from orchestrator.analysis.study_report.leaderboard import Leaderboard
    from orchestrator.analysis.study_report.reporting import StudyReport
    from orchestrator.runs.spec import Pace


class Studies:
    """Plays studies, and reads those that were played."""

    def __init__(self, opened: OpenArena) -> None:
        self._opened = opened

    async def run(
        self,
        study: Path | str,
        *,
        out: Path | str | None = None,
        options: Mapping[str, Mapping[str, object]] | None = None,
        headless: bool = True,
        register_only: bool = False,
        shard: str | None = None,
        stop: asyncio.Event | None = None,
        **changes: Unpack[Pace],
    ) -> StudyProgress:
        """Register a study and play it, or go on with one; what `arena study run` does.

        The episodes of all agents, suites and worlds take turns in a seeded order. Whatever ends
        the call, nothing that finished is played again.

        Args:
            study: its file, or its folder.
            out: its folder; one of its name in `arena-studies` where omitted.
            options: by agent's label, the secrets among its options: they stand in no file.
            headless: as in `Arena.run`.
            register_only: write it down and play nothing yet.
            shard: `I/N`: only this share of its trials is played; `merge` puts all N together.
            stop: as in `Arena.run`.
            changes: `workers`, `spares`, `memory` or `strategy` in place of what the study says.

        Returns:
            How far it is.

        Raises:
            InputError: the file is wrong; one line with file, line and field.
            StoreError: the file is not what was registered, or another process plays the study.
            UsageError: the folder holds another share of the study.
            BudgetSpentError: what the study may spend on models is spent before it was done.
            InterruptedRunError: `stop` was set before it was done.
            ArenaError: as in `Arena.run`.
        """
        from orchestrator.analysis.studies.new_study import NewStudy, registered_folder, study_path
        from orchestrator.analysis.studies.progress import read_progress
        from orchestrator.api.playing import STUDIES, play_study
        from orchestrator.api.suites import refuse_faulty
        from orchestrator.runs.shard import Shard
        from orchestrator.runs.spec import RunSettings

        RunSettings.of(**changes)  # refused before anything is read
        share = None if shard is None else Shard.parse(shard)
        opened, at = self._opened, None if out is None else Path(out)
        folder = registered_folder(Path(study), at, STUDIES, share)
        if folder is None:
            new = NewStudy.read(Path(study), options)
            for suite in new.suites:
                if suite.source is not None:
                    await refuse_faulty(suite.named, suite.source, suite.tasks, opened.registry)
            new = new.on_tapes(opened.registry)
            new.refuse_without_effect(opened.registry)
            new = new if share is None else new.in_shard(share)
            path = study_path(new.file, at, STUDIES, share)
            folder = await new.register(path, opened.registry, await opened.engine())
        if not register_only:
            await play_study(
                folder,
                secret_options=options or {},
                changes=changes,
                headless=headless,
                opened=opened,
                stop=stop,
            )
        return read_progress(folder.path)

    def status(self, study: Path | str) -> StudyProgress:
        """Read how far a study is, by its ledgers alone; it may be played meanwhile.

        Raises:
            StoreError: it is no study's folder, or a ledger cannot be read.
        """
        from orchestrator.analysis.studies.progress import read_progress

        return read_progress(Path(study))

    def merge(
        self, studies: Iterable[Path | str], into: Path | str, *, allow: Iterable[str] = ()
    ) -> StudyProgress:
        """Make one study of all shards that `run` played by `shard="I/N"`; as `arena merge` does.

        Args:
            studies: the folders of all shards, in any order.
            into: the folder of the whole study, which is not there yet.
            allow: in what their machines may differ, as in `Arena.merge`.

        Raises:
            UsageError: they are not all shards of one study, each once.
            StoreError: they were not registered alike, or a shard is not finished, was changed, or
                differs in what is not allowed. Nothing is at `into` then.
        """
        from orchestrator.analysis.studies.merging import merge_study
        from orchestrator.analysis.studies.progress import read_progress

        return read_progress(merge_study(map(Path, studies), Path(into), allow).path)

    async def add(
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
        """Add to a registered study; what is added is told apart, and played by `run`.

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
        from orchestrator.analysis.studies.adding import Addition, add_to_study, refuse_misfits
        from orchestrator.analysis.studies.progress import read_progress
        from orchestrator.analysis.studies.registration import StudyFolder

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
            registry=self._opened.registry,
            engine=await self._opened.engine() if added.agents else None,
        )
        return read_progress(folder.path)

    def plan(
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
        from orchestrator.analysis.studies.planning import plan_study
        from orchestrator.api.playing import RUNS, STUDIES

        return plan_study(
            Path(study),
            [Path(one) for one in pilots],
            difference,
            registry=self._opened.registry,
            runs=RUNS,
            studies=STUDIES,
        )

    def verify(
        self, study: Path | str, *, registered: str | None = None, head: str | None = None
    ) -> Verification:
        """Hold a study's folder to itself: registration, seals, ledgers, every score, the report.

        Needs no containers, browser or keys.

        Args:
            study: its folder, or a copy of it.
            registered: the digest of the registration that was published.
            head: the digest of a seal that was published.

        Raises:
            StoreError: it is no study's folder, or its registration cannot be read.
        """
        from orchestrator.analysis.studies.registration import StudyFolder
        from orchestrator.analysis.studies.verification import Published, verify_study
        from orchestrator.analysis.study_report.reporting import write_report

        folder = StudyFolder.open(Path(study))
        return verify_study(
            folder,
            Published(registered=registered, head=head),
            remake=partial(write_report, folder),
        )

    def report(self, study: Path | str) -> StudyReport:
        """Analyse a study, finished or not, and write its page, figures and tables.

        Args:
            study: its folder; `report` in it is written anew.

        Returns:
            Where the page is, and what was found.

        Raises:
            StoreError: the study or a run cannot be read, or the report cannot be written.
        """
        from orchestrator.analysis.studies.registration import StudyFolder
        from orchestrator.analysis.study_report.reporting import report_study

        return report_study(StudyFolder.open(Path(study)))

    def leaderboard(self, studies: Sequence[Path | str], out: Path | str) -> Leaderboard:
        """Write a static page of studies that verify, with the evidence of each row beside it.

        Agents share a table where suite, tasks and images were the same; what differs stands in a
        table of its own.

        Args:
            studies: their folders; nothing is written unless each verifies.
            out: a folder for the page alone; what an earlier leaderboard wrote there is replaced.

        Raises:
            VerificationError: a folder does not verify; names all that do not.
            UsageError: a study is named twice, or `out` holds other files.
            StoreError: the page cannot be written.
        """
        from orchestrator.analysis.study_report.leaderboard import write_leaderboard

        return write_leaderboard([Path(one) for one in studies], Path(out))
