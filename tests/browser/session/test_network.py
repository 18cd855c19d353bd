"""What a session records of its pages' requests."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from arena_core.actions import Click
from evaluators.network import Recording, RequestRecord, body_fields, body_json, reveals
from orchestrator.browser.session.context import SessionOptions

if TYPE_CHECKING:
    from browser.session.conftest import Drive, Site

    from orchestrator.browser.process.launch import Browser

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


@pytest_asyncio.fixture(loop_scope="session")
async def recorded(browser: Browser, site: Site, drive: Drive) -> AsyncIterator[Drive]:
    options = SessionOptions(
        proxy_url=None,
        logical=lambda url: url.replace(site.base, "shop:") if site.base in url else None,
        records=frozenset(Recording),
    )
    async with browser.session(options) as session:
        yield type(drive)(session, site)


async def requests(drive: Drive) -> tuple[RequestRecord, ...]:
    found = await drive.session.network()
    assert found is not None
    assert found.fault is None
    assert [one.index for one in found.requests] == list(range(len(found.requests)))
    return found.requests


async def sent(drive: Drive, path: str) -> RequestRecord:
    """The one request for a path."""
    [one] = [r for r in await requests(drive) if (r.logical or "").startswith(f"shop:{path}")]
    return one


async def test_nothing_is_recorded_where_nobody_asks(drive: Drive) -> None:
    await drive.open("<p>here")
    assert await drive.session.network() is None


async def test_a_form_its_redirect_and_the_step_that_sent_it(recorded: Drive, site: Site) -> None:
    site.page("<p>thanks", "/thanks")
    site.page("", "/buy", status=302, headers={"location": "/thanks", "set-cookie": "done=yes"})
    await recorded.open(
        "<form method=post action=/buy><input name=item value='tea &amp; cake'>"
        "<input name=password value=hunter2><button>Buy</button></form>"
    )
    await recorded.do(Click(element=recorded.id("button", "Buy")))
    buy, thanks = await sent(recorded, "/buy"), await sent(recorded, "/thanks")
    assert (buy.method, buy.status, buy.step, buy.tab) == ("POST", 302, 1, 0)
    assert buy.is_navigation
    assert (thanks.method, thanks.status, thanks.redirected_from) == ("GET", 200, buy.index)
    assert buy.response_headers["set-cookie"].startswith("done=yes")
    assert thanks.request_headers["cookie"] == "done=yes"
    fields = dict(body_fields(buy) or ())
    assert fields["item"] == "tea & cake"
    assert reveals(fields["password"], "hunter2")
    assert "hunter2" not in buy.model_dump_json()


async def test_a_page_that_overrides_everything_hides_nothing(recorded: Drive, site: Site) -> None:
    await recorded.open(
        """<script>
        const real = window.fetch;
        window.fetch = () => Promise.resolve(new Response("{}"));
        XMLHttpRequest.prototype.send = () => {};
        JSON.stringify = () => "nothing";
        Array.prototype.map = () => [];
        real("/api", {method: "POST", body: '{"a": [1, 2], "token": "t0k3n"}',
                      headers: {"content-type": "application/json", "x-api-key": "k3y"}});
        fetch("/never");
        </script>"""
    )
    api = await sent(recorded, "/api")
    found = body_json(api)
    assert isinstance(found, dict)
    assert found["a"] == [1, 2]
    assert reveals(str(found["token"]), "t0k3n")
    assert reveals(api.request_headers["x-api-key"], "k3y")
    assert (api.status, api.resource_type, api.response_body) == (404, "fetch", "nothing")
    assert not [one for one in await requests(recorded) if one.url.endswith("/never")]


WRITE = "fetch('BASE/write', {method: 'POST', mode: 'no-cors', body: 'x=1'})"


@pytest.mark.parametrize(
    "page",
    [
        f'<iframe srcdoc="<script>{WRITE}</script>"></iframe>',
        "<iframe src=OTHER/frame></iframe>",
        "<script>new Worker('/worker.js')</script>",
        "<script>navigator.sendBeacon('/write', 'x=1')</script>",
        "<form id=f method=post action=/write target=_blank><input name=x value=1></form>BUTTON",
    ],
    ids=["frame", "frame of another origin", "worker", "beacon", "popup"],
)
async def test_whoever_sends_it(recorded: Drive, site: Site, other_site: Site, page: str) -> None:
    write = WRITE.replace("BASE", site.base)
    other_site.page(f"<script>{write}</script>", "/frame")
    site.page(write, "/worker.js", content_type="text/javascript")
    page = page.replace("OTHER", other_site.base).replace("BASE", site.base)
    await recorded.open(page.replace("BUTTON", "<button onclick=f.submit()>go</button>"))
    if recorded.shows("button"):
        await recorded.do(Click(element=recorded.id("button", "go")))
    await asyncio.to_thread(site.wait_asked, "/write", 1)  # a worker sends in its own time
    one = await sent(recorded, "/write")
    assert (one.method, one.request_body, one.status) == ("POST", "x=1", 404)


async def test_a_request_that_fails_has_no_status(recorded: Drive) -> None:
    await recorded.open("<script>fetch('http://127.0.0.1:1/x').catch(() => 0)</script>")
    [one] = [one for one in await requests(recorded) if one.url.endswith("/x")]
    assert (one.status, one.logical, one.failed) == (None, None, "net::ERR_UNSAFE_PORT")


async def test_a_long_body_is_not_kept_and_its_length_is_known(recorded: Drive) -> None:
    await recorded.open(
        "<script>fetch('/write', {method: 'POST', body: 'z'.repeat(10e6)})</script>"
    )
    one = await sent(recorded, "/write")
    assert (one.request_body, one.request_bytes) == (None, 10_000_000)


async def test_what_is_read_for_a_check_is_no_request_of_the_agent(
    recorded: Drive, site: Site
) -> None:
    await recorded.open("<p>here")
    site.page("<img src=/picture>", "/check")
    await recorded.session.read_fresh(site.base + "/check", "p")
    assert [one.logical for one in await requests(recorded)] == ["shop:/"]


async def test_an_answer_that_comes_later_is_waited_for(recorded: Drive, site: Site) -> None:
    gate = threading.Event()
    site.page("late", "/late", gate=gate)
    await recorded.session.open([site.page("<script>fetch('/late')</script>")])
    await asyncio.to_thread(site.wait_asked, "/late", 1)
    threading.Timer(0.5, gate.set).start()
    assert (await sent(recorded, "/late")).response_body == "late"


async def test_requests_have_the_times_that_the_browser_tells(recorded: Drive, site: Site) -> None:
    before = datetime.now(UTC) - timedelta(seconds=1)
    gate = threading.Event()
    site.page("<p>late", "/late", gate=gate)
    await recorded.open("<script>fetch('/late'); fetch('http://127.0.0.1:1/nobody')</script>")
    late = asyncio.get_running_loop().call_later(0.3, gate.set)
    await recorded.session.settle(5)
    assert late.when()
    found = await sent(recorded, "/late")
    assert found.sent_at is not None
    assert before <= datetime.fromisoformat(found.sent_at) <= datetime.now(UTC)
    assert found.answer_ms is not None
    assert found.end_ms is not None
    assert 0 < found.answer_ms <= found.end_ms
    [nobody] = [one for one in await requests(recorded) if one.url.endswith("/nobody")]
    assert nobody.sent_at is not None
    assert (nobody.answer_ms, nobody.end_ms) == (None, None)
