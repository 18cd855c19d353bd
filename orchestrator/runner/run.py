"""Runs every trial that is not finished yet, both worlds side by side."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from orchestrator.browser.launch import BrowserOptions
from orchestrator.engine.engine import Engine
from orchestrator.fleet.events import FleetEvent, Phase
from orchestrator.fleet.pool import Fleet
from orchestrator.gateway.addresses import Resolve
from orchestrator.runner.accounts import LiveAccounts
from orchestrator.runner.attempts import Bookkeeper, ends_the_run
from orchestrator.runner.budgets import share_budget
from orchestrator.runner.events import Noted, OnEvent
from orchestrator.runner.lane import Lane
from orchestrator.runner.request import RunRequest
from orchestrator.staged.origins import StagedOrigins, staged_origins
from orchestrator.store.ledger import Ledger
from orchestrator.store.run_folder import RunFolder
from orchestrator.store.trials import Trial
from orchestrator.together import together
from sites.atlas import Atlas
from sites.errors import ArenaError
from sites.worlds import World

_TROUBLE = frozenset({Phase.LOST, Phase.FAILED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run: what is asked, with what, and where it is written."""

    request: RunRequest
    folder: RunFolder
    owner: str
    atlas: Atlas
    engine: Engine
    on_event: OnEvent
    interrupted: asyncio.Event

    async def play(self) -> bool:
        """Play what is not finished; True where every trial is finished now.

        Containers that an earlier process of this run left behind are removed first.
        """
        with self.folder.writing() as ledger:
            async with self._swept():
                return await self._play(ledger)

    async def _play(self, ledger: Ledger) -> bool:
        bookkeeper = self._bookkeeper(ledger)
        bookkeeper.recover({task.id: task for task in self.request.tasks})
        pending = self._pending(ledger)
        bookkeeper.done = bookkeeper.total - len(pending)
        budgets = await share_budget(self.request, self.atlas, self.engine)
        async with together() as group:
            lanes = [
                group.create_task(self._play_world(world, trials, budgets, bookkeeper))
                for world in self.request.worlds
                if (trials := [trial for trial in pending if trial.world is world])
            ]
        _raise_first([failure for lane in lanes for failure in lane.result()])
        return not self._pending(ledger)

    @asynccontextmanager
    async def _swept(self) -> AsyncIterator[None]:
        """Remove what an earlier process left; at the end, what the engine did not let go before.

        The fleets remove what they know of. An engine that stalled while it made a container may
        have finished that after all.
        """
        swept = await self.engine.sweep(self.owner)
        if swept:
            self.on_event(Noted(f"removed what an earlier process left: {', '.join(swept)}"))
        try:
            yield
        finally:
            try:
                await self.engine.sweep(self.owner)
            except ArenaError as failure:
                todo = f"arena down --owner {self.owner}"
                self.on_event(Noted(f"containers may be left: {failure.message}; {todo}"))

    def _bookkeeper(self, ledger: Ledger) -> Bookkeeper:
        return Bookkeeper(
            folder=self.folder,
            ledger=ledger,
            limit=self.request.attempts,
            total=len(self.request.trials()),
            on_event=self.on_event,
        )

    def _pending(self, ledger: Ledger) -> list[Trial]:
        finished = {attempt.trial for attempt in ledger.finished()}
        return [trial for trial in self.request.trials() if trial not in finished]

    async def _play_world(
        self,
        world: World,
        trials: list[Trial],
        budgets: Mapping[World, int | None],
        bookkeeper: Bookkeeper,
    ) -> tuple[Exception, ...]:
        """Play a world's trials; its failure is returned, so that the other world goes on.

        Raises:
            ModelError: the model refuses for good; that ends the other world too.
        """
        try:
            async with self._lane(world, budgets.get(world), bookkeeper) as lane:
                return await lane.play(trials)
        except ArenaError as failure:
            if ends_the_run(failure):
                raise
            return (failure,)

    @asynccontextmanager
    async def _lane(
        self, world: World, memory_bytes: int | None, bookkeeper: Bookkeeper
    ) -> AsyncIterator[Lane]:
        """Prepare a world: replicas and staged origins are started at the same time."""
        async with AsyncExitStack() as stack:
            fleet, staged = await self._start(world, memory_bytes, stack)
            resolves = (*self.request.resolves, *(staged.resolves if staged else ()))
            yield Lane(
                world=world,
                request=self.request,
                atlas=self.atlas,
                browser=BrowserOptions(
                    headless=self.request.headless, trusted_spki=staged.spki if staged else None
                ),
                fleet=fleet,
                live=self._live_accounts(world, resolves, staged),
                resolves=resolves,
                staged=staged.names if staged else (),
                bookkeeper=bookkeeper,
                interrupted=self.interrupted,
            )

    async def _start(
        self, world: World, memory_bytes: int | None, stack: AsyncExitStack
    ) -> tuple[Fleet | None, StagedOrigins | None]:
        replicas = self.request.sites_with_replicas(self.atlas, world)
        live = self.request.sites_visited_live(self.atlas)
        fleet = staged = None
        if replicas:
            self.on_event(Noted(f"{world}: starting {', '.join(replicas)}"))
            fleet = await stack.enter_async_context(
                Fleet.open(
                    self.engine,
                    self.atlas,
                    replicas,
                    self.owner,
                    workers=self.request.workers_in(world),
                    spares=self.request.spares_in(world),
                    memory_bytes=memory_bytes,
                    strategy=self.request.strategy,
                    on_event=lambda event: self._hear(world, event),
                )
            )
            self.on_event(Noted(f"{world}: {fleet.capacity.summary()}"))
            if self.engine.not_shut:
                why = f"containers could open connections: {self.engine.not_shut}"
                self.on_event(Noted(f"{world}: {why}; see arena doctor"))
            fleet.warm()
        if world is World.ONLINE and self.request.staged and live:
            self.on_event(Noted(f"{world}: starting staged live origins of {', '.join(live)}"))
            staged = await stack.enter_async_context(
                staged_origins(self.engine, self.atlas, live, self.owner)
            )
        return fleet, staged

    def _hear(self, world: World, event: FleetEvent) -> None:
        """Pass on what went wrong with a replica; what goes well is in the receipts."""
        if event.phase in _TROUBLE:
            self.on_event(Noted(f"{world}: {event.replica} {event.phase}: {event.detail}"))

    def _live_accounts(
        self, world: World, resolves: tuple[Resolve, ...], staged: StagedOrigins | None
    ) -> LiveAccounts | None:
        if world is not World.ONLINE:
            return None
        return LiveAccounts(
            atlas=self.atlas, resolves=resolves, ca_file=staged.ca_file if staged else None
        )


def _raise_first(failures: Sequence[Exception]) -> None:
    """Raise what ended a worker; a bug first, so that it is never hidden behind a fault."""
    bugs = [failure for failure in failures if not isinstance(failure, ArenaError)]
    for failure in (*bugs, *failures):
        raise failure
