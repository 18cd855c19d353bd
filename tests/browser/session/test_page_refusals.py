"""Documents come back byte for byte; what cannot be captured or restored is refused by name."""

from __future__ import annotations

import asyncio
import gzip
import re
import threading
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio
from browser.session.branches import (
    SHOP,
    Branches,
    Driven,
    equal_branch,
)
from browser.session.conftest import Answer, Site
from playwright.async_api import Page

from arena_core.actions import (
    Click,
    Goto,
    KeyDown,
)
from arena_core.errors import StateError
from orchestrator.browser.process.launch import Browser
from orchestrator.browser.session.page_ids import PageIds, PageReading
from orchestrator.browser.tabs import tabbar
from orchestrator.browser.tabs.elements import ElementIds
from orchestrator.browser.tabs.tab import OpenTab

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


@pytest_asyncio.fixture(loop_scope="session")
async def branches(browser: Browser, outer_site: Site) -> AsyncIterator[Branches]:
    async with Branches(browser, outer_site).running() as made:
        yield made


async def test_without_its_recording_a_page_is_not_asked_of_the_site(branches: Branches) -> None:
    branches.site.page("<p>here")
    source = await branches.session()
    await source.start(f"{SHOP}/")
    state = await source.session.capture()
    document = state.documents[0]
    forged = replace(state, tabs=(replace(state.tabs[0], document=replace(document, body=b"x")),))
    forgetful = await branches.session(state, has_documents=False)
    other = await branches.session(state)
    object.__setattr__(other.session._options, "state", forged)
    for branch in (forgetful, other):
        with pytest.raises(StateError, match=r"no recording of http://shop\.arena\.test/ "):
            await branch.session.restore()
    assert branches.site.asked("/") == 1
    plain_session = await branches.session()
    with pytest.raises(StateError, match="opened without a state"):
        await plain_session.session.restore()


async def until_under_way(source: Driven, what: str) -> None:
    """Return when the browser has told of that, whatever else it told of before."""
    traffic = source.session._bar.current.traffic
    async with asyncio.timeout(30):
        while re.search(what, traffic.under_way() or "") is None:  # noqa: ASYNC110  no event is of all of them
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("page", "why"),
    [
        ("<script>new WebSocket(`ws://${location.host}/held`)</script>", "a WebSocket is open"),
        ("<script>new EventSource('/held')</script>", "an event stream is open"),
        ("<script>fetch('/held')</script>", r"a request is in flight: GET \S+/held"),
        (
            "<script>fetch('/held', {method: 'POST', body: 'x'.repeat(9)})</script>",
            r"a request is in flight: POST \S+/held",
        ),
        ("<iframe src=/file></iframe>", "a download is under way"),
    ],
)
async def test_what_is_under_way_is_named(branches: Branches, page: str, why: str) -> None:
    site = branches.site
    site.answers["/held"] = Answer(
        body=b"late", content_type="text/event-stream", gate=threading.Event()
    )
    site.answers["/file"] = Answer(
        body=b"x" * 9,
        content_type="application/zip",
        headers={"content-disposition": "attachment; filename=a.zip"},
        gate=threading.Event(),
        begins=True,
    )
    site.page(page)
    source = await branches.session()
    await source.session.open([f"{SHOP}/"])
    await until_under_way(source, why)
    with pytest.raises(StateError, match=f"tab 0 .* cannot be captured: {why}"):
        await source.session.capture()
    for held in ("/held", "/file"):
        gate = site.answers[held].gate
        assert gate is not None
        gate.set()


async def test_once_a_download_has_ended_the_page_is_captured(branches: Branches) -> None:
    site = branches.site
    gate = threading.Event()
    site.answers["/file"] = Answer(
        body=b"x" * 9,
        headers={"content-disposition": "attachment; filename=a.zip"},
        gate=gate,
        begins=True,
    )
    site.page("<a href=/file>get</a>")
    source = await branches.session()
    await source.start(f"{SHOP}/")
    await source.do(Click(element=source.id("link")))
    await until_under_way(source, "a download is under way")
    with pytest.raises(StateError, match="a download is under way"):
        await source.session.capture()
    ended = asyncio.Event()
    source.session._bar.current.channel.on(
        "Page.downloadProgress",
        lambda event: ended.set() if event["state"] == "completed" else None,
    )
    gate.set()
    async with asyncio.timeout(30):
        await ended.wait()
    await equal_branch(branches, source)


async def test_a_page_that_changes_while_it_is_read_is_not_captured(
    branches: Branches, monkeypatch: pytest.MonkeyPatch
) -> None:
    branches.site.page("<p>x")
    branches.site.page("y", "/later")
    source = await branches.session()
    await source.start(f"{SHOP}/")
    read = PageReading.ids_of

    async def read_late(self: PageReading, tab: OpenTab, ids: ElementIds) -> PageIds:
        await tab.frames.evaluate(tab.frames.main, "fetch('/later').then((one) => one.text())")
        return await read(self, tab, ids)

    with monkeypatch.context() as late:
        late.setattr(PageReading, "ids_of", read_late)
        with pytest.raises(StateError, match="changed while they were read"):
            await source.session.capture()
    await equal_branch(branches, source)


async def test_an_open_dialog_is_named(branches: Branches, monkeypatch: pytest.MonkeyPatch) -> None:
    def leave_open(page: Page, _: object) -> None:
        page.on("dialog", lambda _: None)

    monkeypatch.setattr(tabbar, "answer_dialogs", leave_open)
    branches.site.page("<button onclick='setTimeout(() => alert(1))'>b</button>")
    source = await branches.session()
    await source.start(f"{SHOP}/")
    opened = asyncio.Event()
    channel = source.session._bar.current.channel
    channel.on("Page.javascriptDialogOpening", lambda _: opened.set())
    await source.session.act(Click(element=source.id("button")))
    async with asyncio.timeout(30):
        await opened.wait()
    with pytest.raises(StateError, match="a native dialog is open"):
        await source.session.capture()
    await channel.send("Page.handleJavaScriptDialog", {"accept": True})
    await source.rest()
    await source.session.capture()


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (
            "w = window.open('about:blank').document; w.write('<p>made'); w.close()",
            "the response that it was made of is not known",
        ),
        ("window.open('/two')", "the response that it was made of is not known"),
        ("location = window.URL.createObjectURL(new Blob(['x']))", "is not known"),
    ],
)
async def test_a_page_whose_response_is_not_known_is_refused(
    branches: Branches, script: str, why: str
) -> None:
    branches.site.page(f'<button onclick="{script}">b</button>')
    branches.site.page("<p>two", "/two")
    source = await branches.session()
    await source.start(f"{SHOP}/")
    await source.do(Click(element=source.id("button")))
    with pytest.raises(StateError, match=why):
        await source.session.capture()


async def test_what_a_script_wrote_into_a_blank_page_is_refused(branches: Branches) -> None:
    source = await branches.session()
    await source.session.capture()
    await source.run("function () { this.body.innerHTML = '<p>made'; return 1; }")
    with pytest.raises(StateError, match="a script wrote it into a blank page"):
        await source.session.capture()


async def test_a_page_that_no_response_made_is_refused(branches: Branches) -> None:
    source = await branches.session()
    assert await source.session.act(Goto(url="https://shop.arena.test/")) is not None
    with pytest.raises(StateError, match="cannot be captured"):
        await source.session.capture()


async def test_held_keys_are_named(branches: Branches) -> None:
    branches.site.page("<p>x")
    source = await branches.session()
    await source.start(f"{SHOP}/")
    await source.do(KeyDown(key="Shift"))
    with pytest.raises(StateError, match="Shift is held down"):
        await source.session.capture()


EURO = "<title>é € ß</title><p>naïve café</p>"


@pytest.mark.parametrize(
    ("body", "how"),
    [
        (gzip.compress(EURO.encode(), mtime=0), {"headers": {"content-encoding": "gzip"}}),
        (EURO.encode(), {"chunked": True}),
        (EURO.encode("cp1252"), {"content_type": "text/html; charset=ISO-8859-1"}),
        (("<meta charset=latin1>" + EURO).encode("cp1252"), {"content_type": "text/html"}),
        (b"\xef\xbb\xbf" + EURO.encode(), {"content_type": "text/html"}),
        (b"\xff\xfe" + EURO.encode("utf-16-le"), {"content_type": "text/html"}),
        ("<p>日本語 ソ表".encode("cp932"), {"content_type": "text/html; charset=Shift_JIS"}),
        ("<p>привет".encode("koi8-r"), {"content_type": "text/html; charset=koi8-r"}),
        (b'{"a": 1}', {"content_type": "application/json"}),
        (b"<p>plain & simple", {"content_type": "text/plain"}),
        (b"<r><a>1</a></r>", {"content_type": "application/xml"}),
        (b"", {}),
        (b"<p>caf\xe9 \x81 " + "é".encode(), {}),
        ("<p>café".encode("cp1252"), {"content_type": "text/html"}),
        ("<p>café naïve".encode(), {"content_type": "text/html"}),
        (
            "<p>日本語 テスト".encode("iso2022_jp"),
            {"content_type": "text/html; charset=iso-2022-jp"},
        ),
        ("<p>中文".encode("gb18030"), {"content_type": "text/html; charset=gb18030"}),
    ],
)
async def test_documents_come_back_byte_for_byte(
    branches: Branches, body: bytes, how: dict[str, object]
) -> None:
    branches.site.answers["/"] = Answer(body=body, **how)  # type: ignore[arg-type]
    source = await branches.session()
    await source.start(f"{SHOP}/")
    branch = await equal_branch(branches, source)
    document = (await branch.session.capture()).documents[0]
    assert document.body == (gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body)
    asked = "function () { return [this.characterSet, this.contentType, this.compatMode]; }"
    assert await source.run(asked) == await branch.run(asked)


async def test_a_document_whose_bytes_cannot_be_told_is_refused(branches: Branches) -> None:
    branches.site.answers["/"] = Answer(
        body=b"<p>\x81", content_type="text/html; charset=windows-1252"
    )
    source = await branches.session()
    await source.start(f"{SHOP}/")
    with pytest.raises(StateError, match="is not valid windows-1252"):
        await source.session.capture()
