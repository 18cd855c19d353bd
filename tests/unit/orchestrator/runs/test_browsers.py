from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest

from orchestrator.browser.process.chromium import BrowserOptions
from orchestrator.runs import environments as browsers
from orchestrator.runs.environments import BrowserKeeper
from orchestrator.runs.events import ProgressNote, RunEvent


@pytest.mark.parametrize(
    ("why", "notes"),
    [("", []), ("Operation not permitted (unshare)", ["Operation not permitted (unshare)"])],
    ids=["in a namespace", "without one"],
)
async def test_a_run_says_once_where_its_browser_has_no_network_of_its_own(
    monkeypatch: pytest.MonkeyPatch, why: str, notes: list[str]
) -> None:
    @asynccontextmanager
    async def crashes_at_once(_: BrowserOptions) -> AsyncIterator[object]:
        yield SimpleNamespace(not_isolated=why, is_alive=False)

    monkeypatch.setattr(browsers, "open_browser", crashes_at_once)
    told: list[RunEvent] = []
    keeper = BrowserKeeper(BrowserOptions(), told.append)

    await keeper.browser()
    await keeper.browser()  # another one, since the first is dead

    assert keeper.isolated == (not why)
    texts = [event.text for event in told if isinstance(event, ProgressNote)]
    assert len(texts) == len(notes)
    assert all(note in text for note, text in zip(notes, texts, strict=True))
    await keeper.close()
