"""300 rounds of random mutations, each followed by a reset that must lead to golden.

Golden is judged by the tests themselves: see `mutations.golden`.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from urllib.parse import urljoin, urlsplit

import pytest
from mutations.golden import Golden, golden_of, started
from mutations.shop import CUSTOMER, PRODUCTS, product_page
from mutations.subject import Accounts, Subject
from mutations.visitor import Visitor
from mutations.witness import witness
from support.sites.kiosk_site import OWNER

from arena_core.errors import ResetError
from evaluators.evidence import Verification
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.pool.slot_pool import SlotPool
from orchestrator.sandbox.reset.fingerprint import take_fingerprint
from orchestrator.sandbox.reset.ladder import LADDER, Reset, reset_replica, strategies_for
from orchestrator.sandbox.reset.watch import Watch
from sites.manifest import Site
from sites.registry import SiteRegistry

pytestmark = [pytest.mark.docker, pytest.mark.slow(minutes=4)]

# In all 300; what costs a new container is rarer, and the kiosk's is quicker than the others'.
LANES = 2
REWINDS = {"shop": 55, "forum": 22, "cms": 18}  # in each lane
SWAPS = {"shop": 36, "forum": 12, "cms": 12}
READS = 30
RECREATED = {"kiosk": 26, "shop": 10, "forum": 7, "cms": 7}

_REFUSALS = 0.15


@dataclass(slots=True)
class Lane:
    """One replica that is spoilt and reset again and again."""

    engine: Engine
    golden: Golden
    accounts: Accounts
    dice: Random
    watch: Watch

    @property
    def subject(self) -> Subject:
        """The replica as it is now."""
        return Subject(self.engine, self.watch.replica, self.accounts)

    async def play(self, rounds: int, strategy: str) -> None:
        """Spoil and reset, and check golden each time."""
        for number in range(rounds):
            with in_round(number, strategy) as said:
                said.extend(await self.golden.spoil(self.subject, self.dice))
                if self.dice.random() < _REFUSALS:
                    await self._refused()
                done = await self._reset(strategy)
                assert done.receipt.strategy == strategy, done.receipt
                assert done.receipt.proven, done.receipt
                await self.golden.holds(self.subject)

    async def _refused(self) -> None:
        """`clean` never calls a spoilt replica clean, also where nobody says that it was written.

        The replica stays as it is, for another strategy.
        """
        before = self.watch.replica.container.id
        with pytest.raises(ResetError, match="not clean"):
            await reset_replica(
                self.engine, self.watch, strategies=strategies_for("clean"), wrote=False
            )
        assert await self.engine.container(before) is not None

    async def _reset(self, strategy: str) -> Reset:
        """Reset by one strategy: alone, or as the first that applies after `clean` has refused."""
        if strategy == LADDER[1].name and self.dice.random() < _REFUSALS:
            done = await reset_replica(self.engine, self.watch, wrote=False)
            assert done.receipt.fallbacks, done.receipt
        else:
            strategies = strategies_for(strategy)
            done = await reset_replica(self.engine, self.watch, strategies=strategies, wrote=True)
        self.watch = done.watch
        return done


@contextmanager
def in_round(number: int, strategy: str) -> Iterator[list[str]]:
    """Where the block fails, add to the error what had been done."""
    said: list[str] = []
    try:
        yield said
    except BaseException as error:
        error.add_note("\n".join((f"in round {number}, {strategy}, after:", *said)))
        raise


@asynccontextmanager
async def lane_of(
    engine: Engine, site: Site, golden: Golden, accounts: Accounts, dice: Random
) -> AsyncIterator[Lane]:
    """Start a replica to be spoilt and reset."""
    async with started(engine, site, OWNER) as replica:
        lane = Lane(engine, golden, accounts, dice, Watch.over(engine, replica, new=True))
        try:
            yield lane
        finally:
            await lane.watch.close()


@pytest.mark.parametrize("name", sorted(RECREATED))
async def test_recreated_replicas_are_golden_and_their_ids_go_on_as_in_a_fresh_one(
    engine: Engine, sites: SiteRegistry, accounts: Accounts, dice: Random, name: str
) -> None:
    site = sites.site(name)
    golden = await golden_of(engine, site, OWNER, accounts)
    async with lane_of(engine, site, golden, accounts, dice) as lane:
        await lane.play(RECREATED[name], "recreate")


@pytest.mark.parametrize("name", sorted(REWINDS))
async def test_rewound_replicas_are_golden_and_their_ids_go_on_as_in_a_fresh_one(
    engine: Engine, sites: SiteRegistry, accounts: Accounts, dice: Random, name: str
) -> None:
    site = sites.site(name)
    golden = await golden_of(engine, site, OWNER, accounts)
    async with AsyncExitStack() as stack, asyncio.TaskGroup() as lanes:
        for _ in range(LANES):
            own = Random(dice.random())
            lane = await stack.enter_async_context(lane_of(engine, site, golden, accounts, own))
            lanes.create_task(lane.play(REWINDS[name], "rewind"))


@pytest.mark.parametrize("name", sorted(SWAPS))
async def test_what_a_pool_swaps_in_is_golden_and_its_ids_go_on_as_in_a_fresh_one(
    engine: Engine, sites: SiteRegistry, accounts: Accounts, dice: Random, name: str
) -> None:
    site = sites.site(name)
    golden = await golden_of(engine, site, OWNER, accounts)
    used: list[str] = []
    swapped: list[bool] = []
    async with SlotPool.open(
        engine, sites, [name], OWNER, workers=1, spares=1, strategy="swap"
    ) as slot_pool:
        await slot_pool.up()  # both, so that the second lease finds one ready
        for number in range(SWAPS[name]):
            with in_round(number, "swap") as said:
                async with slot_pool.lease([name]) as slot:
                    subject = Subject(engine, slot.replicas[name], accounts)
                    await golden.holds(subject)
                    used.append(subject.replica.container.id)
                    swapped.append(slot.receipts[0].swapped)
                    said.extend(await golden.spoil(subject, dice))
                    slot.wrote(name)
    others = [before != after for before, after in pairwise(used)]
    assert not swapped[0]
    assert swapped[1]
    assert all(other or not swap for other, swap in zip(others, swapped[1:], strict=True))


def read_pages(visitor: Visitor, dice: Random) -> None:
    """Look around without writing anything."""
    paths = ("/", "/catalogue/", "/search/?q=kettle", "/basket/", "/accounts/profile/", "/offers/")
    for path in (*dice.sample(paths, k=2), product_page(dice.choice(PRODUCTS))):
        visitor.open(path)


async def test_a_shop_that_was_only_read_is_clean_each_time_and_stays_golden(
    engine: Engine, sites: SiteRegistry, accounts: Accounts, dice: Random
) -> None:
    site = sites.site("shop")
    golden = await golden_of(engine, site, OWNER, accounts)
    async with started(engine, site, OWNER) as replica:
        watch = Watch.over(engine, replica, new=True)
        subject = Subject(engine, replica, accounts)
        await watch.prove()
        for _ in range(READS):
            await subject.http(CUSTOMER, lambda visitor: read_pages(visitor, dice))
            done = await reset_replica(
                engine, watch, strategies=strategies_for("clean"), wrote=False
            )
            assert (done.receipt.strategy, done.receipt.proof) == ("clean", Verification.COUNTERS)
            assert done.replica.container.id == replica.container.id
        await watch.close()
        await golden.holds(subject)


async def test_an_encyclopedia_that_is_read_stays_golden(
    engine: Engine, sites: SiteRegistry, accounts: Accounts, dice: Random
) -> None:
    async with started(engine, sites.site("wiki"), OWNER) as replica:
        subject = Subject(engine, replica, accounts)
        facts = await witness(subject)
        await subject.http(None, lambda visitor: wander(visitor, dice))
        assert await witness(subject) == facts
        state = await take_fingerprint(engine, replica.site, replica.container)
        assert state.digest == replica.golden


def wander(visitor: Visitor, dice: Random) -> None:
    """Follow random links from article to article, and search for each."""
    main_page = path = "/wiki/A/Main_Page"
    for _ in range(READS):
        page = visitor.open(path)
        links = [urljoin(page.url, link) for link in re.findall(r'href="([^"#:?]+)"', page.text)]
        paths = [urlsplit(link).path for link in links]
        articles = [one for one in paths if re.fullmatch(r"/wiki/(A/)?[^/.]+", one)]
        path = dice.choice(articles or [main_page])
        visitor.open(f"/search?content=wiki&pattern={path.rpartition('/')[2]}")
