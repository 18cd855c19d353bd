"""From the end of one episode to the first page of the next, and a minute of nothing else."""

from __future__ import annotations

import shutil
import time
from collections import defaultdict
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Final

from bench.figures import Figure, Series, at_most, beside, times_faster
from bench.gateway import CHROMIUM_ARGUMENTS
from bench.plain_docker import PlainContainer, plain_container
from bench.shop_life import ShopLife, first_page, gateway_to
from playwright.async_api import Browser, async_playwright

from orchestrator.gateway.server import Gateway
from orchestrator.sandbox.engine.containers import Endpoint
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.pool.placement import place
from orchestrator.sandbox.pool.slot import Slot
from orchestrator.sandbox.pool.slot_pool import SlotPool
from sites.registry import load_registry

_SHOP: Final = "shop"
_SUSTAINED_S: Final = 60.0
_LEAST_A_SECOND: Final = 2.0


@dataclass(slots=True)
class Swaps:
    """A fleet of one slot with one spare, whose episodes follow one another.

    Attributes:
        ms: what was measured, in milliseconds.
    """

    life: ShopLife
    slot_pool: SlotPool
    browser: Browser
    plain: PlainContainer
    ms: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    async def play(self, rounds: int) -> None:
        """Measure the way from one episode to the next; the first round does not count."""
        for number in range(rounds + 1):
            self.ms["plain"].append(await self.plain.renew(self.life))
            began, before = await self._episode()
            await self._next(began, before)
            began, before = await self._episode()
            await self._next_in_browser(began, before)
            if number == 0:
                self.ms.clear()

    def figures(self) -> list[Figure]:
        """Return what was measured, beside plain Docker's `rm -f`, `run` and health."""
        found = {what: Series(values) for what, values in self.ms.items()}
        plain = found["plain"]
        return [
            times_faster(
                "swap to first right page, ms (reference: docker rm -f, run, health)",
                *(found["page"], plain, 12),
            ),
            at_most("the switch itself, ms (reference: its goal)", found["switch"], 10),
            beside("swap to the same page loaded in Chromium, ms", found["browser"], plain),
        ]

    async def _episode(self) -> tuple[float, str]:
        """Play an episode that writes; return when it ended, and on which container."""
        async with (
            self.slot_pool.lease([_SHOP]) as slot,
            gateway_to(self.life.site, _endpoint(slot)) as gateway,
        ):
            await first_page(gateway, self.life)
            await self.life.change(_endpoint(slot))
            slot.wrote(_SHOP)
            before = slot.replicas[_SHOP].container.id
            began = time.perf_counter()
        return began, before

    async def _next(self, began: float, before: str) -> None:
        async with (
            self.slot_pool.lease([_SHOP]) as slot,
            gateway_to(self.life.site, _endpoint(slot)) as gateway,
        ):
            self._note("switch", began)
            await first_page(gateway, self.life)
            self._note("page", began)
            _check(slot, before)

    async def _next_in_browser(self, began: float, before: str) -> None:
        async with (
            self.slot_pool.lease([_SHOP]) as slot,
            gateway_to(self.life.site, _endpoint(slot)) as gateway,
        ):
            await _load(self.browser, gateway, self.life)
            self._note("browser", began)
            _check(slot, before)

    def _note(self, what: str, began: float) -> None:
        self.ms[what].append((time.perf_counter() - began) * 1000)


async def swap_figures(engine: Engine, life: ShopLife, owner: str, rounds: int) -> list[Figure]:
    """Measure swaps, then as many rounds of change and reset as fit into a minute."""
    async with AsyncExitStack() as stack:
        playwright = await stack.enter_async_context(async_playwright())
        browser = await playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=[*CHROMIUM_ARGUMENTS]
        )
        stack.push_async_callback(browser.close)
        slot_pool = await stack.enter_async_context(
            SlotPool.open(
                engine, load_registry(), [_SHOP], owner, workers=1, spares=1, strategy="swap"
            )
        )
        with plain_container(await place(engine, life.site, owner=owner, slot=None)) as plain:
            swaps = Swaps(life, slot_pool, browser, plain)
            await swaps.play(rounds)
        return [*swaps.figures(), await _sustained(slot_pool, life)]


async def _sustained(slot_pool: SlotPool, life: ShopLife) -> Figure:
    """Change the shop once in each lease, and look first whether the change before is gone."""
    rounds = 0
    began = time.perf_counter()
    while (spent := time.perf_counter() - began) < _SUSTAINED_S:
        async with (
            slot_pool.lease([_SHOP]) as slot,
            gateway_to(life.site, _endpoint(slot)) as gateway,
        ):
            await first_page(gateway, life)
            await life.change_once(_endpoint(slot))
            slot.wrote(_SHOP)
        rounds += 1
    rate = rounds / spent
    return Figure(
        "change and reset for 60 s, 1 slot and 1 spare, rounds/s (reference: goal)",
        rate,
        _LEAST_A_SECOND,
        rate / _LEAST_A_SECOND,
        f">= {_LEAST_A_SECOND:g} per second",
        met=rate >= _LEAST_A_SECOND,
        rounds=rounds,
    )


async def _load(browser: Browser, gateway: Gateway, life: ShopLife) -> None:
    """Load the shown product's page in a fresh context, up to its load event."""
    context = await browser.new_context(proxy={"server": gateway.url})
    page = await context.new_page()
    await page.goto(life.url, wait_until="load")
    title = await page.locator("h1").first.inner_text()
    assert title == life.title, title
    await context.close()


def _check(slot: Slot, before: str) -> None:
    assert slot.replicas[_SHOP].container.id != before, "not swapped"
    assert all(receipt.proven for receipt in slot.receipts)


def _endpoint(slot: Slot) -> Endpoint:
    return slot.replicas[_SHOP].endpoint
