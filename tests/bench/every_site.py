"""The whole web in a box, each figure against its budget: disk, start, memory, first pages."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import time
from collections.abc import Iterable, Sequence
from typing import Final

from bench.figures import Figure, Series, at_most
from bench.gateway import CHROMIUM_ARGUMENTS, load_page
from playwright.async_api import async_playwright

from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.images.recipes import recipes_of
from orchestrator.sandbox.memory import memory_of
from orchestrator.sandbox.pool.pool_context import ReadyReplica
from orchestrator.sandbox.pool.slot_pool import SlotPool
from orchestrator.sandbox.reset.replica import Replica
from sites.registry import SiteRegistry, load_registry

DISK_MB: Final = 9_000.0
UP_S: Final = 25.0
MEMORY_MIB: Final = 1_536.0
PAGE_MS: Final = 250.0
_LOADS: Final = 20
_OWNER: Final = f"bench-sites-{os.getpid()}"


async def site_figures() -> list[Figure]:
    """Start every site as `arena up all` does, look at each front page, and remove them again.

    Memory is read after the pages were loaded: a site that nobody looked at takes less.
    """
    registry = load_registry()
    async with await Engine.connect() as engine:
        try:
            began = time.monotonic()
            ready_replicas = await _up(engine, registry)
            seconds = time.monotonic() - began
            pages = [await first_page(ready.replica) for ready in ready_replicas]
            memory = await _memory_mib(engine, ready_replicas)
        finally:
            await engine.sweep(_OWNER)
    disk = await asyncio.to_thread(disk_mb, tags_of(registry))
    number = len(ready_replicas)
    return [
        at_most("images of all sites, shared layers once, MB", Series([disk]), DISK_MB, "MB"),
        at_most(f"{number} sites up and logged in, s", Series([seconds]), UP_S, "s"),
        at_most(f"memory of {number} sites, MiB", Series([sum(memory)]), MEMORY_MIB, "MiB"),
        *(
            at_most(f"first page of {one.replica.site.name}, ms (p50)", series, PAGE_MS)
            for one, series in zip(ready_replicas, pages, strict=True)
        ),
    ]


async def _up(engine: Engine, registry: SiteRegistry) -> tuple[ReadyReplica, ...]:
    async with SlotPool.open(
        engine, registry, tuple(registry.sites), _OWNER, workers=1, spares=0, keep=True
    ) as slot_pool:
        return await slot_pool.up()


async def _memory_mib(engine: Engine, ready_replicas: Iterable[ReadyReplica]) -> list[float]:
    return [await memory_of(engine, one.replica.container.id) / 2**20 for one in ready_replicas]


async def first_page(replica: Replica) -> Series:
    """Load a site's front page again and again, without cache; in ms up to the load event."""
    host = replica.site.host
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=[*CHROMIUM_ARGUMENTS, f"--host-resolver-rules=MAP {host} {replica.endpoint}"],
        )
        context = await browser.new_context()
        times = [await load_page(context, f"http://{host}/") for _ in range(_LOADS + 1)]
        await browser.close()
    return Series(times[1:])  # the first one starts the browser's own parts


def tags_of(registry: SiteRegistry) -> tuple[str, ...]:
    """Return the tags of all images, those of staged live origins included."""
    return tuple(
        recipe.image.tag
        for site in registry.sites.values()
        for recipe in recipes_of(site, staged=True)
    )


def disk_mb(tags: Sequence[str]) -> float:
    """Return what images take together, in MB; a layer that several have counts once."""
    layers: dict[tuple[str, ...], int] = {}
    for tag in tags:
        argv = ["docker", "history", "--no-trunc", "--human=false"]
        told = subprocess.run(
            [*argv, "--format", "{{.ID}}\t{{.Size}}\t{{.CreatedBy}}", tag],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        below: tuple[str, ...] = ()
        for line in reversed(told.splitlines()):
            name, size, made_by = line.split("\t", 2)
            # A layer that was pulled has no id of its own: it is what it was made by, on what.
            below = (name,) if name != "<missing>" else (*below, made_by)
            layers[below] = int(size)
    return sum(layers.values()) / 1e6
