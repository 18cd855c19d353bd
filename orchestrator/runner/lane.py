"""One world's trials, played one after the other on a stage that is mended between them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

from evaluators.changes import Change, IgnoredChanges
from evaluators.evidence import UnscoredReason
from orchestrator.browser.launch import Browser, BrowserOptions, launch
from orchestrator.episode.performance import perform
from orchestrator.episode.recorder import Recorder
from orchestrator.episode.stage import Part, Stage
from orchestrator.fleet.pool import Fleet
from orchestrator.fleet.slot import Slot
from orchestrator.gateway.addresses import Resolve
from orchestrator.runner.accounts import LiveAccounts
from orchestrator.runner.attempts import Bookkeeper
from orchestrator.runner.request import RunRequest, replicas_of
from orchestrator.store.trials import Trial
from sites.atlas import Atlas
from sites.errors import DatabaseError
from sites.worlds import World
from tasks.schema import Task


class NoReplicas:
    """Stands where an episode has no replicas: it knows no account and answers no query."""

    async def query(self, site: str, sql: str) -> tuple[tuple[object, ...], ...]:  # noqa: ARG002
        """Refuse: a live site's database is out of reach.

        Raises:
            DatabaseError: always.
        """
        raise _out_of_reach(site)

    async def changes(self, site: str, ignored: IgnoredChanges) -> tuple[Change, ...]:  # noqa: ARG002
        """Refuse: what changed on a live site is out of reach.

        Raises:
            DatabaseError: always.
        """
        raise _out_of_reach(site)


class BrowserKeeper:
    """Keeps one browser running; a crashed one is replaced before the next episode."""

    def __init__(self, options: BrowserOptions) -> None:
        self._options = options
        self._browser: Browser | None = None
        self._running = AsyncExitStack()

    async def browser(self) -> Browser:
        """Return a browser that answers."""
        if self._browser is None or not self._browser.is_alive:
            await self.close()
            self._browser = await self._running.enter_async_context(launch(self._options))
        return self._browser

    async def close(self) -> None:
        """End the browser; safe to repeat."""
        self._browser = None
        await self._running.aclose()


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """The trials of one world and everything they are played with.

    Attributes:
        fleet: the replicas of this world; None where every site is visited live.
        live: logins at live origins; None offline.
    """

    world: World
    request: RunRequest
    atlas: Atlas
    browsers: BrowserKeeper
    fleet: Fleet | None
    live: LiveAccounts | None
    resolves: tuple[Resolve, ...]
    staged: tuple[str, ...]
    bookkeeper: Bookkeeper
    interrupted: asyncio.Event

    async def play(self, trials: Sequence[Trial]) -> None:
        """Play trials in order until they are done or the user interrupts."""
        tasks = {task.id: task for task in self.request.tasks}
        for trial in trials:
            if self.interrupted.is_set():
                return
            await self._trial(trial, tasks[trial.task])

    async def _trial(self, trial: Trial, task: Task) -> None:
        async def attempt(number: int) -> Recorder:
            part = Part(
                suite=self.request.suite.suite,
                task=task,
                repeat=trial.repeat,
                attempt=number,
                agent=self.request.agent,
                screenshots=self.request.screenshots,
            )
            return await self._attempt(part, task)

        await self.bookkeeper.play(trial, task, attempt)

    async def _attempt(self, part: Part, task: Task) -> Recorder:
        async with self._lease(replicas_of(task, self.atlas, self.world)) as slot:
            stage = Stage(
                atlas=self.atlas,
                world=self.world,
                browser=await self.browsers.browser(),
                replicas=slot.replicas if slot else {},
                accounts=self._accounts(slot),
                database=slot or NoReplicas(),
                resolves=self.resolves,
                staged=tuple(name for name in task.sites if name in self.staged),
                interrupted=self.interrupted,
            )
            recorder = Recorder(part, stage, slot.receipts if slot else ())
            await perform(recorder)
            if slot is not None:
                await _account_for(slot, recorder)
            return recorder

    @asynccontextmanager
    async def _lease(self, sites: Sequence[str]) -> AsyncIterator[Slot | None]:
        if self.fleet is None or not sites:
            yield None
            return
        async with self.fleet.lease(sites) as slot:
            yield slot

    def _accounts(self, slot: Slot | None) -> LiveAccounts | Slot:
        if self.live is not None:
            return replace(self.live, replicas=slot)
        return slot or LiveAccounts(atlas=self.atlas)


def _out_of_reach(site: str) -> DatabaseError:
    message = f"site '{site}' is visited live: its database is out of reach"
    return DatabaseError(message, hint="limit the check to `worlds: [offline]`")


async def _account_for(slot: Slot, recorder: Recorder) -> None:
    """Tell the slot what was written to; a container that died makes the attempt `infra`."""
    for site in recorder.wrote & set(slot.replicas):
        slot.wrote(site)
    lost = await slot.lost()
    if lost is not None:
        recorder.fault(UnscoredReason.INFRA, lost)
