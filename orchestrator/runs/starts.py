"""The states that episodes begin in: what a task's `given` leads to, made once and then kept."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from arena_core.errors import GivenError, ImageError, StateError
from arena_core.task_group import task_group
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.pool.slot import Slot
from orchestrator.sandbox.pool.slot_pool import SlotPool
from orchestrator.sandbox.reset.state import TakenState
from orchestrator.sandbox.setup_steps import set_up
from orchestrator.sandbox.states import derived_states
from sites.manifest import Site
from sites.registry import SiteRegistry
from tasks.given import DoAs, SetClock, Step, digest_of
from tasks.schema import Task

_LOG = logging.getLogger(__name__)
_DERIVING_S: Final = 600.0


class PlaySetup(Protocol):
    """Does the actions of a step in a browser, as the role that it names."""

    def __call__(self, task: Task, site: str, step: DoAs, slot: Slot) -> Awaitable[None]:
        """Do them on a leased replica. Raises GivenError where they cannot be done."""


_Key = tuple[str, str]  # the site, and the digest of its steps


@dataclass(frozen=True, slots=True)
class Starts:
    """What all episodes of one world begin in.

    Attributes:
        slot_pool: whose replicas are set up, golden ones.
        made: called with each start that is made, and why.
    """

    engine: Engine
    registry: SiteRegistry
    slot_pool: SlotPool
    made: Callable[[str], None]
    _known: dict[_Key, TakenState] = field(default_factory=dict)
    _unproven: set[_Key] = field(default_factory=set)
    _one_at_a_time: defaultdict[_Key, asyncio.Lock] = field(
        default_factory=lambda: defaultdict(asyncio.Lock)
    )

    def known(self, task: Task) -> Mapping[str, TakenState | None]:
        """Return what each of a task's sites begins in, as far as it was made; None is golden."""
        return {
            site: self._known.get((site, digest_of(task.given[site])))
            if site in task.given
            else None
            for site in task.sites
        }

    async def of(self, task: Task, play: PlaySetup) -> Mapping[str, TakenState]:
        """Return the states that a task's sites begin in; those that are golden have none.

        One that nobody made yet is made on a golden replica.

        Raises:
            GivenError: a step cannot be done, or all of them change nothing.
            SiteError: the replica failed meanwhile.
        """
        async with task_group() as group:
            works = {
                site: group.create_task(self._of(task, site, play)) for site in sorted(task.given)
            }
        return {site: work.result() for site, work in works.items()}

    async def keep_proven(self, task: Task) -> None:
        """Keep a task's starts for later runs; a replica was proven to be in each of them."""
        for site, steps in task.given.items():
            key = site, digest_of(steps)
            if key in self._unproven:
                self._unproven.discard(key)
                await asyncio.to_thread(derived_states.keep, self._known[key], key[1])

    async def _of(self, task: Task, site: str, play: PlaySetup) -> TakenState:
        steps = task.given[site]
        key = site, digest_of(steps)
        async with self._one_at_a_time[key]:
            if key not in self._known:
                image_id = await self._image_of(self.registry.sites[site])
                kept = await asyncio.to_thread(derived_states.find, site, image_id, key[1])
                self._known[key] = kept or await self.derive(task, site, play)
                if kept is None:
                    self._unproven.add(key)
            return self._known[key]

    async def derive(self, task: Task, site: str, play: PlaySetup) -> TakenState:
        """Do a task's steps for one site on a golden replica, and take what came of it.

        Raises:
            GivenError: a step cannot be done, or all of them change nothing.
            SiteError: the replica failed meanwhile.
        """
        self.made(f"setting up {site} for '{task.id}'")
        async with self.slot_pool.lease([site], hold_s=_DERIVING_S) as slot:
            slot.wrote(site)
            replica = slot.replicas[site]
            steps = task.given[site]
            if replica.supervisor is None:
                message = f"site '{site}': it holds no state that a task can set up"
                raise GivenError(message, hint="its manifest has no `state`")
            for step in steps:
                if not isinstance(step, SetClock):
                    await self._do(task, site, step, slot, play)
            try:
                taken = await slot.take_state(site)
            except StateError as cause:
                raise GivenError(f"what '{task.id}' sets up: {cause.message}") from cause
            moments = [step.clock for step in steps if isinstance(step, SetClock)]
            if moments and taken.clock is None:
                raise GivenError(f"site '{site}' has the machine's clock, which cannot be set")
            if not moments and taken.fingerprint.own_digest == replica.golden:
                message = (
                    f"site '{site}': what '{task.id}' sets up changes nothing of its fingerprint"
                )
                raise GivenError(message, hint="its manifest's `fingerprint` says what that reads")
            return taken.at(moments[-1]) if moments else taken

    async def _do(self, task: Task, site: str, step: Step, slot: Slot, play: PlaySetup) -> None:
        if isinstance(step, DoAs):
            await play(task, site, step, slot)
        elif not isinstance(step, SetClock):
            await set_up(self.engine, slot.replicas[site], step)

    async def _image_of(self, site: Site) -> str:
        image = await self.engine.image(site.image.tag)
        if image is None:
            raise ImageError(f"site '{site.name}': there is no image {site.image.tag}")
        return image.id
