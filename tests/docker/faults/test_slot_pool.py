"""Faults while replicas are swapped: what is handed out is golden, and nothing takes for ever."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import pytest
from mutations.golden import Golden
from mutations.shop import CUSTOMER, place_order
from mutations.subject import Accounts, Subject
from mutations.tables import used_ids
from quick_cases import SLOW, quick_first
from sabotage.engine_cli import containers_of, docker
from sabotage.inside import Part, signal_inside
from sabotage.relay import Relay

from arena_core.errors import EngineError
from evaluators.evidence import Receipt
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.pool.pool_context import Phase, PoolEvent
from orchestrator.sandbox.pool.replica_pools import ExclusivePool
from orchestrator.sandbox.pool.slot_pool import SlotPool
from orchestrator.sandbox.reset.replica import Replica
from sites.registry import SiteRegistry

pytestmark = pytest.mark.docker

USR1: Final = r"^POST \S+/kill\?signal=USR1"
START: Final = r"^POST \S+/containers/\S+/start"
BOUND_S: Final = 60.0


@dataclass(slots=True)
class Episodes:
    """A fleet of one worker and one spare, and episodes that order something."""

    engine: Engine
    slot_pool: SlotPool
    golden: Golden
    accounts: Accounts
    events: list[PoolEvent]
    heard: asyncio.Event = field(default_factory=asyncio.Event)

    def hear(self, event: PoolEvent) -> None:
        self.events.append(event)
        self.heard.set()

    def subject(self, replica: Replica) -> Subject:
        return Subject(self.engine, replica, self.accounts)

    @property
    def next_one(self) -> Replica:
        """The replica that is handed out next."""
        pools = self.slot_pool._pools["shop"]
        assert isinstance(pools, ExclusivePool)
        return pools._ready[0][1].replica

    async def play(self) -> tuple[str, Receipt]:
        """Take a replica, require that it is like a fresh one, spoil it; return which it was."""
        async with asyncio.timeout(BOUND_S), self.slot_pool.lease(["shop"]) as slot:
            subject = self.subject(slot.replicas["shop"])
            await self.golden.holds(subject)
            await subject.http(CUSTOMER, lambda visitor: place_order(visitor, 54))
            slot.wrote("shop")
            [receipt] = slot.receipts
            assert receipt.proven
            return subject.replica.container.id, receipt

    async def until(self, phase: Phase, count: int = 1) -> None:
        """Wait until something was told so often since the last time that anybody waited."""
        async with asyncio.timeout(BOUND_S):
            while sum(event.phase is phase for event in self.events) < count:
                self.heard.clear()
                await self.heard.wait()
        self.events.clear()


@pytest.fixture
async def episodes(
    engine: Engine, registry: SiteRegistry, owner: str, golden: Golden, accounts: Accounts
) -> AsyncIterator[Episodes]:
    told: list[PoolEvent] = []
    hear: list[Callable[[PoolEvent], None]] = [told.append]
    async with SlotPool.open(
        engine,
        registry,
        ["shop"],
        owner,
        workers=1,
        spares=1,
        strategy="swap",
        on_event=lambda event: hear[0](event),  # noqa: PLW0108  it changes
    ) as slot_pool:
        ready = Episodes(engine, slot_pool, golden, accounts, told)
        hear[0] = ready.hear
        await slot_pool.up()
        told.clear()
        yield ready


async def kill(episodes: Episodes, replica: Replica) -> None:
    docker("kill", replica.container.id)


async def pause(episodes: Episodes, replica: Replica) -> None:
    docker("pause", replica.container.id)


async def change_by_hand(episodes: Episodes, replica: Replica) -> None:
    await used_ids(episodes.subject(replica))


async def kill_its_database(episodes: Episodes, replica: Replica) -> None:
    signal_inside(replica.container.id, Part.DATABASE, "SIGKILL")


@pytest.mark.parametrize(
    "harm",
    quick_first(
        [
            kill,
            pause,
            change_by_hand,
            kill_its_database,
        ]
    ),
    ids=lambda harm: harm.__name__,
)
async def test_a_spare_that_was_harmed_is_not_handed_out(
    episodes: Episodes, harm: Callable[[Episodes, Replica], Awaitable[None]]
) -> None:
    harmed = episodes.next_one
    await harm(episodes, harmed)
    first, receipt = await episodes.play()
    assert first != harmed.container.id
    assert not receipt.swapped  # it had to be looked for: no switch at once
    for _ in range(2):
        await episodes.play()


@SLOW
async def test_a_spare_that_is_just_being_rewound_is_handed_out_golden(episodes: Episodes) -> None:
    docker("kill", "--signal", "USR1", episodes.next_one.container.id)
    for _ in range(2):
        await episodes.play()


@SLOW
async def test_a_used_replica_that_dies_while_it_is_renewed_is_replaced_behind_the_next_episode(
    episodes: Episodes, relay: Relay, owner: str
) -> None:
    died: list[str] = []

    def die() -> None:
        docker("kill", died[0])

    relay.on(USR1, before=die)
    died.append(episodes.next_one.container.id)
    used, _ = await episodes.play()
    assert used == died[0]
    other, receipt = await episodes.play()
    assert (other != used, receipt.swapped) == (True, True)
    await episodes.until(Phase.GOLDEN, 2)
    receipts = dict([await episodes.play(), await episodes.play()])
    assert used not in receipts
    [receipt] = [one for name, one in receipts.items() if name != other]
    assert receipt.strategy == "recreate"
    assert any(fallback.startswith("rewind: ") for fallback in receipt.fallbacks)


@SLOW
async def test_an_engine_that_pauses_delays_what_is_renewed_and_not_what_is_ready(
    episodes: Episodes, relay: Relay
) -> None:
    relay.on(USR1, before=partial(relay.freeze_for, 3.0))
    used, _ = await episodes.play()
    [spare] = [episodes.next_one.container.id]
    async with asyncio.timeout(2.5), episodes.slot_pool.lease(["shop"]) as slot:
        assert slot.replicas["shop"].container.id == spare != used
    relay.thaw()
    await episodes.play()
    await episodes.play()


@SLOW
async def test_an_engine_that_restarts_in_a_renewal_costs_time_and_no_exactness(
    episodes: Episodes, relay: Relay
) -> None:
    """Its connections break and it starts nothing for a while; containers go on meanwhile."""
    relay.on(USR1, before=relay.cut)
    refused = relay.refuse(START, times=2)
    used, _ = await episodes.play()
    await asyncio.to_thread(refused.wait, BOUND_S)
    later = [await episodes.play() for _ in range(3)]
    assert used not in [container_id for container_id, _ in later]


@SLOW
async def test_a_removal_that_the_engine_refuses_keeps_no_other_from_being_removed(
    engine: Engine, episodes: Episodes, relay: Relay, owner: str
) -> None:
    there = containers_of(owner)
    assert len(there) == 2
    relay.refuse(rf"^DELETE \S+/containers/{there[1]}")
    with pytest.raises(EngineError, match="the Docker engine refused"):
        await engine.sweep(owner)
    assert containers_of(owner) == there[1:]
