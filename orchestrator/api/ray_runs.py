"""`arena.ray`: runs on the nodes of a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from orchestrator.api.opened import OpenArena
from orchestrator.api.runs import ROLLOUTS, Runs

if TYPE_CHECKING:
    from orchestrator.analysis.run_report.run_report import RunReport
    from orchestrator.analysis.studies.progress import StudyProgress
    from orchestrator.runs.spec import Asked, Pace, RunSpec


class RayRuns:
    """Runs on the nodes of a Ray cluster, cut into shards and merged here."""

    def __init__(self, opened: OpenArena, runs: Runs) -> None:
        self._opened, self._runs = opened, runs

    async def run(
        self,
        spec: RunSpec,
        *,
        address: str = "auto",
        shards: int | None = None,
        allow: Iterable[str] = (),
        environment: Iterable[str] = (),
        send: bool = False,
        out: Path | str | None = None,
        yes: bool = False,
    ) -> RunReport:
        """Play a run on the nodes of a Ray cluster; what `arena eval --ray` does.

        Each shard is played by a node's own Arena, engine and browser, a lost node's elsewhere.
        Until all are merged, those that came lie in `OUT.shards`, and `resume` plays the rest.

        Args:
            spec: what is played.
            address: `auto`, `HOST:PORT`, or `ray://HOST:PORT`.
            shards: how many; where omitted, four for each slot that the nodes declare.
            allow: in what nodes may differ, as in `Arena.merge`.
            environment: variables that nodes get from here; they get a model's key and URL anyway.
            send: Ray sends the working folder to the nodes, for suites and agents of your own.
            out: folder of the run; a new one in `arena-runs` where omitted.
            yes: as in `Arena.run`.

        Raises:
            PrerequisiteError: the extra `ray` is not installed, no cluster answers, or none of its
                nodes declares `arena-slots`.
            UsageError: arguments contradict each other, or a secret would be written down.
            WorkerProcessError: nodes were lost again and again.
            ArenaError: a shard failed; the message names its node.
        """
        from orchestrator.api.ray_driver import RayTerms, begin_on_ray

        terms = RayTerms(address, tuple(allow), tuple(environment), send=send, yes=yes)
        folder = None if out is None else Path(out)
        return await begin_on_ray(self._opened, spec, terms, out=folder, shards=shards)

    async def sample(
        self,
        agent: str,
        patterns: Sequence[str] = (),
        *,
        rollouts: int = ROLLOUTS,
        measured: Iterable[Path | str] = (),
        bands: Sequence[str] = (),
        split: Path | str | None = None,
        address: str = "auto",
        shards: int | None = None,
        allow: Iterable[str] = (),
        environment: Iterable[str] = (),
        send: bool = False,
        out: Path | str | None = None,
        yes: bool = False,
        **asked: Unpack[Asked],
    ) -> RunReport:
        """Play each task several times on a Ray cluster, into a run to make training data of.

        Args:
            agent: its name, or an import path.
            patterns: as in `Runs.sample`, and so the next four.
            rollouts: how often each task is played.
            measured: earlier runs that say how hard tasks are.
            bands: names of those to sample.
            split: a split file.
            address: as in `run`, and so whatever follows, up to `yes`.
            shards: how many.
            allow: in what nodes may differ.
            environment: variables that nodes get from here.
            send: Ray sends the working folder.
            out: folder of the run.
            yes: it is played however large it is.
            asked: as in `Arena.run`.

        Raises:
            ArenaError: as `Runs.plan_sample` and `run`.
        """
        from orchestrator.api.ray_driver import RayTerms, begin_on_ray
        from orchestrator.export.training.bands import BANDS_FILE, write_bands
        from orchestrator.export.training.sampling import heated
        from orchestrator.runs.spec import RunSpec

        spec = RunSpec.of(**{"screenshots": False} | asked, agent=agent, repeats=rollouts)
        options = heated(agent, spec.options, self._opened.warn)
        planned = self._runs.plan_sample(
            patterns,
            suite=spec.suite,
            worlds=spec.worlds,
            measured=measured,
            bands=bands,
            split=split,
        )
        chosen = {"tasks": planned.chosen} | ({"options": options} if options else {})
        terms = RayTerms(address, tuple(allow), tuple(environment), send=send, yes=yes)
        folder = None if out is None else Path(out)

        def on_cut(shards_at: Path) -> None:
            if planned.runs:
                write_bands(planned.tasks, planned.runs, shards_at / BANDS_FILE)

        spec = spec.model_copy(update=chosen)
        return await begin_on_ray(
            self._opened, spec, terms, out=folder, shards=shards, on_cut=on_cut
        )

    async def study(
        self,
        study: Path | str,
        *,
        address: str = "auto",
        shards: int | None = None,
        allow: Iterable[str] = (),
        environment: Iterable[str] = (),
        send: bool = False,
        out: Path | str | None = None,
        options: Mapping[str, Mapping[str, object]] | None = None,
        **pace: Unpack[Pace],
    ) -> StudyProgress:
        """Play a study on a Ray cluster, or continue one; what `arena study run --ray` does.

        Each node registers and plays its shards; merged, they are the study. Until all have come,
        they lie in `OUT.shards`, and the same call plays the rest, on this cluster or another.

        Args:
            study: its file, which each node has at the same path.
            address: as in `run`, and so whatever follows, up to `send`.
            shards: how many.
            allow: in what nodes may differ.
            environment: variables that nodes get from here.
            send: Ray sends the working folder.
            out: folder of the study; one of its name in `arena-studies` where omitted.
            options: by agent's label, the secrets among its options, which are written nowhere.
            pace: `workers`, `spares`, `memory` or `strategy` of each shard.

        Returns:
            How far it is: done.

        Raises:
            UsageError: the study has a budget, which no shard could hold to.
            StoreError: the file was changed since its first shards were played.
            ArenaError: as in `run`, and `Studies.run`.
        """
        from orchestrator.api.ray_driver import RayTerms
        from orchestrator.api.ray_studies import play_study_on_ray

        terms = RayTerms(address, tuple(allow), tuple(environment), send=send, yes=True)
        folder = None if out is None else Path(out)
        return await play_study_on_ray(
            self._opened,
            Path(study),
            terms,
            out=folder,
            shards=shards,
            options=options or {},
            pace=pace,
        )

    async def resume(
        self,
        out: Path | str,
        *,
        address: str = "auto",
        allow: Iterable[str] = (),
        environment: Iterable[str] = (),
        send: bool = False,
        options: Mapping[str, object] | None = None,
        yes: bool = False,
    ) -> RunReport:
        """Play what is not here yet of a run, on the same cluster or another, and merge it.

        Args:
            out: as it was given to `run`.
            address: as in `run`.
            allow: as in `run`.
            environment: as in `run`.
            send: as in `run`.
            options: of the agent, those whose values are not written down: its secrets.
            yes: as in `run`.

        Raises:
            StoreError: no such run was begun.
            ArenaError: as in `run`.
        """
        from orchestrator.api.ray_driver import RayTerms, resume_on_ray

        terms = RayTerms(address, tuple(allow), tuple(environment), send=send, yes=yes)
        return await resume_on_ray(self._opened, Path(out), terms, options or {})
