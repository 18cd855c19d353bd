"""A session's context: its logins, its proxy, its start pages, and what it keeps from pages."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from arena_core.actions import Click, FocusTab, Goto, NewTab
from arena_core.cookie import Cookie
from arena_core.errors import BrowserError, TaskError
from orchestrator.browser.session.context import SessionOptions

if TYPE_CHECKING:
    from browser.session.conftest import Drive, Site

    from orchestrator.browser.process.launch import Browser

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


def cookie(name: str, value: str, *, http_only: bool = True) -> Cookie:
    return Cookie(
        name=name,
        value=value,
        domain="127.0.0.1",
        path="/",
        secure=False,
        http_only=http_only,
        expires=None,
    )


async def test_start_pages_open_in_a_tab_each_and_the_first_is_current(
    browser: Browser, site: Site
) -> None:
    one, two = site.page("<title>One</title>"), site.page("<title>Two</title>", "/two")
    async with browser.session(SessionOptions(proxy_url=None, logical=lambda url: url)) as session:
        await session.open([one, two])
        assert await session.settle(10)
        seen = await session.observe(0)
        assert [(tab.title, tab.is_current) for tab in seen.tabs] == [("One", True), ("Two", False)]
        assert [(v.tab, v.url) for v in session.drain().visits] == [(0, one), (1, two)]
        assert (session.url, await session.title()) == (one, "One")


async def test_a_start_page_that_cannot_be_reached_is_a_browser_error(browser: Browser) -> None:
    async with browser.session(SessionOptions(proxy_url=None)) as session:
        with pytest.raises(BrowserError, match="a start page cannot be opened"):
            await session.open(["http://127.0.0.1:1/"])


async def test_everything_goes_through_the_proxy_loopback_too(
    browser: Browser, site: Site, other_site: Site
) -> None:
    site.page("<p>by proxy")
    async with browser.session(SessionOptions(proxy_url=site.base)) as session:
        for url in ("http://shop.arena.test/", other_site.base + "/", "http://localhost:8099/"):
            await session.open([url])
            assert await session.settle(10)
            assert await session.read_own("p") == ("by proxy",)
            assert await session.read_fresh(url, "p") == ("by proxy",)
            assert (await session.fetch_text(url)).body == "<p>by proxy"
            assert ("GET", url) in site.requests
    assert other_site.requests == []


async def test_two_sessions_share_nothing(browser: Browser, site: Site) -> None:
    site.page("<p>in", headers={"set-cookie": "seen=yes"})
    options = SessionOptions(proxy_url=None, cookies=[cookie("login", "me")])
    async with browser.session(options) as one, browser.session(options) as two:
        for session in (one, two):
            await session.open([site.base])
            assert await session.settle(10)
            assert await session.read_own("p") == ("in",)
        cookies = [await session.cookies() for session in (one, two)]
        assert [{c.name for c in jar} for jar in cookies] == [{"login", "seen"}] * 2
        await one._contexts[""].clear_cookies()
        assert len(await two._contexts[""].cookies()) == 2


async def test_tabs_of_two_logins_share_no_cookies_and_what_they_open_stays_in_theirs(
    browser: Browser, site: Site
) -> None:
    site.page(
        "<title>In</title><p></p><a href=/other target=_blank>open</a>"
        "<script>document.querySelector('p').textContent = document.cookie</script>"
    )
    site.page("<title>Other</title><script>document.cookie = 'left=here'</script>", "/other")
    options = SessionOptions(
        proxy_url=None,
        cookies=[cookie("as", "customer", http_only=False)],
        apart={"shop: merchant": [cookie("as", "merchant", http_only=False)]},
    )
    async with browser.session(options) as session:
        await session.open([site.base, site.base], ["", "shop: merchant"])
        assert await session.settle(10)
        assert (session.login, await session.read_own("p")) == ("", ("as=customer",))
        assert await session.act(FocusTab(index=1)) is None
        assert await session.settle(10)
        assert await session.read_own("p") == ("as=merchant",)
        link = next(n.id for n in (await session.observe(0)).nodes if n.role == "link")
        await session.act(Click(element=link))
        assert await session.settle(10)
        await session.act(NewTab())
        seen = await session.observe(0)
        assert [(tab.index, tab.login) for tab in seen.tabs] == [
            (0, ""),
            (1, "shop: merchant"),
            (2, "shop: merchant"),
            (3, "shop: merchant"),
        ]
        assert session.login == "shop: merchant"
        base = site.base + "/"
        assert await session.read_fresh(base, "p") == ("as=customer",)
        assert await session.read_fresh(base, "p", login="shop: merchant") == (
            "as=merchant; left=here",
        )
        jars = [await session.cookies(login) for login in ("", "shop: merchant")]
        assert [{one.name: one.value for one in jar} for jar in jars] == [
            {"as": "customer"},
            {"as": "merchant", "left": "here"},
        ]


async def test_reading_goes_with_the_episodes_logins(browser: Browser, site: Site) -> None:
    site.page("<script>document.write('<p>' + document.cookie)</script>")
    options = SessionOptions(proxy_url=None, cookies=[cookie("login", "me", http_only=False)])
    async with browser.session(options) as session:
        assert await session.read_fresh(site.base, "p") == ("login=me",)


@pytest.mark.parametrize(
    "register",
    [
        "navigator.serviceWorker.register('/sw.js')",
        # Playwright replaces that method alone; the prototype's is still there.
        "ServiceWorkerContainer.prototype.register.call(navigator.serviceWorker, '/sw.js')",
    ],
)
async def test_service_workers_are_kept_out(drive: Drive, register: str) -> None:
    drive.site.page("", "/sw.js", content_type="text/javascript")
    drive.site.page("later", "/later")
    await drive.open(f"""<p id=o>none</p><script>
        navigator.serviceWorker && {register}.then(
          () => navigator.serviceWorker.getRegistrations()).then(
          (r) => {{ o.textContent = r.length }})
        </script><button onclick="fetch('/later')">b</button>""")
    assert await drive.do(Click(element=drive.id("button", "b"))) is None
    await asyncio.to_thread(drive.site.wait_asked, "/later", 1)
    assert await drive.text("#o") in {"none", "0"}
    assert drive.site.asked("/sw.js") == 0


@pytest.mark.parametrize(
    ("call", "answer", "note"),
    [
        ("alert('x')", "undefined", 'alert "x" (accepted)'),
        ("confirm('Sure?')", "true", 'confirm "Sure?" (accepted)'),
        ("prompt('Name', 'Ann')", "Ann", 'prompt "Name" (accepted)'),
    ],
)
async def test_dialogs_are_accepted_and_noted(
    drive: Drive, call: str, answer: str, note: str
) -> None:
    await drive.open(f"<button onclick=\"o.textContent={call} + ''\">b</button><p id=o></p>")
    assert await drive.do(Click(element=drive.id("button", "b"))) is None
    assert await drive.text("#o") == answer
    assert drive.drain().dialogs == (note,)


async def test_a_dialog_while_the_page_loads_hangs_nothing(drive: Drive) -> None:
    await drive.open("<script>alert('hello')</script><p>after")
    assert await drive.text("p") == "after"


async def test_a_page_that_asks_to_stay_is_left(drive: Drive) -> None:
    await drive.open(
        "<input aria-label=i><script>onbeforeunload = (e) => e.preventDefault()</script>"
    )
    await drive.do(Click(element=drive.id("textbox", "i")))
    assert await drive.do(Goto(url=drive.site.page("<p>two", "/two"))) is None
    assert await drive.text("p") == "two"


async def test_a_screenshot_is_a_webp_of_the_viewport(drive: Drive) -> None:
    await drive.open("<div style='height:3000px'>tall</div>")
    image = await drive.session.screenshot()
    assert image is not None
    assert (image[:4], image[8:12]) == (b"RIFF", b"WEBP")
    assert image[12:16] == b"VP8X"  # whose canvas stands as width - 1 and height - 1
    width, height = (int.from_bytes(image[at : at + 3], "little") + 1 for at in (24, 27))
    assert (width, height) == (1280, 720)


async def test_reading_yields_visible_text_attributes_and_live_values(drive: Drive) -> None:
    await drive.open("""
        <p>one  <b>two</b><span hidden>no</span></p><a href="/x" class="c d">l</a><a>m</a>
        <input value=old><script>document.querySelector('input').value = 'new'</script>""")
    read = drive.session.read_own
    assert await read("p") == ("one two",)
    assert await read("a") == ("l", "m")
    assert await read("a", "href") == ("/x",)
    assert await read("a", "class") == ("c d",)
    assert await read("input", "value") == ("new",)
    assert await read(".nowhere") == ()


async def test_a_selector_that_is_none_is_the_tasks_mistake(drive: Drive) -> None:
    await drive.open("<p>x")
    with pytest.raises(TaskError, match=r"the selector 'p\[' cannot be used"):
        await drive.session.read_own("p[")
    with pytest.raises(TaskError, match="cannot be used"):
        await drive.session.read_fresh(drive.site.base, "p[")


async def test_fetching_gives_status_and_body_as_they_came(drive: Drive) -> None:
    url = drive.site.page('{"é": [1]}', "/api", content_type="application/json", status=404)
    assert await drive.session.fetch_text(url) == (404, '{"é": [1]}')


async def test_reading_where_nobody_answers_is_a_browser_error(drive: Drive) -> None:
    with pytest.raises(BrowserError, match="cannot be opened"):
        await drive.session.read_fresh("http://127.0.0.1:1/", "p")


async def test_the_status_of_each_tabs_document_is_known(drive: Drive) -> None:
    wall = drive.site.page("no entry", "/wall", status=403)
    await drive.open("<p>fine")
    await drive.do(Goto(url=wall))
    assert [status for _, status in drive.session.answers()] == [403]
