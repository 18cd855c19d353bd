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

from orchestrator.delta.packing import pack_rows
from orchestrator.engine.engine import Engine
from orchestrator.images import building
from orchestrator.pool.acquiring import place
from orchestrator.reset.fingerprint import take_fingerprint
from orchestrator.reset.replica import Replica, start_replica
from sites.atlas import Atlas, load_atlas
from sites.manifest import FingerprintProbes

OWNER: Final = f"test-sqlite-{os.getpid()}"
OWN_SITES: Final = Path(__file__).parents[2] / "own_sites"


@pytest.fixture(scope="session")
def ledger() -> Atlas:
    """All sites and the ledger, whose image is built and sealed."""
    atlas = load_atlas([OWN_SITES])
    _build(atlas)
    return atlas


@pytest.fixture(scope="session")
def open_ledger() -> Atlas:
    """The ledger under a manifest that knows of nothing volatile."""
    atlas = load_atlas([OWN_SITES])
    site = atlas.site("ledger")
    probes = FingerprintProbes(files=site.fingerprint.files)
    image = site.image.model_copy(update={"tag": "own/ledger:open"})
    update = {"fingerprint": probes, "image": image, "warm": ("/login",)}
    changed = site.model_copy(update=update)
    found = replace(atlas, sites={**atlas.sites, "ledger": changed})
    _build(found)
    return found


@pytest.fixture
async def engine() -> AsyncIterator[Engine]:
    async with await Engine.connect() as connected:
        yield connected
        await connected.sweep(OWNER)


@pytest.fixture
async def replica(engine: Engine, ledger: Atlas) -> Replica:
    placement = await place(engine, ledger.site("ledger"), owner=OWNER, slot=0)
    return await start_replica(engine, placement)


def _build(atlas: Atlas) -> None:
    async def build() -> None:
        async with await Engine.connect() as engine:
            await building.build(
                engine,
                atlas,
                [atlas.site("ledger")],
                take=take_fingerprint,
                take_rows=pack_rows,
                on_line=lambda _: None,
            )

    with (Path(tempfile.gettempdir()) / "arena-test-ledger.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # xdist: one worker builds, the others find it done
        asyncio.run(build())
