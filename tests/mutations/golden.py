"""What a fresh container of a site is like: what every replica must be like after a reset."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random

from mutations.catalogue import MUTATIONS
from mutations.mutation import draw, make_all
from mutations.shop import CUSTOMER, FIRST_ORDER, PRODUCTS, place_order
from mutations.subject import Accounts, Subject
from mutations.tables import used_ids
from mutations.witness import parted, witness

from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.pool.placement import place
from orchestrator.sandbox.reset.replica import Replica, start_replica
from sites.manifest import Site

_ORDERS = 0.2
_MOST = 4


@dataclass(frozen=True, slots=True)
class Golden:
    """A fresh container's state and the ids it gives next.

    Attributes:
        facts: what the witness saw of it.
        ids: table and id of the rows that were inserted next.
    """

    facts: frozenset[str]
    ids: tuple[str, ...]

    async def holds(self, subject: Subject) -> None:
        """Check that a replica is golden, as the witness sees it."""
        found = await witness(subject)
        assert found == self.facts, parted(found, self.facts)

    async def spoil(self, subject: Subject, dice: Random) -> tuple[str, ...]:
        """Make random mutations, after rows whose ids must be those of a fresh container.

        Returns one line for each mutation.
        """
        ids = await used_ids(subject)
        assert ids == self.ids, f"next ids {ids}, of a fresh container {self.ids}"
        said = [f"ids {', '.join(line.replace(chr(9), ' ') for line in ids)}"]
        if subject.site == "shop" and dice.random() < _ORDERS:
            product = dice.choice(PRODUCTS)
            order = await subject.http(CUSTOMER, lambda visitor: place_order(visitor, product))
            assert order == FIRST_ORDER, f"order {order}, of a fresh container {FIRST_ORDER}"
            said.append(f"order {order}")
        drawn = draw(MUTATIONS[subject.site], dice, most=_MOST)
        return (*said, *await make_all(drawn, subject, dice))


@asynccontextmanager
async def started(engine: Engine, site: Site, owner: str) -> AsyncIterator[Replica]:
    """Start a replica of a site; at the end, remove it."""
    replica = await start_replica(engine, await place(engine, site, owner=owner, slot=0))
    try:
        yield replica
    finally:
        await engine.remove(replica.container.id)


async def golden_of(engine: Engine, site: Site, owner: str, accounts: Accounts) -> Golden:
    """Look at a fresh container, and use its next ids up."""
    async with started(engine, site, owner) as replica:
        subject = Subject(engine, replica, accounts)
        facts = await witness(subject)
        return Golden(facts=facts, ids=await used_ids(subject))
