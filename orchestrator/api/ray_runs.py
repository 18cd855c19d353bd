"""`arena.ray`: runs on the nodes of a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.api.opened import OpenArena

if TYPE_CHECKING:
    from orchestrator.analysis.run_report.run_report import RunReport
    from orchestrator.runs.spec import RunSpec


class RayRuns:
    """Runs on the nodes of a Ray cluster, cut into shards and merged here."""

    def __init__(self, opened: OpenArena) -> None:
        self._opened = opened

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
        return await begin_on_ray(self._opened, spec, terms, folder, shards)

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
