"""Looks at what the end checks find: at the end of an episode, or in its middle.

A look in the middle is not evidence, and the agent, its pages and the sites must not notice it. So
pages are read in a browser context of their own, with a copy of the cookies. Some applications
write when they are only read: the snapshot says what the replicas' counters saw move meanwhile.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Protocol

from arena_core.worlds import World
from evaluators.checks import Look
from evaluators.evidence import EpisodeFault, Located, UnscoredReason
from orchestrator.browser.session.context import SessionOptions
from orchestrator.episode.barred import note_barred, pages_per_minute
from orchestrator.episode.environment import EpisodeBrowser, EpisodeEnvironment, EpisodeSession
from orchestrator.episode.faults import dropped_login
from orchestrator.episode.record import EpisodeRecord
from orchestrator.episode.steps import StepPlayer
from orchestrator.episode.traffic import refuse_broken, with_unseen
from orchestrator.sandbox.reset.watch import Mark
from tasks.schema import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeSnapshot:
    """What one look showed.

    Attributes:
        step: the action that had not been done yet, from 1.
        located: what the task's end checks found.
        moved: by site, what the look itself moved; empty where it left no trace.
    """

    step: int
    located: tuple[Located, ...]
    asked: tuple[Located, ...] = ()
    moved: Mapping[str, str]


class ProofHook(Protocol):
    """Decides when to look, and receives what was seen."""

    def wants(self, task: Task, world: World, step: int) -> Sequence[Look] | None:
        """Return what to look for beside the end checks before an action; None for no look."""

    def saw(self, task: Task, world: World, snapshot: EpisodeSnapshot) -> None:
        """Take what was seen; a later attempt at the same task is received again."""


@asynccontextmanager
async def side_context(
    browser: EpisodeBrowser, options: SessionOptions, session: EpisodeSession
) -> AsyncIterator[EpisodeSession]:
    """Open a context beside the agent's, logged in as that is now."""
    cookies = await session.cookies()
    apart = {login: await session.cookies(login) for login in options.apart}
    async with browser.session(replace(options, cookies=cookies, apart=apart)) as beside:
        yield beside


async def look_beside(
    environment: EpisodeEnvironment, player: StepPlayer, step: int, asked: Sequence[Look]
) -> EpisodeSnapshot:
    """Look what a task's end checks would find now, and what is asked for beside them."""
    journal, session = player.resources.journal, player.resources.session
    before = await environment.database.marks()
    mark = journal.mark()
    async with side_context(environment.browser, player.resources.options, session) as beside:
        locators = player.locators.through(beside)
        located = await locators.at_end(player.looks)
        found = await locators.at_end(asked)
    refuse_broken(journal.since(mark))
    moved = moved_between(before, await environment.database.marks())
    return EpisodeSnapshot(step=step, located=located, asked=found, moved=moved)


def moved_between(before: Mapping[str, Mark], after: Mapping[str, Mark]) -> dict[str, str]:
    """Say by site what moved from one moment to another; sites that stood still are left out."""
    moved = {name: mark.moved_since(before[name]) for name, mark in after.items() if name in before}
    return {name: what for name, what in moved.items() if what is not None}


async def look_at_end(task: Task, record: EpisodeRecord, player: StepPlayer | None) -> None:
    """Write down what the end checks find; that the world did not hold, as a fault.

    Where the episode broke off or never started there is nothing to look at.
    """
    environment = record.environment
    if player is not None:
        await record.keep_traces(
            player.resources.session
        )  # pages that checks open are not the agent's
    if player is not None and record.fault is None:
        network = await player.resources.session.network()
        if network is not None:
            exchanges = player.resources.journal.since(0)
            logical = environment.registry.logical
            record.network = with_unseen(network, record.steps, exchanges, logical)
        paces = pages_per_minute(record)  # checks load pages too
        browsing, last = player.resources, max(0, len(record.steps) - 1)
        record.note_misses(last, browsing.journal, is_led=not environment.is_shared)
        record.located = await player.locators.at_end(player.looks)
        record.break_off_at_limit()
        record.note_misses(last, browsing.journal, is_check=True)
        dropped = None
        if not record.changed_cookies:
            dropped = await dropped_login(task, environment, browsing.journal, browsing.session)
        if dropped is not None:
            record.break_off(EpisodeFault(reason=UnscoredReason.INFRA, message=dropped))
        if record.fault is None:
            await note_barred(task, record, player, paces)
    if record.fault is None:
        lost = await environment.lease.lost()
        if lost is not None:
            record.break_off(EpisodeFault(reason=UnscoredReason.INFRA, message=lost))
