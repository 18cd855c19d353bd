"""The kiosk, a small real site, and one replica of it that a test may spoil."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from support.sites.kiosk_site import engine, kiosk, registry, replica

from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.reset.replica import Replica
from orchestrator.sandbox.reset.watch import Watch

__all__ = ["engine", "kiosk", "registry", "replica"]

Shell = Callable[[str], Awaitable[None]]


@pytest.fixture
async def watch(engine: Engine, replica: Replica) -> AsyncIterator[Watch]:
    made = Watch.over(engine, replica, new=True)
    yield made
    await made.close()


@pytest.fixture
def shell(engine: Engine, replica: Replica) -> Shell:
    """Run a shell line inside the replica."""

    async def run(line: str) -> None:
        done = await engine.execute(replica.container.id, ("bash", "-c", line))
        assert done.exit_code == 0, done.stderr

    return run


@pytest.fixture
def sql(shell: Shell) -> Shell:
    """Run SQL inside the replica, as its superuser could."""

    async def run(statement: str) -> None:
        assert "'" not in statement
        await shell(f"mariadb --socket=/tmp/db.sock --user=root kiosk -e '{statement}'")

    return run
