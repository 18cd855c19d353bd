from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from arena_core.errors import BrowserError
from orchestrator.browser.process import playwright_driver
from orchestrator.browser.process.isolation import script
from orchestrator.browser.process.playwright_driver import running_driver


async def test_a_driver_that_dies_while_it_starts_is_a_fault_of_the_browser(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else the attempt would count as a bug of Arena's, and not be made again."""
    monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", "/bin/false")
    with pytest.raises(BrowserError, match="driver died while it started"):
        async with running_driver():
            pass
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_driver_that_hangs_up_and_lives_on_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deaf = script(tmp_path / "node", "exec 1>&-; while read -r line; do :; done")
    monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", str(deaf))
    with pytest.raises(BrowserError, match="driver died while it started"):
        async with running_driver():
            pass
    assert not playwright_driver._drivers()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_driver_that_does_not_answer_is_a_fault_of_the_browser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a run would wait for it without end."""
    silent = script(tmp_path / "node", "while read -r line; do :; done")
    monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", str(silent))
    monkeypatch.setattr(playwright_driver, "_START_S", 0.1)
    with pytest.raises(BrowserError, match="did not start within"):
        async with running_driver():
            pass
    assert not playwright_driver._drivers()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_start_that_is_cancelled_leaves_no_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = script(tmp_path / "node", "while read -r line; do :; done")
    monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", str(silent))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2), running_driver():
            pass
    assert not playwright_driver._drivers()
    assert asyncio.all_tasks() == {asyncio.current_task()}
