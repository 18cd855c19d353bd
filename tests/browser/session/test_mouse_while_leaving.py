"""Pointer actions by coordinates while a navigation is under way: what each of them gets."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest

from arena_core.actions import (
    Action,
    MouseClick,
    MouseDown,
    MouseDrag,
    MouseMove,
    MouseUp,
    MouseWheel,
    Point,
)

if TYPE_CHECKING:
    from browser.session.conftest import Drive

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

LEAVING = """<body style="margin: 0"><a href=/slow style="display: block; height: 40px">go</a>
  <button style="display: block; width: 200px; height: 60px">here</button>
  <div style="height: 3000px">tall</div>"""
ARRIVED = """<title>there</title><body style="margin: 0"><div style="height: 40px"></div>
  <button style="display: block; width: 200px; height: 60px">there</button>
  <div style="height: 3000px">tall</div>"""
CHANGED = "the page changed before the action was done: look again"
ACTIONS: tuple[tuple[Action, ...], ...] = (
    (MouseMove(x=50, y=70),),
    (MouseClick(x=50, y=70),),
    (MouseClick(x=50, y=70, count=2),),
    (MouseDown(x=50, y=70), MouseUp(x=60, y=70)),
    (MouseDrag(path=(Point(x=50, y=70), Point(x=150, y=70))),),
    (MouseWheel(x=50, y=70, dy=200),),
)


async def _leave(drive: Drive) -> threading.Event:
    """Click a link to a page that does not answer yet; returns what lets it answer."""
    gate = threading.Event()
    drive.site.page(ARRIVED, "/slow", gate=gate)
    await drive.open(LEAVING)
    before = drive.site.asked("/slow")
    assert await drive.session.act(MouseClick(x=10, y=10)) is None
    await asyncio.to_thread(drive.site.wait_asked, "/slow", before + 1)
    drive.drain()
    return gate


@pytest.mark.parametrize("action", [one[0] for one in ACTIONS], ids=lambda one: one.kind)
async def test_what_is_done_before_the_next_page_answers_is_refused_when_it_does(
    drive: Drive, action: Action
) -> None:
    """Chromium answers nothing of a page that is being left: no place is clicked blindly."""
    gate = await _leave(drive)
    acting = asyncio.create_task(drive.session.act(action))
    await asyncio.wait([acting], timeout=0.5)
    assert not acting.done()
    gate.set()
    async with asyncio.timeout(30):
        assert await acting == CHANGED
    await drive.rest()
    assert drive.settled
    assert drive.session.url.endswith("/slow")
    assert {one.name for one in drive.drain().acted} <= {"go"}


@pytest.mark.parametrize("actions", ACTIONS, ids=lambda one: one[0].kind)
async def test_in_the_moment_of_arrival_each_is_done_on_one_page_or_refused(
    drive: Drive, actions: tuple[Action, ...]
) -> None:
    for _ in range(2):
        gate = await _leave(drive)
        gate.set()
        async with asyncio.timeout(30):
            found = [await drive.session.act(action) for action in actions]
        await drive.rest()
        assert drive.settled
        assert drive.session.url.endswith("/slow")
        assert set(found) <= {None, CHANGED, "the left button is not held"}
        assert {one.name for one in drive.drain().acted} <= {"go", "here", "there"}
        assert await drive.session.act(MouseClick(x=50, y=70)) is None
        await drive.rest()
        assert [one.name for one in drive.drain().acted][-1:] == ["there"]
