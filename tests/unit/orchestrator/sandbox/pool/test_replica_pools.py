"""Who gets which replica when: seats whose replicas are made and renewed as the test says."""

from __future__ import annotations

import asyncio
import random
from typing import cast

import pytest
from quick_cases import ONE_QUICK
from support.sites.made_replicas import MadeReplica, quiet

from arena_core.errors import EngineError, LeaseError, SiteError, StateError, UnhealthyError
from orchestrator.sandbox.memory import Capacity
from orchestrator.sandbox.pool.replica_pools import ExclusivePool, ReplicaLease, SharedPool
from orchestrator.sandbox.pool.slot_pool import SlotPool
from orchestrator.sandbox.reset.state import Fingerprint, TakenState

BROKE_OFF = SiteError("the episode broke off")


def fleet_of(workers: int, **sites: ExclusivePool) -> SlotPool:
    capacity = Capacity(workers=workers, spares={}, wanted_spares={}, priced=(), budget_bytes=1)
    return SlotPool(capacity, sites)


def pooled_of(leased: ReplicaLease) -> MadeReplica:
    return cast("MadeReplica", leased.pooled)


async def test_as_many_are_started_as_are_wanted_and_the_spares() -> None:
    made = [MadeReplica(f"s{n}") for n in range(5)]
    pools = ExclusivePool(made, spares=1)
    await pools.take()
    await quiet()
    assert [pooled.starts for pooled in made] == [1, 1, 0, 0, 0]
    await pools.take()
    await quiet()
    assert [pooled.starts for pooled in made] == [1, 1, 1, 0, 0]


async def test_what_is_warmed_is_ready_before_anybody_asks() -> None:
    made = [MadeReplica(f"s{n}") for n in range(3)]
    pools = ExclusivePool(made, spares=1)
    pools.warm()
    await quiet()
    assert [pooled.starts for pooled in made] == [1, 1, 1]
    one = MadeReplica("shared", [UnhealthyError("not at once")])
    shared = SharedPool(one)
    shared.warm()
    await quiet()
    assert pooled_of(await shared.take()) is one
    assert one.starts == 2
    await shared.close(keep=False)
    assert one.removed


async def test_a_spare_is_handed_out_at_once_while_the_used_one_is_renewed() -> None:
    made = [MadeReplica("a"), MadeReplica("b")]
    pools = ExclusivePool(made, spares=1)
    first = await pools.take()
    assert not first.swapped
    await quiet()
    pooled_of(first).golden.clear()
    pools.renew(first, wrote=True)
    second = await asyncio.wait_for(pools.take(), 1)
    assert (second.pooled is not first.pooled, second.swapped) == (True, True)
    pooled_of(first).golden.set()
    await quiet()
    pools.renew(second, wrote=False)
    third = await pools.take()
    assert (third.pooled is first.pooled, third.swapped) == (True, True)
    assert (made[0].renewals, made[1].renewals) == ([True], [False])


async def test_without_a_spare_the_next_waits_for_the_renewal() -> None:
    pooled = MadeReplica("a")
    pools = ExclusivePool([pooled], spares=0)
    first = await pools.take()
    pooled.golden.clear()
    pools.renew(first, wrote=True)
    waiting = asyncio.create_task(pools.take())
    await quiet()
    assert not waiting.done()
    pooled.golden.set()
    assert not (await asyncio.wait_for(waiting, 1)).swapped


async def test_those_who_wait_are_served_in_order() -> None:
    pooled = MadeReplica("a")
    pools = ExclusivePool([pooled], spares=0)
    held = await pools.take()
    served: list[int] = []

    async def wait(number: int) -> None:
        leased = await pools.take()
        served.append(number)
        pools.renew(leased, wrote=False)

    waiting = [asyncio.create_task(wait(number)) for number in range(4)]
    await quiet()
    waiting[1].cancel()
    pools.renew(held, wrote=False)
    await asyncio.wait(waiting, timeout=1)
    assert served == [0, 2, 3]


async def test_a_failure_reaches_one_waiter_and_the_next_tries_again() -> None:
    pooled = MadeReplica("a", [UnhealthyError("first"), UnhealthyError("second")])
    pools = ExclusivePool([pooled], spares=0)
    waiting = [asyncio.create_task(pools.take()) for _ in range(3)]
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert [str(one) for one in results[:2]] == ["first", "second"]
    assert isinstance(results[2], ReplicaLease)


async def test_where_another_is_on_its_way_a_failure_fails_nobody() -> None:
    bad, good = MadeReplica("bad", [UnhealthyError("no")]), MadeReplica("good")
    good.golden.clear()
    pools = ExclusivePool([bad, good], spares=1)
    waiting = asyncio.create_task(pools.take())
    await quiet()
    assert not waiting.done()
    good.golden.set()
    assert pooled_of(await asyncio.wait_for(waiting, 1)) is good


async def test_a_bug_in_the_making_is_raised_to_who_waits_and_hangs_nobody() -> None:
    pools = ExclusivePool([MadeReplica("a", [ZeroDivisionError("a bug")])], spares=0)
    with pytest.raises(ZeroDivisionError):
        await asyncio.wait_for(pools.take(), 1)


async def test_one_that_was_changed_while_it_was_ready_is_renewed_first() -> None:
    pooled = MadeReplica("a")
    pools = ExclusivePool([pooled], spares=0)
    pools.put_back(await pools.take())
    pooled.spoilt_once = "somebody wrote to it"
    await asyncio.wait_for(pools.take(), 1)
    assert pooled.renewals == [True]


async def test_a_lease_waits_no_longer_than_it_may_and_says_for_what() -> None:
    pooled = MadeReplica("shop (slot 0)")
    pooled.golden.clear()
    slot_pool = fleet_of(1, shop=ExclusivePool([pooled], spares=0))
    with pytest.raises(
        LeaseError, match=r"no slot with shop was ready within 0.05 s \(shop \(slot"
    ):
        async with slot_pool.lease(["shop"], wait_s=0.05):
            pass
    pooled.golden.set()
    async with slot_pool.lease(["shop"], wait_s=1) as slot:
        assert slot.index == 0


async def test_a_lease_that_is_held_too_long_is_cut_short_and_its_replicas_renewed() -> None:
    pooled = MadeReplica("a")
    slot_pool = fleet_of(1, shop=ExclusivePool([pooled], spares=0))
    with pytest.raises(LeaseError, match=r"with shop was held longer than 0.05 s"):
        async with slot_pool.lease(["shop"], hold_s=0.05):
            await asyncio.Event().wait()
    async with slot_pool.lease(["shop"], wait_s=1):
        assert pooled.renewals == [True]


async def test_a_deadline_of_the_episodes_own_is_not_taken_for_the_leases() -> None:
    slot_pool = fleet_of(1, shop=ExclusivePool([MadeReplica("a")], spares=0))
    with pytest.raises(TimeoutError):
        async with slot_pool.lease(["shop"], hold_s=30):
            raise TimeoutError


async def test_what_broke_off_counts_as_written_to_and_what_ended_well_as_it_says() -> None:
    shop, forum = MadeReplica("shop"), MadeReplica("forum")
    slot_pool = fleet_of(1, shop=ExclusivePool([shop], 0), forum=ExclusivePool([forum], 0))
    async with slot_pool.lease(["shop", "forum"]) as slot:
        slot.wrote("forum")
    with pytest.raises(SiteError):
        async with slot_pool.lease(["shop", "forum"]):
            raise BROKE_OFF
    await quiet()
    assert (shop.renewals, forum.renewals) == ([False, True], [True, True])


async def test_where_one_site_cannot_be_had_the_others_are_given_back_untouched() -> None:
    shop, forum = MadeReplica("shop"), MadeReplica("forum", [EngineError("no memory")])
    slot_pool = fleet_of(1, shop=ExclusivePool([shop], 0), forum=ExclusivePool([forum], 0))
    with pytest.raises(EngineError):
        async with slot_pool.lease(["shop", "forum"]):
            pass
    async with slot_pool.lease(["shop", "forum"], wait_s=1):
        assert (shop.starts, shop.renewals) == (1, [])


async def test_closing_ends_what_is_under_way_and_starts_nothing_more() -> None:
    made = [MadeReplica("a"), MadeReplica("b")]
    made[1].golden.clear()
    pools = ExclusivePool(made, spares=1)
    await pools.take()
    await quiet()
    await asyncio.wait_for(pools.close(keep=False), 1)
    assert all(pooled.removed for pooled in made)
    await quiet()
    assert [pooled.starts for pooled in made] == [1, 1]


async def test_a_removal_that_fails_keeps_no_other_from_being_removed() -> None:
    class Stuck(MadeReplica):
        async def vacate(self) -> None:
            await asyncio.sleep(0)
            message = "the engine does not answer"
            raise EngineError(message)

    shop, forum = [Stuck("shop0"), MadeReplica("shop1")], [MadeReplica("forum0")]
    slot_pool = fleet_of(1, shop=ExclusivePool(shop, 0), forum=ExclusivePool(forum, 0))
    with pytest.raises(EngineError):
        await slot_pool._close(keep=False)
    assert [pooled.removed for pooled in (*shop, *forum)] == [False, True, True]


class Players:
    """Episodes that lease several sites at random; some are cut short, some break off."""

    names = ("shop", "forum", "cms")

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.workers = self.chance.randint(1, 4)
        self.made: list[MadeReplica] = []
        self.slot_pool = fleet_of(self.workers, **{name: self._pools(name) for name in self.names})
        self.played = 0

    def _pools(self, name: str) -> ExclusivePool:
        """Make seats of a site; some fail to start at first."""
        spares = self.chance.randint(0, 2)
        failures: list[Exception] = [SiteError("bad luck")]
        made = [
            MadeReplica(f"{name}{n}", failures * self.chance.randint(0, 2))
            for n in range(self.workers + spares)
        ]
        self.made.extend(made)
        return ExclusivePool(made, spares)

    async def episode(self) -> None:
        wanted = self.chance.sample(self.names, self.chance.randint(1, 3))
        try:
            async with self.slot_pool.lease(wanted, wait_s=5) as slot:
                await self._play(
                    [cast("MadeReplica", slot._leased[name].pooled) for name in wanted]
                )
            self.played += 1
        except LeaseError:
            raise
        except SiteError:
            return

    async def _play(self, pools: list[MadeReplica]) -> None:
        for pooled in pools:
            pooled.holders += 1
            assert pooled.holders == 1
        try:
            for _ in range(self.chance.randint(0, 5)):
                await asyncio.sleep(0)
            if self.chance.random() < 0.2:
                raise BROKE_OFF
        finally:
            for pooled in pools:
                pooled.holders -= 1


@ONE_QUICK
@pytest.mark.parametrize("seed", range(20))
async def test_no_lease_ever_starves_or_meets_another_whatever_the_order(seed: int) -> None:
    players = Players(seed)
    tasks = [asyncio.create_task(players.episode()) for _ in range(40)]
    for task in tasks:
        if players.chance.random() < 0.2:
            asyncio.get_running_loop().call_later(players.chance.random() / 100, task.cancel)
    async with asyncio.timeout(10):
        await asyncio.wait(tasks)
    assert {task.exception() for task in tasks if not task.cancelled()} == {None}
    assert players.played > 0
    for pooled in players.made:
        pooled.failures.clear()
    async with asyncio.timeout(5):
        async with players.slot_pool.lease(players.names, wait_s=2) as slot:
            assert slot.index in range(players.workers)
        await players.slot_pool._close(keep=False)


def state(name: str) -> TakenState:
    return TakenState(
        site="shop", image_id="sha256:1", packed=name.encode(), fingerprint=Fingerprint()
    )


async def test_a_replica_is_brought_to_the_start_that_a_lease_asks_for() -> None:
    pooled = MadeReplica("a")
    pools = ExclusivePool([pooled], spares=0)
    one = state("one")
    leased = await pools.take(one)
    assert leased.ready.start == one
    assert not leased.swapped
    pools.renew(leased, wrote=False)
    again = await pools.take(one)
    assert again.ready.start == one
    pools.renew(again, wrote=False)
    golden = await pools.take()
    assert golden.ready.start is None
    await pools.close(keep=False)


async def test_a_replica_that_is_at_the_start_already_is_handed_out_first() -> None:
    pools = ExclusivePool([MadeReplica("a"), MadeReplica("b")], spares=0)
    one = state("one")
    first, other = await pools.take(), await pools.take()
    pools.foresee(lambda: [None, one])
    pools.renew(first, wrote=True)
    pools.renew(other, wrote=True)
    await quiet()
    there = await pools.take(one)
    assert there.pooled is other.pooled
    assert pooled_of(there).led_to == [one]


async def test_used_replicas_are_brought_to_the_starts_that_no_other_is_in() -> None:
    made = [MadeReplica("a"), MadeReplica("b"), MadeReplica("c")]
    pools = ExclusivePool(made, spares=0)
    one, two = state("one"), state("two")
    held = [await pools.take() for _ in made]
    pools.foresee(lambda: [one, None, two, one])
    for leased in held:
        pools.renew(leased, wrote=True)
    await quiet()
    assert [pooled_of(leased).led_to for leased in held] == [[one], [None], [two]]
    await pools.close(keep=False)


async def test_used_replicas_that_nobody_wants_elsewhere_go_back_to_their_own_start() -> None:
    """Branches of one checkpoint come many at a time: those that only read stay where they are."""
    pools = ExclusivePool([MadeReplica("a"), MadeReplica("b"), MadeReplica("c")], spares=0)
    one = state("one")
    golden, first, second = await pools.take(), await pools.take(one), await pools.take(one)
    pools.foresee(lambda: [one])
    for leased in (first, second, golden):
        pools.renew(leased, wrote=False)
    await quiet()
    assert [pooled_of(leased).led_to[-1] for leased in (first, second, golden)] == [one, one, None]
    await pools.close(keep=False)


async def test_a_lease_waits_for_the_replica_that_is_on_its_way_to_its_start() -> None:
    """The spare stays where the episode after the next one wants it."""
    pools = ExclusivePool([MadeReplica("a"), MadeReplica("b")], spares=1)
    one = state("one")
    first = await pools.take()
    await quiet()
    pools.foresee(lambda: [one, None])
    pools.renew(first, wrote=True)
    second = await pools.take(one)
    assert second.pooled is first.pooled
    assert not second.swapped
    assert pooled_of(second).led_to == [one]
    third = await pools.take()
    assert third.pooled is not second.pooled
    assert third.swapped
    assert pooled_of(third).led_to == []
    await pools.close(keep=False)


async def test_where_the_replica_on_its_way_fails_another_is_brought_there() -> None:
    pools = ExclusivePool([MadeReplica("a"), MadeReplica("b")], spares=1)
    one = state("one")
    first = await pools.take()
    await quiet()
    pooled_of(first).failures = [SiteError("it died")]
    pools.foresee(lambda: [one])
    pools.renew(first, wrote=True)
    second = await pools.take(one)
    assert second.pooled is not first.pooled
    assert pooled_of(second).led_to == [one]
    await pools.close(keep=False)


async def test_a_start_that_cannot_be_reached_fails_its_lease_and_no_other() -> None:
    pooled = MadeReplica("a")
    pools = ExclusivePool([pooled], spares=0)
    pools.put_back(await pools.take())
    pooled.failures = [StateError("another image")]
    with pytest.raises(StateError, match="another image"):
        await pools.take(state("one"))
    assert (await pools.take()).ready.start is None
    assert pooled.renewals == [False, True]


async def test_a_site_without_state_has_no_start() -> None:
    pools = SharedPool(MadeReplica("wiki"))
    with pytest.raises(StateError, match="site 'shop' holds no state"):
        await pools.take(state("one"))
