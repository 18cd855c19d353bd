from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
import trustme
from browser.gateway.lab import CHROMIUM_ARGUMENTS, Authority, Lab
from playwright.async_api import Browser, Playwright, async_playwright


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority(trustme.CA())


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def playwright() -> AsyncIterator[Playwright]:
    async with async_playwright() as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser(playwright: Playwright, authority: Authority) -> AsyncIterator[Browser]:
    browser = await playwright.chromium.launch(
        executable_path=shutil.which("chromium"),
        args=[*CHROMIUM_ARGUMENTS, f"--ignore-certificate-errors-spki-list={authority.spki}"],
    )
    yield browser
    await browser.close()


@pytest_asyncio.fixture(loop_scope="module")
async def lab(browser: Browser, authority: Authority, tmp_path: Path) -> AsyncIterator[Lab]:
    async with Lab(browser, authority, tmp_path).running() as lab:
        yield lab
