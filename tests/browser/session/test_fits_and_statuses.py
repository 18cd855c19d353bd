"""What is noted of visited pages' statuses, and of how elements acted on fit a task's selectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from arena_core.actions import Click, Goto
from orchestrator.browser.session.context import SessionOptions

if TYPE_CHECKING:
    from browser.session.conftest import Drive, Site

    from orchestrator.browser.process.launch import Browser

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


def statuses(drive: Drive) -> list[tuple[str, int | None]]:
    visits = drive.session.drain().visits
    return [(one.url.removeprefix(drive.site.base), one.status) for one in visits]


async def test_an_error_page_is_visited_with_its_status(drive: Drive) -> None:
    drive.site.page("<p>gone", "/gone", status=404)
    drive.site.page("", "/moved", status=302, headers={"location": "/gone"})
    drive.site.page("<script>history.pushState(0, '', '/order/7')</script>", "/broken", status=500)
    drive.site.page("<p>fine", "/fine")
    await drive.open("<p>start")
    assert drive.session.status == 200
    for path in ("/gone", "/moved", "/broken", "/fine"):
        await drive.do(Goto(url=drive.site.base + path))
    assert statuses(drive) == [
        ("/gone", 404),
        ("/gone", 404),
        ("/broken", 500),
        ("/order/7", 500),
        ("/fine", 200),
    ]


async def test_a_page_that_refuses_says_when_to_ask_again_and_no_other_does(drive: Drive) -> None:
    limited = {"Retry-After": "7" * 500}
    drive.site.page("<p>slow down", "/limited", status=429, headers=limited)
    drive.site.page("<p>back soon", "/down", status=503, headers={"retry-after": "120"})
    drive.site.page("<p>fine", "/fine", headers=limited)
    await drive.open("<p>start")
    said: list[str | None] = []
    for path in ("/limited", "/down", "/fine"):
        await drive.do(Goto(url=drive.site.base + path))
        said.append(drive.session.retry_after)
    assert said == ["7" * 100, "120", None]


async def test_so_is_one_in_a_tab_that_a_page_opens(drive: Drive) -> None:
    drive.site.page("<p>gone", "/gone", status=404)
    await drive.open("<button onclick=\"window.open('/gone')\">open</button>")
    await drive.do(Click(element=drive.id("button", "open")))
    assert statuses(drive) == [("/gone", 404)]
    assert drive.session.status == 404


async def test_an_element_is_told_by_selectors_and_by_the_ancestors_of_what_they_find(
    browser: Browser, site: Site, drive: Drive
) -> None:
    selectors = (".icon", "#other", "p[", "button")
    async with browser.session(SessionOptions(proxy_url=None, selectors=selectors)) as session:
        own = type(drive)(session, site)
        await own.open(
            "<script>Array.prototype.map = () => []; Document.prototype.querySelectorAll = () => []"
            "</script><i class=icon></i><button><span><b class=icon>Buy</b></span></button>"
            "<p id=other>x"
        )
        await own.do(Click(element=own.id("button", "Buy")))
        [acted] = own.drain().acted
    assert [(one.selector, one.distance, one.first) for one in acted.fits] == [
        (".icon", 2, None),
        ("#other", None, None),
        ("p[", None, None),
        ("button", 0, 0),
    ]
