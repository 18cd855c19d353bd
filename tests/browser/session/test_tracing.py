"""Playwright's traces of a session: what is in them, and that no page can tell."""

from __future__ import annotations

import io
import json
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from arena_core.actions import Click, Type
from arena_core.cookie import Cookie
from orchestrator.browser.session.context import SessionOptions

if TYPE_CHECKING:
    from browser.session.conftest import Drive, Site

    from orchestrator.browser.process.launch import Browser

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

# What a page can see of itself: a script in its world would add a name, or wrap a native function.
MIRROR = """<title>t</title><input aria-label=word><button onclick="
  const native = [
    CSSStyleSheet.prototype.insertRule, Element.prototype.attachShadow, history.pushState,
    EventTarget.prototype.addEventListener, window.fetch,
  ].map(one => one.toString().includes('[native code]'));
  document.querySelector('pre').textContent = JSON.stringify([
    Object.getOwnPropertyNames(window).sort(), native, document.visibilityState,
    [innerWidth, innerHeight, outerWidth, outerHeight, devicePixelRatio],
    document.documentElement.getAttributeNames(), document.styleSheets.length,
  ])">look</button><pre></pre>"""


async def looked(browser: Browser, site: Site, kind: type[Drive], *, traces: bool) -> Any:
    """What the page saw, and the traces."""
    cookie = Cookie(
        name="sessionid",
        value="c00kie-secret",
        domain="127.0.0.1",
        path="/",
        secure=False,
        http_only=True,
        expires=None,
    )
    options = SessionOptions(proxy_url=None, traces=traces, cookies=(cookie,))
    async with browser.session(options) as session:
        drive = kind(session, site)
        await drive.open(MIRROR)
        await drive.do(Type(element=drive.id("textbox", "word"), text="tea"))
        await drive.do(Click(element=drive.id("button", "look")))
        seen = await drive.text("pre")
        found = await session.traces()
        assert await session.traces() == {}
        return json.loads(seen), found


async def test_a_page_that_is_traced_sees_nothing_of_it(
    browser: Browser, site: Site, drive: Drive
) -> None:
    plain, nothing = await looked(browser, site, type(drive), traces=False)
    traced, found = await looked(browser, site, type(drive), traces=True)
    assert traced == plain
    assert nothing == {}
    assert list(found) == ["trace.zip"]


async def test_a_trace_has_steps_and_pictures_but_no_cookie_and_no_snapshot(
    browser: Browser, site: Site, drive: Drive
) -> None:
    _, found = await looked(browser, site, type(drive), traces=True)
    trace = zipfile.ZipFile(io.BytesIO(found["trace.zip"]))
    assert trace.testzip() is None
    events = [json.loads(line) for line in trace.read("trace.trace").splitlines()]
    assert events[0]["type"] == "context-options"
    groups = [one["title"] for one in events if one.get("method") == "tracingGroup"]
    assert groups == ["start pages", "step 1: type", "step 2: click"]
    frames = [one for one in events if one["type"] == "screencast-frame"]
    assert frames
    assert not [one for one in events if one["type"] in {"frame-snapshot", "resource-snapshot"}]
    assert trace.read("trace.network") == b""
    assert not any(b"c00kie-secret" in trace.read(name) for name in trace.namelist())


async def test_each_login_has_a_trace_of_its_own(browser: Browser, site: Site) -> None:
    options = SessionOptions(proxy_url=None, traces=True, apart={"shop: merchant": ()})
    async with browser.session(options) as session:
        await session.open([site.page("<p>a"), site.page("<p>b", "/b")], ["", "shop: merchant"])
        found = await session.traces()
    assert list(found) == ["trace.zip", "trace-2.zip"]
    for content in found.values():
        assert zipfile.ZipFile(io.BytesIO(content)).testzip() is None


async def test_a_session_that_closed_leaves_no_half_of_a_trace(
    browser: Browser, site: Site
) -> None:
    async with browser.session(SessionOptions(proxy_url=None, traces=True)) as session:
        await session.open([site.page("<p>a")])
    assert await session.traces() == {}
