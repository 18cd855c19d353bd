"""The ledger, a site that keeps its rows in SQLite, and replicas of it."""

from __future__ import annotations

import asyncio
import fcntl
import os
import tempfile
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.images.build import build_images
from orchestrator.sandbox.pool.placement import place
from orchestrator.sandbox.reset.replica import Replica, start_replica
from sites.manifest import FingerprintProbes
from sites.registry import SiteRegistry, load_registry

OWNER: Final = f"test-sqlite-{os.getpid()}"
OWN_SITES: Final = Path(__file__).parents[2] / "own_sites"


@pytest.fixture(scope="session")
def ledger() -> SiteRegistry:
    """All sites and the ledger, whose image is built and sealed."""
    registry = load_registry([OWN_SITES])
    _build(registry)
    return registry


@pytest.fixture(scope="session")
def open_ledger() -> SiteRegistry:
    """The ledger under a manifest that knows of nothing volatile."""
    registry = load_registry([OWN_SITES])
    site = registry.site("ledger")
    probes = FingerprintProbes(files=site.fingerprint.files)
    image = site.image.model_copy(update={"tag": "own/ledger:open"})
    update = {"fingerprint": probes, "image": image, "warm": ("/login",)}
    changed = site.model_copy(update=update)
    found = replace(registry, sites={**registry.sites, "ledger": changed})
    _build(found)
    return found


@pytest.fixture
async def engine() -> AsyncIterator[Engine]:
    async with await Engine.connect() as connected:
        yield connected
        await connected.sweep(OWNER)


@pytest.fixture
async def replica(engine: Engine, ledger: SiteRegistry) -> Replica:
    placement = await place(engine, ledger.site("ledger"), owner=OWNER, slot=0)
    return await start_replica(engine, placement)


def _build(registry: SiteRegistry) -> None:
    async def build() -> None:
        async with await Engine.connect() as engine:
            await build_images(
                engine,
                registry,
                [registry.site("ledger")],
                on_line=lambda _: None,
            )

    with (Path(tempfile.gettempdir()) / "arena-test-ledger.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # xdist: one worker builds, the others find it done
        asyncio.run(build())
