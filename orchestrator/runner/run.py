"""Runs every trial that is not finished yet, both worlds side by side."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from arena_core.errors import ArenaError
from arena_core.task_group import task_group
from arena_core.worlds import World
from orchestrator.engine.engine import Engine
from orchestrator.logs.context import log_context
from orchestrator.logs.writing import run_log
from orchestrator.runner.attempts import TrialRunner, ends_the_run
from orchestrator.runner.budgets import share_budget
from orchestrator.runner.events import EpisodesPlanned, OnEvent, ProgressNote
from orchestrator.runner.open_world import WorldSize, open_world
from orchestrator.runner.request import RunRequest
from orchestrator.runner.run_budget import RunBudget
from orchestrator.runner.world_runner import WorldRunner
from orchestrator.store.ledger import Ledger
from orchestrator.store.run_folder import RunFolder
from orchestrator.store.trials import Trial
from sites.atlas import Atlas

_LOG = logging.getLogger(__name__)


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
        with (
            self.folder.writing() as ledger,
            run_log(self.folder.log_path, _secrets(self.atlas)),
            log_context(run=self.owner),
        ):
            return await self._play_logged(ledger)

    async def _play_logged(self, ledger: Ledger) -> bool:
        _LOG.info("the run begins: %d episodes", len(self._pending(ledger)))
        how = "cut short"
        try:
            async with self._swept():
                is_done = await self._play(ledger)
            how = "done" if is_done else "interrupted"
        except ArenaError as failure:
            how = f"broken off: {failure.message}"
            _LOG.debug("how the run broke off", exc_info=True)
            raise
        except Exception:
            how = "ended by a bug"
            _LOG.exception("a bug ended the run")
            raise
        finally:
            _LOG.info("the run ends: %s; %d episodes left", how, len(self._pending(ledger)))
        return is_done

    def _note(self, text: str) -> None:
        _LOG.info("%s", text)
        self.on_event(ProgressNote(text))

    async def _play(self, ledger: Ledger) -> bool:
        trial_runner = self._trial_runner(ledger)
        trial_runner.recover({task.id: task for task in self.request.tasks})
        pending = self._pending(ledger)
        trial_runner.done = trial_runner.total - len(pending)
        self.on_event(EpisodesPlanned(trial_runner.done, trial_runner.total))
        budgets = await share_budget(self.request, self.atlas, self.engine)
        async with task_group() as group:
            world_runners = [
                group.create_task(self._play_world(world, trials, budgets, trial_runner))
                for world in self.request.worlds
                if (trials := [trial for trial in pending if trial.world is world])
            ]
        _raise_first(
            [failure for world_runner in world_runners for failure in world_runner.result()]
        )
        return not self._pending(ledger)

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

    def _trial_runner(self, ledger: Ledger) -> TrialRunner:
        return TrialRunner(
            folder=self.folder,
            ledger=ledger,
            limit=self.request.attempts,
            total=len(self.request.trials()),
            on_event=self.on_event,
            budget=RunBudget(limits=self.request.limits, spent=ledger.spent()),
        )

    def _pending(self, ledger: Ledger) -> list[Trial]:
        finished = {attempt.trial for attempt in ledger.finished()}
        return [trial for trial in self.request.trials() if trial not in finished]

    async def _play_world(
        self,
        world: World,
        trials: list[Trial],
        budgets: Mapping[World, int | None],
        trial_runner: TrialRunner,
    ) -> tuple[Exception, ...]:
        """Play a world's trials; its failure is returned, so that the other world goes on.

        Raises:
            ModelError: the model refuses for good; that ends the other world too.
        """
        try:
            with log_context(world=world):
                memory = budgets.get(world)
                async with self._world_runner(world, memory, trial_runner) as world_runner:
                    return await world_runner.play(trials)
        except ArenaError as failure:
            if ends_the_run(failure):
                raise
            return (failure,)

    @asynccontextmanager
    async def _world_runner(
        self, world: World, memory_bytes: int | None, trial_runner: TrialRunner
    ) -> AsyncIterator[WorldRunner]:
        """Open a world for its trials."""
        request = self.request
        size = WorldSize(
            workers=request.workers_in(world),
            spares=request.spares_in(world),
            memory_bytes=memory_bytes,
            strategy=request.strategy,
        )
        async with open_world(
            self.engine,
            self.atlas,
            request.upstreams(self.atlas, world),
            self.owner,
            size=size,
            on_event=self.on_event,
            resolves=request.resolves,
            browser=request.browser,
        ) as opened:
            yield WorldRunner(
                world=opened,
                request=request,
                trial_runner=trial_runner,
                interrupted=self.interrupted,
            )


def _secrets(atlas: Atlas) -> tuple[str, ...]:
    """Return the passwords of the sites' accounts."""
    return tuple(role.password for site in atlas.sites.values() for role in site.roles.values())


def _raise_first(failures: Sequence[Exception]) -> None:
    """Raise what ended a worker; a bug first, so that it is never hidden behind a fault."""
    bugs = [failure for failure in failures if not isinstance(failure, ArenaError)]
    for failure in (*bugs, *failures):
        raise failure
