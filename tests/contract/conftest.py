"""An engine for each test, and replicas that all tests share which only look at them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from support.sites.every_site import Shared

from orchestrator.sandbox.engine.engine import Engine


@pytest.fixture(scope="session")
def shared() -> Iterator[Shared]:
    replicas = Shared()
    yield replicas
    replicas.end()


@pytest.fixture
async def engine() -> AsyncIterator[Engine]:
    async with await Engine.connect() as connected:
        yield connected
