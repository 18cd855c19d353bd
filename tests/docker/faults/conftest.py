"""Replicas of the shop to break, and what must hold after each test: golden, and nothing left."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack

import pytest
from mutations.golden import Golden, golden_of
from mutations.shop import CUSTOMER, place_order
from mutations.subject import Accounts, Subject
from sabotage.engine_cli import networks, remove_all
from sabotage.relay import Relay

from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.pool.placement import place
from orchestrator.sandbox.reset.replica import Replica, start_replica
from orchestrator.sandbox.reset.watch import Watch
from sites.manifest import Site
from sites.registry import SiteRegistry, load_registry

OWNER = f"test-faults-{os.getpid()}"

Prove = Callable[[Replica], Awaitable[None]]


@pytest.fixture(scope="session")
def shop() -> Site:
    return load_registry().site("shop")


@pytest.fixture(scope="session")
def accounts() -> Accounts:
    return Accounts()


@pytest.fixture(scope="session")
def golden(shop: Site, accounts: Accounts) -> Golden:
    """What a fresh shop is like, read in another way than Arena does."""

    async def look() -> Golden:
        async with await Engine.connect() as engine:
            return await golden_of(engine, shop, OWNER, accounts)

    return asyncio.run(look())


@pytest.fixture
def owner(golden: Golden) -> Iterator[str]:
    """The owner of what a test starts; at the end nothing may be left of it."""
    before = networks()
    yield OWNER
    left = remove_all(OWNER)
    assert left == []
    assert networks() <= before


@pytest.fixture
def relay(owner: str) -> Iterator[Relay]:
    """A socket in front of the engine's, which everything that connects from now on uses."""
    with Relay() as between, pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOCKER_HOST", between.url)
        yield between


@pytest.fixture
async def engine(relay: Relay) -> AsyncIterator[Engine]:
    """The engine, through the relay."""
    async with await Engine.connect() as connected:
        yield connected


@pytest.fixture
def registry(shop: Site) -> SiteRegistry:
    return SiteRegistry({shop.name: shop})


@pytest.fixture
async def watch(engine: Engine, shop: Site, owner: str) -> AsyncIterator[Watch]:
    """Eyes on a replica that was proven golden; what takes its place is the test's to remove."""
    async with AsyncExitStack() as stack:
        placement = await place(engine, shop, owner=owner, slot=0)
        replica = await start_replica(engine, placement)
        stack.push_async_callback(engine.remove, replica.container.id)
        watched = Watch.over(engine, replica, new=True)
        stack.push_async_callback(watched.close)
        assert (await watched.prove()).digest == replica.golden
        yield watched


@pytest.fixture
def spoil(engine: Engine, accounts: Accounts) -> Prove:
    """Place an order, so that a replica is no longer golden."""

    async def order(replica: Replica) -> None:
        subject = Subject(engine, replica, accounts)
        await subject.http(CUSTOMER, lambda visitor: place_order(visitor, 54))

    return order


@pytest.fixture
def require_golden(engine: Engine, golden: Golden, accounts: Accounts) -> Prove:
    """Check that a replica is like a fresh one: all its rows, definitions and files, and pages."""

    async def check(replica: Replica) -> None:
        await golden.holds(Subject(engine, replica, accounts))

    return check
