from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from support.sites.raw_http import Stage


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """Give a test its servers, gateways and clients, and close them when it is over."""
    async with Stage() as stage:
        yield stage
