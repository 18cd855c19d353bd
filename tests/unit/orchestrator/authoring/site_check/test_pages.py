from __future__ import annotations

import pytest
from quick_cases import ONE_QUICK
from support.sites.standing_web import Web

from orchestrator.authoring.site_check.pages import broken_pages, outside_requests

HOSTS = {"notes.arena.test", "shop.arena.test"}
FRONT = '<a href="/one">1</a><a href="two?x=1#here">2</a><a href="/three">3</a>'


def site_of_four_pages(web: Web) -> None:
    web.page("/", FRONT)
    for path in ("/one", "/two?x=1", "/three"):
        web.page(path, '<a href="/">home</a><a href="mailto:a@b.example">write</a>')


async def test_a_site_whose_links_answer_has_no_breach(web: Web) -> None:
    site_of_four_pages(web)
    assert await broken_pages(web.replica(), HOSTS) == ()


async def test_a_dead_link_of_a_deeper_page_is_a_breach_with_the_page_it_stands_on(
    web: Web,
) -> None:
    site_of_four_pages(web)
    web.page("/three", '<a href="/gone">gone</a>')
    (breach,) = await broken_pages(web.replica(), HOSTS)
    assert breach.startswith("http://notes.arena.test/gone answers 404")
    assert breach.endswith("from http://notes.arena.test/three)")


async def test_a_page_that_fails_is_a_breach(web: Web) -> None:
    site_of_four_pages(web)
    web.page("/one", "<p>broken", status=500)
    assert "http://notes.arena.test/one answers 500" in await broken_pages(web.replica(), HOSTS)


@ONE_QUICK
@pytest.mark.parametrize(
    "load",
    [
        '<img src="http://cdn.example/a.png">',
        '<img srcset="/a.png 1x, //cdn.example/a.png 2x">',
        '<script src="https://cdn.example/a.js"></script>',
        '<link rel="preload stylesheet" href="//cdn.example/a.css">',
        '<iframe src="http://cdn.example/"></iframe>',
        "<style>@import 'http://cdn.example/a.css';</style>",
        '<p style="background: url(http://cdn.example/a.png)">',
        '<base href="http://cdn.example/"><img src="a.png">',
        '<img src="http://shop.arena.test/a.png">',
    ],
)
async def test_what_a_page_loads_from_another_host_is_a_breach(web: Web, load: str) -> None:
    site_of_four_pages(web)
    web.page("/a.png", "", kind="image/png")
    web.page("/two?x=1", load)
    breaches = await broken_pages(web.replica(), HOSTS)
    assert any("/two?x=1 loads http" in breach for breach in breaches), breaches


async def test_what_a_style_sheet_loads_from_another_host_is_a_breach(web: Web) -> None:
    web.page("/", '<link rel="stylesheet" href="/look.css">')
    web.page("/look.css", "body { background: url('//cdn.example/a.png') }", kind="text/css")
    assert await outside_requests(web.replica(warm=["/"])) == (
        "http://notes.arena.test/look.css loads http://cdn.example/a.png",
    )


async def test_a_link_may_lead_to_another_site_and_to_the_web_but_to_no_host_that_is_not_there(
    web: Web,
) -> None:
    site_of_four_pages(web)
    links = ("http://shop.arena.test/", "https://example.com/", "http://mall.arena.test/")
    web.page("/one", "".join(f'<a href="{link}">x</a>' for link in links))
    (breach,) = await broken_pages(web.replica(), HOSTS)
    assert breach.endswith("links to http://mall.arena.test/, which belongs to no site")


async def test_a_link_that_sends_on_to_another_site_is_none(web: Web) -> None:
    site_of_four_pages(web)
    web.page("/one", "", status=302, headers={"Location": "http://shop.arena.test/"})
    web.page("/", FRONT + '<a href="/four">4</a>')
    web.page("/four", "<p>four")
    assert await broken_pages(web.replica(), HOSTS) == ()
