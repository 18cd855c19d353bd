from __future__ import annotations

import pytest

from arena_core.errors import BrowserError
from orchestrator.browser.process.playwright_driver import running_driver


async def test_a_driver_that_dies_while_it_starts_is_a_fault_of_the_browser(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else the attempt would count as a bug of Arena's, and not be made again."""
    monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", "/bin/false")
    with pytest.raises(BrowserError, match="driver died while it started"):
        async with running_driver():
            pass
