"""A small real site for tests: MariaDB, files, accounts; its image is built and sealed once."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import io
import os
import tarfile
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Final

import pytest

import orchestrator.sandbox.delta
import orchestrator.sandbox.images
import orchestrator.sandbox.reset
from orchestrator.sandbox.engine.containers import Labels
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.golden import is_sealed
from orchestrator.sandbox.images.seal import seal
from orchestrator.sandbox.pool.placement import place
from orchestrator.sandbox.reset.replica import Replica, start_replica
from sites.manifest import Site
from sites.registry import SiteRegistry

FOLDER: Final = Path(__file__).parents[2] / "kiosk"
UNSEALED: Final = "arena-test/kiosk-unsealed:1"
OWNER: Final = f"test-fleet-{os.getpid()}"

_LOGIN = {
    "path": "/login",
    "fields": {"user": "{username}", "pass": "{password}"},
    "submit": {"go": "1"},
}
KIOSK: Final = Site.model_validate(
    {
        "name": "kiosk",
        "title": "Kiosk",
        "summary": "a small site for tests",
        "host": "kiosk.arena.test",
        "stateful": True,
        "image": {
            "tag": "arena-test/kiosk:1",
            "build": {"dockerfile": "Dockerfile", "context": ["kiosk"]},
        },
        "port": 8000,
        "health": {"path": "/health", "contains": "kiosk ready", "timeout_s": 60},
        "warm": ["/"],
        "resources": {"memory_mb": 512, "cpus": 2.0, "pids": 128},
        "database": {
            "engine": "mariadb",
            "port": 3306,
            "name": "kiosk",
            "user": "reader",
            "password": "reader",
        },
        "fingerprint": {
            "volatile_tables": ["visit"],
            "volatile_columns": {"account": ["last_seen"]},
            "files": ["/srv/kiosk/files"],
        },
        "roles": {
            "ada": {
                "username": "ada",
                "password": "lovelace",
                "login": _LOGIN,
                "proof": {"path": "/me", "contains": "signed in as ada"},
            },
            "grace": {
                "username": "grace",
                "password": "hop&per",
                "login": {**_LOGIN, "form": "login"},
                "proof": {"path": "/me", "contains": "signed in as grace"},
            },
        },
        "live": {
            "origin": "https://www.kiosk.example",
            "roles": {
                "ada": {
                    "username": "ada",
                    "password": "lovelace",
                    "login": _LOGIN,
                    "proof": {"path": "/me", "contains": "signed in as ada"},
                }
            },
            "staged": {
                "image": {"tag": "arena-test/kiosk:1", "published": "unused"},
                "port": 8443,
                "health": {"path": "/health", "contains": "kiosk ready"},
            },
        },
    }
)
ATLAS: Final = SiteRegistry({"kiosk": KIOSK})


@pytest.fixture(scope="session")
def kiosk() -> Site:
    """The kiosk's manifest, its image built and sealed."""
    with (Path(tempfile.gettempdir()) / "arena-test-kiosk.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # xdist: one worker builds, the others find it done
        asyncio.run(_ensure_image())
    return KIOSK


@pytest.fixture
def registry(kiosk: Site) -> SiteRegistry:
    return SiteRegistry({kiosk.name: kiosk})


@pytest.fixture
async def engine() -> AsyncIterator[Engine]:
    """An engine; whatever a test leaves running under `OWNER` is removed."""
    async with await Engine.connect() as connected:
        yield connected
        await connected.sweep(OWNER)


@pytest.fixture
async def replica(engine: Engine, kiosk: Site) -> AsyncIterator[Replica]:
    placement = await place(engine, kiosk, owner=OWNER, slot=0)
    started = await start_replica(engine, placement)
    yield started
    await engine.remove(started.container.id)


async def _ensure_image() -> None:
    source = hashlib.sha256(b"".join(path.read_bytes() for path in _sources())).hexdigest()
    async with await Engine.connect() as engine:
        present = await engine.image(KIOSK.image.tag)
        if present and is_sealed(present) and present.labels.get(Labels.SOURCE) == source:
            return
        lines: list[str] = []
        unsealed = await engine.build(UNSEALED, _context(), "Dockerfile", {}, lines.append)
        await seal(
            engine,
            KIOSK,
            unsealed,
            source,
            on_line=lines.append,
        )


def _sources() -> Iterator[Path]:
    """The image's files, and the code that seals it."""
    yield from sorted(FOLDER.iterdir())
    for package in (
        orchestrator.sandbox.delta,
        orchestrator.sandbox.images,
        orchestrator.sandbox.reset,
    ):
        yield from sorted(Path(package.__path__[0]).glob("*.py"))


def _context() -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path in sorted(FOLDER.iterdir()):
            archive.add(path, arcname=path.name)
    return packed.getvalue()
