"""When a page counts as settled."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest

from arena_core.actions import Click, Goto, Press
from arena_core.errors import BrowserError
from orchestrator.browser.tabs import settle

if TYPE_CHECKING:
    from browser.session.conftest import Drive

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def _click(drive: Drive, name: str) -> None:
    assert await drive.session.act(Click(element=drive.id("button", name))) is None


async def test_what_a_request_brings_is_there_once_settled(drive: Drive) -> None:
    gate = threading.Event()
    drive.site.page("late news", "/news", gate=gate)
    await drive.open("""<p id=o></p><button onclick="fetch('/news').then((r) => r.text())
        .then((t) => setTimeout(() => { o.textContent = t }, 60))">load</button>""")
    await _click(drive, "load")
    settling = asyncio.create_task(drive.session.settle(30))
    assert await drive.session.settle(0.3) is False
    gate.set()
    assert await settling is True
    assert await drive.text("#o") == "late news"


async def test_a_slow_page_is_waited_for(drive: Drive) -> None:
    gate = threading.Event()
    drive.site.page("<p>slow page", "/slow", gate=gate)
    await drive.open("<button onclick=\"location='/slow'\">go</button>")
    await _click(drive, "go")
    asyncio.get_running_loop().call_later(0.3, gate.set)
    assert await drive.session.settle(30) is True
    assert await drive.text("p") == "slow page"


async def test_a_slow_style_sheet_or_image_of_a_new_page_is_waited_for(drive: Drive) -> None:
    gate = threading.Event()
    drive.site.page("p { text-transform: uppercase }", "/s.css", gate=gate, content_type="text/css")
    drive.site.page("<link rel=stylesheet href=/s.css><p>styled", "/styled")
    await drive.open("<p>start")
    assert await drive.session.act(Goto(url=drive.site.base + "/styled")) is None
    asyncio.get_running_loop().call_later(0.2, gate.set)
    assert await drive.session.settle(30) is True
    assert await drive.text("p") == "STYLED"


async def test_a_chain_of_timers_that_changes_the_page_is_followed_to_its_end(drive: Drive) -> None:
    await drive.open("""<p id=o>0</p><button onclick="let n = 0; const t = setInterval(() => {
        o.textContent = ++n; if (n === 10) clearInterval(t); }, 25)">count</button>""")
    await _click(drive, "count")
    assert await drive.session.settle(30) is True
    assert await drive.text("#o") == "10"


async def test_a_page_that_never_rests_ends_at_the_deadline(drive: Drive) -> None:
    await drive.open("""<p id=o></p><button onclick="setInterval(() => {
        o.textContent = Math.random() }, 10)">forever</button>""")
    await _click(drive, "forever")
    assert await drive.session.settle(0.5) is False
    assert (await drive.see()).nodes


_TURNING = """<style>.off {{ display: none }}</style><button>start</button>
    <div id=box {box}><svg id=ring><path></path></svg></div>
    <script>document.querySelector("button").onclick = () => {{ let n = 0; setInterval(() => {{
        n++; ring.firstChild.setAttribute("d", "M0 0 L" + n + " 9"); {also} }}, 8) }}</script>"""


async def test_a_spinner_that_turns_out_of_sight_keeps_no_page_from_resting(drive: Drive) -> None:
    await drive.open(_TURNING.format(box="class=off", also=""))
    await _click(drive, "start")
    assert await drive.session.settle(5) is True


@pytest.mark.parametrize(
    ("box", "also"),
    [
        ("", ""),
        ("style='display: contents'", ""),
        ("class=off", "box.classList.toggle('off', n % 2)"),
        ("class=off", "box.append('x')"),
        ("class=off", "document.documentElement.lang = n"),
    ],
    ids=["in sight", "in a box of its parent's", "blinking", "growing", "of the root"],
)
async def test_changes_that_may_show_are_waited_for(drive: Drive, box: str, also: str) -> None:
    await drive.open(_TURNING.format(box=box, also=also))
    await _click(drive, "start")
    assert await drive.session.settle(0.5) is False


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is waited for is waited for beyond each test's deadline."""
    monkeypatch.setattr(settle, "LONG_LIVED_S", 120.0)
    monkeypatch.setattr(settle, "POPUP_S", 120.0)


@pytest.mark.usefixtures("patient")
async def test_streams_that_stay_open_are_not_waited_for(drive: Drive) -> None:
    drive.site.page("", "/events", gate=threading.Event(), content_type="text/event-stream")
    await drive.open("<button onclick=\"new EventSource('/events')\">subscribe</button>")
    await _click(drive, "subscribe")
    assert await drive.session.settle(30) is True


async def test_a_popup_is_waited_for_and_current(drive: Drive) -> None:
    gate = threading.Event()
    drive.site.page("<p>popped", "/popup", gate=gate)
    await drive.open("<button onclick=\"window.open('/popup')\">pop</button>")
    await _click(drive, "pop")
    asyncio.get_running_loop().call_later(0.2, gate.set)
    assert await drive.session.settle(30) is True
    assert await drive.text("p") == "popped"


async def test_a_page_that_closes_itself_leaves_the_tab_before_it(drive: Drive) -> None:
    drive.site.page("<button onclick='window.close()'>bye</button>", "/popup")
    await drive.open("<button onclick=\"window.open('/popup')\">pop</button>")
    await drive.do(Click(element=drive.id("button", "pop")))
    await drive.do(Click(element=drive.id("button", "bye")))
    assert [tab.index for tab in drive.seen.tabs] == [0]
    assert drive.shows("button", "pop")


async def test_a_key_that_closes_its_own_page_is_done(drive: Drive) -> None:
    drive.site.page("<script>onkeydown = () => window.close()</script><p>popup", "/popup")
    await drive.open("<button onclick=\"window.open('/popup')\">pop</button>")
    await drive.do(Click(element=drive.id("button", "pop")))
    assert await drive.do(Press(keys="Escape")) is None
    assert [tab.index for tab in drive.seen.tabs] == [0]


async def test_a_page_that_closes_the_only_tab_leaves_a_blank_one(drive: Drive) -> None:
    await drive.open("<p>here")
    await drive.session._bar.current.page.close()
    await drive.rest()
    seen = await drive.see()
    assert [(tab.index, tab.url) for tab in seen.tabs] == [(1, "about:blank")]


@pytest.mark.usefixtures("patient")
async def test_a_click_that_does_nothing_settles_soon(drive: Drive) -> None:
    await drive.open("<button>idle</button>")
    await _click(drive, "idle")
    assert await drive.session.settle(30) is True


async def test_a_change_of_the_machines_network_is_no_page_of_the_site(drive: Drive) -> None:
    """Chromium breaks off what is in flight when a container's bridge port comes or goes."""
    await drive.open("<p>a page")
    tab = await drive.session._bar.wait_for_current()
    tab.traffic._failed({"requestId": "7", "errorText": "net::ERR_NETWORK_CHANGED"})
    with pytest.raises(BrowserError, match="network of this machine changed"):
        await drive.session.settle(30)
    assert await drive.session.settle(30) is True
