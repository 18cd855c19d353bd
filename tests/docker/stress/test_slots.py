"""Eight slots of one fleet write at once for a minute; none ever sees what another wrote."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from random import Random
from typing import Final

import pytest
from mutations.catalogue import MUTATIONS
from mutations.marks import Mark, Sighting, look
from mutations.mutation import draw, make_all
from mutations.subject import Accounts, Subject
from support.sites.kiosk_site import OWNER

from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.pool.slot import Slot
from orchestrator.sandbox.pool.slot_pool import SlotPool
from sites.registry import SiteRegistry

pytestmark = [pytest.mark.docker, pytest.mark.slow(minutes=4)]

WORKERS: Final = 8
SECONDS: Final = 60.0
# Of each worker, however slow the machine is: what it wrote before must be gone.
LEAST_LEASES: Final = 3


@dataclass(slots=True)
class Minute:
    """What eight workers do until the time is up.

    Attributes:
        leases: how many each worker had.
        replicas: the containers that were handed out, and to whom.
    """

    engine: Engine
    slot_pool: SlotPool
    accounts: Accounts
    ends: float
    leases: dict[int, int] = field(default_factory=dict)
    replicas: dict[str, set[int]] = field(default_factory=dict)

    async def work(self, worker: int, dice: Random) -> None:
        """Lease, look, write, look again; until the time is up, and more than once."""
        self.leases[worker] = 0
        while time.monotonic() < self.ends or self.leases[worker] < LEAST_LEASES:
            mark = Mark(worker, self.leases[worker])
            async with self.slot_pool.lease(["shop"]) as slot:
                await self._use(slot, mark, dice)
            self.leases[worker] += 1

    async def _use(self, slot: Slot, mark: Mark, dice: Random) -> None:
        subject = Subject(self.engine, slot.replicas["shop"], self.accounts)
        self.replicas.setdefault(subject.replica.container.id, set()).add(mark.slot)
        assert all(receipt.proven for receipt in slot.receipts)
        assert await look(subject) == Sighting.of(), f"before {mark} was written"
        slot.wrote("shop")
        await mark.leave(subject)
        assert await look(subject) == Sighting.of(mark)
        # What the marks cannot show: a definition that changed, a table that is gone.
        await make_all(draw(MUTATIONS["shop"], dice, most=2), subject, dice)


async def test_no_slot_sees_anothers_marks_nor_its_own_from_before_a_reset(
    engine: Engine, sites: SiteRegistry, accounts: Accounts, dice: Random
) -> None:
    async with SlotPool.open(engine, sites, ["shop"], OWNER, workers=WORKERS) as slot_pool:
        await slot_pool.up()
        minute = Minute(engine, slot_pool, accounts, ends=time.monotonic() + SECONDS)
        async with asyncio.TaskGroup() as workers:
            for worker in range(WORKERS):
                own = Random(dice.random())
                workers.create_task(minute.work(worker, own))
    assert len(minute.leases) == WORKERS
    # Replicas went from worker to worker, so a mark that survived would have been seen.
    assert max(len(users) for users in minute.replicas.values()) > 1
