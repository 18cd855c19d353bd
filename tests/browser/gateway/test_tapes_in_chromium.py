from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from browser.gateway.lab import Lab
from support.tapes.making import FORM, HTML, WIKI, made, page, replayed

from evaluators.tape_misses import MissedBy
from orchestrator.gateway.policy import Route
from orchestrator.gateway.taped import TapedHost
from orchestrator.gateway.tapes.exchange import TapedExchange
from orchestrator.gateway.tapes.replay import TapeReplay
from orchestrator.gateway.tapes.wacz import open_tape
from orchestrator.gateway.tapes.writing import import_tape

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

HOST = WIKI.removeprefix("https://")
FOREIGN = Path(__file__).parents[2] / "support" / "tapes" / "foreign"
SHOP = "http://shop.example.test"
KETTLE = (
    "<!DOCTYPE html><title>Kettle</title><link rel=stylesheet href=/style.css>"
    "<h1>Kettle</h1><a id=next href=/wiki/Tea>Tea</a> <a id=gone href=/wiki/Gone>Gone</a>"
    "<form action=/search><input name=q value=tea><button>Search</button></form>"
    "<script>fetch('/api/facts').then(r => r.text()).then(t => document.title += t)</script>"
)


def recorded() -> tuple[TapedExchange, ...]:
    moved = (("Location", "/wiki/Kettle"),)
    policy = (*HTML, ("Content-Security-Policy", "script-src 'none'"))
    coded = (*HTML, ("Content-Encoding", "gzip"))
    text = (("Content-Type", "text/plain"),)
    return (
        TapedExchange(method="GET", url=f"{WIKI}/", status=302, headers=moved, body=b""),
        TapedExchange(
            method="GET",
            url=f"{WIKI}/wiki/Kettle",
            status=200,
            headers=coded,
            body=gzip.compress(KETTLE.encode()),
        ),
        TapedExchange(
            method="GET",
            url=f"{WIKI}/style.css",
            status=200,
            headers=(("Content-Type", "text/css"),),
            body=b"h1 { color: rgb(1, 2, 3) }",
        ),
        TapedExchange(
            method="GET", url=f"{WIKI}/api/facts", status=200, headers=text, body=b" boils"
        ),
        page("/wiki/Tea", "Tea"),
        TapedExchange(
            method="GET",
            url=f"{WIKI}/strict",
            status=200,
            headers=policy,
            body=b"<title>strict</title><script>document.title = 'ran'</script>",
        ),
        TapedExchange(
            method="POST",
            url=f"{WIKI}/answer",
            status=200,
            headers=HTML,
            body=b"<title>posted</title>",
            sent=FORM,
            sent_body=b"a=1&b=2",
        ),
        page("/", "The shop", origin=SHOP),
    )


@contextmanager
def routes(lab: Lab, folder: Path) -> Iterator[tuple[Route, ...]]:
    def tls() -> object:
        return lab.authority.server_context(HOST, folder)

    with replayed(folder, *recorded()) as replay:
        wiki = TapedHost(replay, tls=tls)  # type: ignore[arg-type]
        yield (
            Route(site="wiki", live=False, host=HOST, port=443, connect_to=None, taped=wiki),
            Route(
                site="shop",
                live=False,
                host=SHOP.removeprefix("http://"),
                port=80,
                connect_to=None,
                taped=TapedHost(replay),
            ),
        )


async def test_a_taped_site_opens_over_tls_with_all_its_parts(lab: Lab, tmp_path: Path) -> None:
    with routes(lab, tmp_path) as taped:
        gateway = await lab.gateway(*taped)
        shown = await lab.page(gateway)

        await shown.goto(f"{WIKI}/")

        assert shown.url == f"{WIKI}/wiki/Kettle"
        await shown.wait_for_function("document.title === 'Kettle boils'")
        colour = await shown.evaluate("getComputedStyle(document.querySelector('h1')).color")
        assert colour == "rgb(1, 2, 3)"
        await shown.click("#next")
        await shown.wait_for_function("document.title === 'Tea'")
        assert {one.missed for one in gateway.journal.since(0) if one.site} <= {
            None,
            MissedBy.PART,  # the icon
        }


async def test_a_taped_site_opens_over_plain_http(lab: Lab, tmp_path: Path) -> None:
    with routes(lab, tmp_path) as taped:
        shown = await lab.page(await lab.gateway(*taped))

        await shown.goto(f"{SHOP}/")

        assert await shown.title() == "The shop"


async def test_forms_are_matched_by_body_and_policies_hold(lab: Lab, tmp_path: Path) -> None:
    with routes(lab, tmp_path) as taped:
        shown = await lab.page(await lab.gateway(*taped))
        await shown.goto(f"{WIKI}/strict")
        assert await shown.title() == "strict"

        async def post(body: str) -> int:
            await shown.goto(f"{WIKI}/wiki/Tea")
            return int(
                await shown.evaluate(
                    "body => fetch('/answer', {method: 'POST', body,"
                    " headers: {'Content-Type': 'application/x-www-form-urlencoded'}})"
                    ".then(r => r.status)",
                    body,
                )
            )

        assert await post("a=1&b=2") == 200
        assert await post("b=2&a=1") == 200
        assert await post("a=1&b=3") == 504


async def test_a_miss_says_what_it_is_and_who_led_there(lab: Lab, tmp_path: Path) -> None:
    with routes(lab, tmp_path) as taped:
        gateway = await lab.gateway(*taped)
        shown = await lab.page(gateway)

        answer = await shown.goto(f"{WIKI}/wiki/Nonsense")
        assert answer is not None
        assert answer.status == 504
        assert "tape_miss" in await shown.inner_text("body")
        await shown.goto(f"{WIKI}/wiki/Kettle")
        async with shown.expect_navigation():
            await shown.click("#gone")
        await shown.goto(f"{WIKI}/wiki/Kettle")
        async with shown.expect_navigation():
            await shown.click("button")

        missed = {
            one.url.removeprefix(WIKI): one.missed
            for one in gateway.journal.since(0)
            if one.missed is not None and one.missed is not MissedBy.PART
        }
        assert missed == {
            "/wiki/Nonsense": MissedBy.ADDRESS,
            "/wiki/Gone": MissedBy.PAGE,
            "/search?q=tea": MissedBy.PAGE,
        }


async def test_no_page_that_was_made_up_excuses_a_miss(lab: Lab, tmp_path: Path) -> None:
    with routes(lab, tmp_path) as taped:
        gateway = await lab.gateway(*taped)
        shown = await lab.page(gateway)

        await shown.goto(f"data:text/html,<a href={WIKI}/wiki/Made>up</a>")
        await shown.click("a")
        await shown.wait_for_url(f"{WIKI}/wiki/Made")
        await shown.reload()
        await shown.goto(f"{WIKI}/wiki/Tea")
        await shown.evaluate(
            "document.body.append(Object.assign(document.createElement('iframe'),{src:'/frame'}))"
        )
        await shown.frame_locator("iframe").locator("h1").wait_for()

        missed = {
            (one.url.removeprefix(WIKI), one.missed)
            for one in gateway.journal.since(0)
            if one.missed not in {None, MissedBy.PART}
        }
        assert missed == {("/wiki/Made", MissedBy.ADDRESS), ("/frame", MissedBy.DATA)}


async def test_no_service_worker_comes_from_a_tape(lab: Lab, tmp_path: Path) -> None:
    with routes(lab, tmp_path) as taped:
        shown = await lab.page(await lab.gateway(*taped))
        await shown.goto(f"{WIKI}/wiki/Tea")

        refused = await shown.evaluate(
            "navigator.serviceWorker.register('/api/facts').then(() => '', e => e.name)"
        )

        assert refused


async def test_a_frozen_page_has_the_clock_of_its_recording(lab: Lab, tmp_path: Path) -> None:
    odd = "<title>odd</title><script>document.title = [new Date().getFullYear(), Math.random()]"
    exchange = TapedExchange(
        method="GET",
        url=f"{SHOP}/clock",
        status=200,
        headers=HTML,
        body=f"{odd}</script>".encode(),
        date="2019-05-06T07:08:09Z",
    )
    with open_tape(made(tmp_path, exchange)) as tape:
        frozen = Route(
            site="shop",
            live=False,
            host=SHOP.removeprefix("http://"),
            port=80,
            connect_to=None,
            taped=TapedHost(TapeReplay(tape, is_frozen=True)),
        )
        shown = await lab.page(await lab.gateway(frozen))
        titles = set()
        for _ in range(2):
            await shown.goto(f"{SHOP}/clock")
            titles.add(await shown.title())
            assert await shown.evaluate("Date().includes('2019') && new Date(0).getTime() === 0")
            assert await shown.evaluate("new Date() instanceof Date && Date.now() > 1.5e12")
            assert await shown.locator("script").count() == 1

        assert len(titles) == 1
        assert titles.pop().startswith("2019,0.")


@pytest.mark.parametrize("name", ["archiveweb", "browsertrix"])
async def test_an_archive_of_another_program_plays(lab: Lab, tmp_path: Path, name: str) -> None:
    site = "https://kettles.example"
    import_tape([FOREIGN / f"{name}.wacz"], tmp_path / "tape.wacz")
    with open_tape(tmp_path / "tape.wacz") as tape:
        host = TapedHost(
            TapeReplay(tape),
            tls=lambda: lab.authority.server_context("kettles.example", tmp_path),
        )
        route = Route(
            site="kettles",
            live=False,
            host="kettles.example",
            port=443,
            connect_to=None,
            taped=host,
        )
        shown = await lab.page(await lab.gateway(route))

        await shown.goto(f"{site}/old")

        await shown.wait_for_function("document.title === 'Ready'")
        assert shown.url == f"{site}/"
