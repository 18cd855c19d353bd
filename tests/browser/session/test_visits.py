"""Which URLs count as visited, in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from arena_core.actions import Back, Click, Goto, NewTab

if TYPE_CHECKING:
    from browser.session.conftest import Drive

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


def _paths(drive: Drive) -> list[tuple[str | None, bool]]:
    return [(visit.logical, visit.same_document) for visit in drive.drain().visits]


async def test_of_redirects_only_the_last_url_counts(drive: Drive) -> None:
    drive.site.page("", "/a", status=302, headers={"location": "/b"})
    drive.site.page("", "/b", status=301, headers={"location": "/c?x=1"})
    drive.site.page("<p>c", "/c")
    await drive.open("<p>start")
    await drive.do(Goto(url=drive.site.base + "/a"))
    assert _paths(drive) == [("shop:/c?x=1", False)]


async def test_history_entries_by_script_count(drive: Drive) -> None:
    await drive.open("""<button onclick="
        history.pushState(0, '', '/p');
        history.replaceState(0, '', '/q?r');
        location.hash = 'h'">go</button>""")
    await drive.do(Click(element=drive.id("button", "go")))
    assert _paths(drive) == [("shop:/p", True), ("shop:/q?r", True), ("shop:/q?r#h", True)]
    assert drive.session.url.endswith("/q?r#h")
    await drive.do(Back())
    assert drive.settled
    assert _paths(drive) == [("shop:/q?r", True)]


async def test_a_page_that_moves_on_by_itself_counts_with_each_stop(drive: Drive) -> None:
    drive.site.page("<script>location.replace('/last')</script>", "/middle")
    drive.site.page("<p>last", "/last")
    await drive.open("<a href=/middle>go</a>")
    await drive.do(Click(element=drive.id("link", "go")))
    assert _paths(drive) == [("shop:/middle", False), ("shop:/last", False)]


async def test_a_popup_counts_from_its_first_document_on(drive: Drive) -> None:
    drive.site.page("<script>location.replace('/last')</script>", "/middle")
    drive.site.page("<p>last", "/last")
    await drive.open("<button onclick=\"window.open('/middle')\">go</button>")
    await drive.do(Click(element=drive.id("button", "go")))
    visits = drive.drain().visits
    assert [(v.tab, v.logical) for v in visits] == [(1, "shop:/middle"), (1, "shop:/last")]
    assert drive.session.url.endswith("/last")


async def test_frames_blank_tabs_and_failed_loads_are_no_visits(drive: Drive) -> None:
    drive.site.page("<p>frame", "/frame")
    await drive.open("<iframe src=/frame></iframe>")
    await drive.do(NewTab())
    await drive.do(Goto(url="http://127.0.0.1:1/"))
    assert _paths(drive) == []


async def test_fresh_tabs_are_no_visits_and_change_nothing_for_the_agent(drive: Drive) -> None:
    drive.site.page("<p>fresh<script>history.pushState(0, '', '/pushed')</script>", "/fresh")
    await drive.open("<button>b</button>")
    button = drive.id("button", "b")
    assert await drive.session.read_fresh(drive.site.base + "/fresh", "p") == ("fresh",)
    assert (await drive.session.fetch_text(drive.site.base + "/fresh")).status == 200
    seen = await drive.see()
    assert [tab.index for tab in seen.tabs] == [0]
    assert drive.id("button", "b") == button
    await drive.do(NewTab())
    assert [tab.index for tab in drive.seen.tabs] == [0, 1]
    activity = drive.drain()
    assert (activity.visits, activity.acted) == ((), ())
