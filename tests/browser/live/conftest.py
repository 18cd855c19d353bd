"""Chromium, a gateway, and a live origin on this machine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import trustme
from browser.gateway.lab import Authority
from support.worlds.live_origin import LiveOrigin

from orchestrator.browser.process.chromium import BrowserOptions
from orchestrator.browser.process.launch import Browser, launch

StartOrigin = Callable[..., LiveOrigin]


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(authority: trustme.CA) -> AsyncIterator[Browser]:
    options = BrowserOptions(trusted_spki=Authority(authority).spki)
    async with launch(options) as launched:
        yield launched


@pytest.fixture
def start_origin(authority: trustme.CA, tmp_path: Path) -> Iterator[StartOrigin]:
    """Start origins with what is wrong with their certificates, trusted unless said otherwise."""
    started: list[LiveOrigin] = []

    def start(*, is_trusted: bool = True, **more: Any) -> LiveOrigin:
        signed_by = authority if is_trusted else trustme.CA()
        started.append(LiveOrigin(signed_by, tmp_path, **more))
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.fixture
def origin(start_origin: StartOrigin) -> LiveOrigin:
    return start_origin()
