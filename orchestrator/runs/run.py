"""Plays every episode that is not finished yet, both worlds side by side; of one run or several."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Self

from arena_core.errors import ArenaError
from arena_core.logs import log_context, run_log
from arena_core.names import counted
from arena_core.task_group import task_group
from arena_core.worlds import World
from orchestrator.agents.interface import ChecksBeforehand
from orchestrator.agents.model_exchange import total
from orchestrator.runs.attempts import AttemptRunner, Progress, ends_the_run
from orchestrator.runs.auto_workers import AutoWorkers
from orchestrator.runs.budgets import begun_with, share_budget
from orchestrator.runs.control import takes_orders
from orchestrator.runs.events import EpisodesPlanned, OnEvent, ProgressNote
from orchestrator.runs.jobs import Job, PlayedRun
from orchestrator.runs.open_world import OpenWorld, Record, WorldSize, open_world
from orchestrator.runs.orders import Orders
from orchestrator.runs.pace import AUTO
from orchestrator.runs.request import RunRequest, remote_of, together
from orchestrator.runs.run_budget import RunBudget
from orchestrator.runs.spec import SpendingLimits
from orchestrator.runs.steering import Steering
from orchestrator.runs.store.ledger import EpisodeKey, Ledger
from orchestrator.runs.store.run_folder import RunFolder
from orchestrator.runs.worker import WorldRunner
from orchestrator.sandbox.engine.engine import Engine
from sites.registry import SiteRegistry
from sites.upstreams import LiveUpstream, Upstreams

InOrder = Callable[[Iterable[Job]], Iterable[Job]]

_LOG = logging.getLogger(__name__)


class HowEnded(StrEnum):
    """How playing ended.

    `over_budget`: nothing more may be spent, and what had not begun was left open.
    """

    DONE = "done"
    INTERRUPTED = "interrupted"
    OVER_BUDGET = "over budget"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPart:
    """One of the runs that are played side by side.

    Attributes:
        agent: what progress calls its agent; empty where it is the only run.
    """

    request: RunRequest
    folder: RunFolder
    agent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run, or several side by side that share worlds, workers and budget.

    Attributes:
        parts: each with its own folder. They ask for the same workers and resources; the first asks
            for every world that one of them is played in.
        owner: what the containers are labelled with.
        log_path: where it is logged.
        limits: what all of them may spend on models, together.
        whose: whose budget that is, for messages: the run's, or the study's.
        in_order: brings a world's episodes of all parts into the order in which they begin.
        stops_over_budget: what has not begun when the budget is spent is left open; else it ends as
            `unscored: budget`.
        record: makes what keeps what browsers get, for a tape; see `open_world`.
    """

    parts: tuple[RunPart, ...]
    owner: str
    registry: SiteRegistry
    engine: Engine
    on_event: OnEvent
    interrupted: asyncio.Event
    log_path: Path
    limits: SpendingLimits
    whose: str = "run"
    in_order: InOrder = iter
    stops_over_budget: bool = False
    record: Record | None = None

    @classmethod
    def of(
        cls,
        request: RunRequest,
        folder: RunFolder,
        *,
        owner: str,
        registry: SiteRegistry,
        engine: Engine,
        on_event: OnEvent,
        interrupted: asyncio.Event,
        record: Record | None = None,
    ) -> Self:
        """Return what plays one run alone."""
        return cls(
            parts=(RunPart(request=request, folder=folder),),
            owner=owner,
            registry=registry,
            engine=engine,
            on_event=on_event,
            interrupted=interrupted,
            log_path=folder.log_path,
            limits=request.settings.budget,
            record=record,
        )

    async def play(self) -> HowEnded:
        """Play what is not finished.

        Containers that an earlier process of it left behind are removed first.
        """
        with ExitStack() as stack:
            ledgers = [stack.enter_context(part.folder.writing()) for part in self.parts]
            for ledger in ledgers:
                ledger.gather()
            secrets = (*_secrets(self.registry), *_addresses(self.parts))
            stack.enter_context(run_log(self.log_path, secrets))
            stack.enter_context(log_context(run=self.owner))
            return await self._play_logged(self._played_runs(ledgers))

    async def _play_logged(self, runs: Sequence[PlayedRun]) -> HowEnded:
        _LOG.info("the run begins: %s", counted(_left(runs), "episode"))
        how = "cut short"
        steering = Steering(self.interrupted, runs)
        orders = Orders(steering, runs, self._note)
        try:
            async with takes_orders(self.log_path.parent, orders, self._note), self._swept():
                ended = await self._play(runs, steering)
            how = str(ended)
        except ArenaError as failure:
            how = f"broken off: {failure.message}"
            _LOG.debug("how the run broke off", exc_info=True)
            raise
        except Exception:
            how = "ended by a bug"
            _LOG.exception("a bug ended the run")
            raise
        finally:
            _LOG.info("the run ends: %s; %s left", how, counted(_left(runs), "episode"))
        return ended

    def _note(self, text: str) -> None:
        _LOG.info("%s", text)
        self.on_event(ProgressNote(text))

    async def _play(self, runs: Sequence[PlayedRun], steering: Steering) -> HowEnded:
        for run in runs:
            run.attempt_runner.recover({task.id: task for task in run.request.tasks})
        progress = runs[0].attempt_runner.progress
        progress.done = progress.total - _left(runs)
        self.on_event(EpisodesPlanned(progress.done, progress.total))
        if runs[0].attempt_runner.budget.exhausted is None:
            await _check_agents(runs)
        asked = together([part.request for part in self.parts])
        needs = await begun_with(asked, self.registry, self.engine)
        if asked.settings.workers == AUTO:
            AutoWorkers.begin(steering, runs, self._note, needs.settings.workers_at_first)
        budgets = await share_budget(needs, self.registry, self.engine)
        async with task_group() as group:
            world_runners = [
                group.create_task(self._play_world(world, runs, budgets, needs, steering))
                for world in needs.worlds
                if _left(runs, world)
            ]
        _raise_first(
            [failure for world_runner in world_runners for failure in world_runner.result()]
        )
        if not _left(runs):
            return HowEnded.DONE
        return HowEnded.OVER_BUDGET if self._is_over(runs) else HowEnded.INTERRUPTED

    @asynccontextmanager
    async def _swept(self) -> AsyncIterator[None]:
        """Remove what an earlier process left; at the end, what the engine did not let go before.

        The pools remove what they know of. An engine that stalled while it made a container may
        have finished that after all.
        """
        swept = await self.engine.sweep(self.owner)
        if swept:
            self._note(f"removed what an earlier process left: {', '.join(swept)}")
        try:
            yield
        finally:
            try:
                await self.engine.sweep(self.owner)
            except ArenaError as failure:
                todo = f"arena down --owner {self.owner}"
                self._note(f"containers may be left: {failure.message}; {todo}")

    def _played_runs(self, ledgers: Sequence[Ledger]) -> tuple[PlayedRun, ...]:
        """Return the runs with what keeps them; progress and budget are one for all."""
        spent = total(ledger.spent() for ledger in ledgers)
        budget = RunBudget(limits=self.limits, spent=spent, whose=self.whose)
        progress = Progress(total=sum(part.request.episodes for part in self.parts))
        is_alone = len(self.parts) == 1
        return tuple(
            PlayedRun(
                name=self.owner if is_alone else part.folder.path.name,
                request=part.request,
                attempt_runner=AttemptRunner(
                    folder=part.folder,
                    ledger=ledger,
                    limit=part.request.settings.attempts,
                    progress=progress,
                    on_event=self.on_event,
                    budget=budget,
                    agent=part.agent,
                    again=part.request.again,
                    watch=part.request.watch,
                ),
            )
            for part, ledger in zip(self.parts, ledgers, strict=True)
        )

    def _is_over(self, runs: Sequence[PlayedRun]) -> bool:
        """Whether the budget is spent, and what has not begun is to be left open."""
        return self.stops_over_budget and runs[0].attempt_runner.budget.exhausted is not None

    async def _play_world(
        self,
        world: World,
        runs: Sequence[PlayedRun],
        budgets: Mapping[World, int | None],
        needs: RunRequest,
        steering: Steering,
    ) -> tuple[Exception, ...]:
        """Play a world's episodes; its failure is returned, so that the other world goes on."""
        try:
            with log_context(world=world):
                async with self._open(world, budgets.get(world), needs) as opened:
                    world_runner = WorldRunner(
                        world=opened,
                        workers=min(needs.settings.workers_at_first, _left(runs, world)),
                        on_event=self.on_event,
                        interrupted=self.interrupted,
                        is_over=lambda: self._is_over(runs),
                        steering=steering,
                    )
                    pending = chain.from_iterable([_pending(run, world) for run in runs])
                    return await world_runner.play(self.in_order(pending))
        except ArenaError as failure:
            if ends_the_run(failure):
                raise
            return (failure,)

    @asynccontextmanager
    async def _open(
        self, world: World, memory_bytes: int | None, needs: RunRequest
    ) -> AsyncIterator[OpenWorld]:
        """Open a world for the episodes of all parts."""
        size = WorldSize(
            workers=needs.workers_in(world),
            spares=needs.spares_in(world),
            memory_bytes=memory_bytes,
            strategy=needs.settings.strategy,
        )
        upstreams = needs.upstreams(self.registry, world)
        folders = [part.folder for part in self.parts]
        async with open_world(
            self.engine,
            self.registry,
            upstreams,
            self.owner,
            size=size,
            on_event=self.on_event,
            resolves=needs.settings.resolves,
            tapes=needs.settings.tapes,
            browser=needs.browser,
            record=self.record,
            asked=await asyncio.to_thread(asked_before, upstreams, folders),
        ) as opened:
            yield opened


def asked_before(upstreams: Upstreams, folders: Iterable[RunFolder]) -> Mapping[str, int]:
    """Return how many requests live hosts with a quota got from runs until now, by host."""
    found = [one.live for one in upstreams.by_site.values() if isinstance(one, LiveUpstream)]
    limited = {live.host for live in found if live.quota is not None}
    asked = Counter[str]()
    for used in (used for one in folders for used in one.host_uses()) if limited else ():
        if used.host in limited:
            asked[used.host] += used.requests
    return asked


def _left(runs: Iterable[PlayedRun], *worlds: World) -> int:
    """Return how many episodes are not finished yet, of some worlds or of all."""
    return sum(
        run.request.episodes_in(world) - run.attempt_runner.ledger.count_finished(world)
        for run in runs
        for world in worlds or run.request.worlds
    )


def _finished(run: PlayedRun, world: World) -> frozenset[EpisodeKey]:
    finished = (attempt.key for attempt in run.attempt_runner.ledger.finished())
    return frozenset(key for key in finished if key.world is world)


def _pending(run: PlayedRun, world: World) -> Iterator[Job]:
    """Yield the episodes of a world that are not finished as this begins."""
    finished = _finished(run, world)
    return (Job(run, key) for key in run.request.keys_in(world) if key not in finished)


async def _check_agents(runs: Sequence[PlayedRun]) -> None:
    """Let each agent with something left to play find out whether it could, once."""
    waiting = {
        run.request.agent_lock.model_dump_json(): run.request.agent
        for run in runs
        if any(next(_pending(run, world), None) for world in run.request.worlds)
    }
    for agent in waiting.values():
        if isinstance(agent, ChecksBeforehand):
            await agent.check()


def _secrets(registry: SiteRegistry) -> tuple[str, ...]:
    """Return the passwords of the sites' accounts."""
    sites = registry.sites.values()
    roles = [role for site in sites for role in site.roles.values()]
    roles += [role for site in sites if site.live for role in site.live.roles.values()]
    known = (role.from_environment(os.environ) for role in roles)
    return tuple(role.password for role in known if role is not None)


def _addresses(parts: Iterable[RunPart]) -> Iterator[str]:
    """Yield the secret parts of the addresses of browsers that were running before."""
    for part in parts:
        entry = part.request.settings.browser
        address = None if entry is None else remote_of(entry)
        if address is not None:
            yield from address.secrets


def _raise_first(failures: Sequence[Exception]) -> None:
    """Raise what ended a worker; a bug first, so that it is never hidden behind a fault."""
    bugs = [failure for failure in failures if not isinstance(failure, ArenaError)]
    for failure in (*bugs, *failures):
        raise failure
