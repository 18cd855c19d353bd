"""How long each way back to golden takes, beside plain Docker with the same image and options.

Before every reset a product is renamed and one more change is made (an order, a review or a
picture); the first page after it is right when it shows the product's golden title. All ways take
turns, so that a busy moment of the machine hits each of them.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from bench.figures import Figure, Series, at_most, beside, times_as_long, times_faster
from bench.plain_docker import plain_container
from bench.shop_life import ShopLife, first_page, gateway_to

from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.pool.placement import place
from orchestrator.sandbox.reset.fingerprint import take_fingerprint
from orchestrator.sandbox.reset.ladder import reset_replica, strategies_for
from orchestrator.sandbox.reset.replica import start_replica
from orchestrator.sandbox.reset.watch import Watch

_WATCHED: Final = ("clean", "rewind", "recreate")
_PLAIN_SLOT: Final = len(_WATCHED)


@dataclass(slots=True)
class StrategyTimes:
    """One replica for each strategy, and a container that plain Docker renews.

    Attributes:
        ms: what was measured, in milliseconds.
    """

    engine: Engine
    life: ShopLife
    owner: str
    watches: dict[str, Watch]
    ms: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    @asynccontextmanager
    async def open(cls, engine: Engine, life: ShopLife, owner: str) -> AsyncIterator[StrategyTimes]:
        """Start the replicas; at the end, remove them."""
        watches = {}
        for slot, strategy in enumerate(_WATCHED):
            placement = await place(engine, life.site, owner=owner, slot=slot)
            watches[strategy] = Watch.over(engine, await start_replica(engine, placement), new=True)
        try:
            yield cls(engine, life, owner, watches)
        finally:
            for watch in watches.values():
                await watch.close()
                await engine.remove(watch.replica.container.id)

    async def play(self, rounds: int) -> None:
        """Measure each way once a round; the first round does not count."""
        placement = await place(self.engine, self.life.site, owner=self.owner, slot=_PLAIN_SLOT)
        with plain_container(placement) as plain:
            for number in range(rounds + 1):
                self.ms["plain"].append(await plain.renew(self.life))
                await self._rewind_and_prove()
                await self._rewind()
                await self._recreate()
                await self._clean()
                if number == 0:
                    self.ms.clear()

    def figures(self) -> list[Figure]:
        """Return what was measured, beside plain Docker."""
        found = {what: Series(values) for what, values in self.ms.items()}
        plain = found["plain"]
        return [
            times_faster(
                "rewind to first right page, ms (reference: docker rm -f, run, health)",
                *(found["rewind, page"], plain, 4),
            ),
            times_faster("the same with its proof", found["rewind, proof, page"], plain, 4),
            beside("the rewind alone", found["rewind"], plain),
            at_most("clean, ms (reference: its goal)", found["clean"], 20),
            at_most(
                "fingerprint when nothing changed, ms (reference: its goal)",
                *(found["unchanged"], 60),
            ),
            at_most("fingerprint in full, ms (reference: its goal)", found["fingerprint"], 300),
            times_as_long(
                "recreate, ms (reference: docker rm -f, run, health)",
                *(found["recreate"], plain, 1.15),
            ),
        ]

    async def _rewind_and_prove(self) -> None:
        """As a fleet does it."""
        watch = self.watches["rewind"]
        async with gateway_to(self.life.site, watch.replica.endpoint) as gateway:
            await self.life.change(watch.replica.endpoint)
            began = time.perf_counter()
            done = await reset_replica(self.engine, watch, strategies=strategies_for("rewind"))
            await first_page(gateway, self.life)
            self._note("rewind, proof, page", began)
        assert done.receipt.strategy == "rewind", done.receipt
        self.watches["rewind"] = done.watch

    async def _rewind(self) -> None:
        """The strategy itself and the page; then what the proof takes."""
        (strategy,) = (one for one in strategies_for("auto") if one.name == "rewind")
        watch = self.watches["rewind"]
        async with gateway_to(self.life.site, watch.replica.endpoint) as gateway:
            await self.life.change(watch.replica.endpoint)
            began = time.perf_counter()
            watch = self.watches["rewind"] = await strategy.restore(self.engine, watch)
            self._note("rewind", began)
            await first_page(gateway, self.life)
            self._note("rewind, page", began)
        began = time.perf_counter()
        state = await take_fingerprint(self.engine, self.life.site, watch.replica.container)
        self._note("fingerprint", began)
        assert state.digest == watch.replica.golden

    async def _recreate(self) -> None:
        """The strategy itself, as plain Docker has no proof."""
        (strategy,) = (one for one in strategies_for("auto") if one.name == "recreate")
        watch = self.watches["recreate"]
        await self.life.change(watch.replica.endpoint)
        began = time.perf_counter()
        self.watches["recreate"] = await strategy.restore(self.engine, watch)
        self._note("recreate", began)

    async def _clean(self) -> None:
        """After an episode that only read."""
        watch = self.watches["clean"]
        await watch.prove()
        await self.life.read(watch.replica.endpoint)
        began = time.perf_counter()
        moved = await watch.moved()
        self._note("unchanged", began)
        assert moved is None, moved
        began = time.perf_counter()
        done = await reset_replica(
            self.engine, watch, strategies=strategies_for("clean"), wrote=False
        )
        self._note("clean", began)
        assert done.receipt.strategy == "clean", done.receipt
        self.watches["clean"] = done.watch

    def _note(self, what: str, began: float) -> None:
        self.ms[what].append((time.perf_counter() - began) * 1000)
