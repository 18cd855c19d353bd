"""A real browser with its front, before a small site."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from support.agents.cdp_endpoint import Endpoint, open_endpoint


@pytest.fixture
def downloads(tmp_path: Path) -> Path:
    folder = tmp_path / "downloads"
    folder.mkdir()
    return folder


@pytest_asyncio.fixture
async def endpoint(downloads: Path) -> AsyncIterator[Endpoint]:
    async with open_endpoint(downloads) as endpoint:
        yield endpoint
