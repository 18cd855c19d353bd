from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
import trustme
from browser.gateway.lab import Authority, Lab
from playwright.async_api import Playwright, async_playwright

from orchestrator.browser.process.chromium import BrowserOptions
from orchestrator.browser.process.launch import Browser, launch


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority(trustme.CA())


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def playwright() -> AsyncIterator[Playwright]:
    async with async_playwright() as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser(authority: Authority) -> AsyncIterator[Browser]:
    """A browser in its own network: no container that comes or goes breaks off its requests."""
    async with launch(BrowserOptions(full=True, trusted_spki=authority.spki)) as launched:
        yield launched


@pytest_asyncio.fixture(loop_scope="module")
async def lab(browser: Browser, authority: Authority, tmp_path: Path) -> AsyncIterator[Lab]:
    async with Lab(browser, authority, tmp_path).running() as lab:
        yield lab
