"""What arms do to real pages: the picture changes, the document and what is read of it do not."""

from __future__ import annotations

from typing import Final

import pytest
from aiohttp import web
from browser.gateway.lab import Lab
from playwright.async_api import Page
from playwright.async_api import TimeoutError as PlaywrightTimeout

from orchestrator.gateway.arm import Arm
from orchestrator.gateway.policy import Route, SocketAddress
from orchestrator.gateway.variations import Variation

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

URL: Final = "http://shop.arena.test"
BODY: Final = (
    "<h1>K\xe9ttles</h1><p>One of <b>three</b>.</p><a href=/next>Next</a><button>Buy</button>"
    "<script>document.title += ` ${document.scripts.length}`</script>"
)
# The charset comes late, so that a browser must still find it behind what is put before it.
HEAD: Final = f"<!DOCTYPE html><html lang=en><head>{'<!-- x -->' * 50}<meta charset=iso-8859-1>"
TITLE: Final = "<title>Kettles</title></head><body>"
STRICT: Final = "default-src 'none'; require-trusted-types-for 'script'"


async def page_of(request: web.Request) -> web.Response:
    headers = {"Content-Type": "text/html"}
    if request.path == "/strict":
        headers["Content-Security-Policy"] = STRICT
    if request.path == "/sandboxed":
        headers["Content-Security-Policy"] = "sandbox"
    return web.Response(body=f"{HEAD}{TITLE}{BODY}".encode("latin-1"), headers=headers)


async def shop(lab: Lab, *vary: str) -> tuple[Page, Arm]:
    app = web.Application()
    app.router.add_get("/{path:.*}", page_of)
    upstream = await lab.serve(app)
    route = Route(site="shop", live=False, host="shop.arena.test", port=80, connect_to=upstream)
    arm = Arm(tuple(map(Variation.parse, vary)))
    return await lab.page(await lab.gateway(route, arm=arm)), arm


async def shown(page: Page) -> tuple[str, str, str, int]:
    """Return what a page is to those who read it: its markup, words and tree, and its height."""
    return (
        await page.content(),
        await page.inner_text("body"),
        await page.locator("body").aria_snapshot(),
        await page.evaluate("document.documentElement.getBoundingClientRect().height"),
    )


@pytest.mark.parametrize("path", ["/", "/strict"])
@pytest.mark.parametrize("vary", ["look=dark", "look=large"])
async def test_a_look_changes_the_picture_and_nothing_of_the_document(
    lab: Lab, vary: str, path: str
) -> None:
    clean, _ = await shop(lab)
    varied, arm = await shop(lab, vary)
    for page in (clean, varied):
        await page.goto(URL + path)
    before, after = await shown(clean), await shown(varied)
    assert before[:3] == after[:3]
    assert "Kéttles" in after[1]
    assert (before[3] < after[3]) is (vary == "look=large")
    assert await clean.screenshot() != await varied.screenshot()
    assert list(arm.effects.values()) == [1]


async def test_dark_is_dark(lab: Lab) -> None:
    clean, _ = await shop(lab)
    varied, _ = await shop(lab, "look=dark")
    light = []
    for page in (clean, varied):
        await page.goto(URL)
        light.append(await brightness(page))
    assert light[0] > 0.9
    assert light[1] < 0.2


async def brightness(page: Page) -> float:
    """Return the mean of a picture of the page, from black to white."""
    picture = await page.screenshot()
    blank = await page.context.browser.new_page()  # type: ignore[union-attr]
    try:
        return float(
            await blank.evaluate(
                """async bytes => {
                    const image = await createImageBitmap(new Blob([new Uint8Array(bytes)]));
                    const canvas = new OffscreenCanvas(image.width, image.height);
                    const drawn = canvas.getContext('2d');
                    drawn.drawImage(image, 0, 0);
                    const all = drawn.getImageData(0, 0, image.width, image.height).data;
                    return all.reduce((sum, one, at) => sum + (at % 4 < 3 ? one : 0), 0)
                        / (all.length * 0.75 * 255);
                }""",
                list(picture),
            )
        )
    finally:
        await blank.close()


async def test_a_page_that_lets_no_script_run_is_untouched_and_does_not_count(lab: Lab) -> None:
    clean, _ = await shop(lab)
    varied, arm = await shop(lab, "look=dark")
    for page in (clean, varied):
        await page.goto(f"{URL}/sandboxed")
    assert await clean.screenshot() == await varied.screenshot()
    assert list(arm.effects.values()) == [0]


@pytest.mark.parametrize("path", ["/", "/strict"])
@pytest.mark.parametrize("way", ["click", "Escape"])
async def test_a_notice_is_on_its_page_alone_and_can_be_dismissed(
    lab: Lab, path: str, way: str
) -> None:
    page, arm = await shop(lab, "page=notice@2")
    notice = page.get_by_role("dialog", name="Notice")
    await page.goto(f"{URL}{path}?first")
    assert not await notice.count()
    before = await shown(page)
    await page.goto(URL + path)
    await notice.get_by_text("terms of use").wait_for()
    assert (await shown(page))[1:3] == before[1:3]  # no word of it is the page's
    assert "terms of use" not in await page.content()
    assert await page.evaluate("document.body.lastElementChild.localName") == "script"
    button = notice.get_by_role("button", name="Dismiss notice")
    await (button.click() if way == "click" else button.press("Escape"))
    assert not await notice.count()
    assert (await shown(page))[:3] == before[:3]
    await page.get_by_role("link", name="Next").click() if path == "/" else await page.reload()
    assert not await notice.count()
    assert list(arm.effects.values()) == [1]


@pytest.mark.parametrize("path", ["/", "/strict"])
@pytest.mark.parametrize("choice", ["Accept all", "Reject all"])
async def test_a_wall_covers_its_page_until_one_of_its_buttons_is_clicked(
    lab: Lab, path: str, choice: str
) -> None:
    page, arm = await shop(lab, "page=wall@2")
    wall = page.get_by_role("dialog", name="Before you continue")
    await page.goto(f"{URL}{path}?first")
    assert not await wall.count()
    before = await shown(page)
    await page.goto(URL + path)
    await wall.wait_for()
    assert (await shown(page))[1] == before[1]  # no word of it is the page's
    assert "cookies" not in await page.content()
    assert await page.evaluate("document.body.lastElementChild.localName") == "script"
    for _ in range(3):  # a browser lets the first attempt to close a dialog be refused, no other
        await page.keyboard.press("Escape")
    for x, y in ((5, 5), (300, 5), (5, 400)):
        await page.mouse.click(x, y)
    link = page.get_by_role("link", name="Next", include_hidden=True)
    with pytest.raises(PlaywrightTimeout):
        await link.click(timeout=300)
    await link.focus()
    assert await page.evaluate("document.activeElement.localName") == "site-consent"
    assert await wall.is_visible()
    assert page.url == URL + path
    await wall.get_by_role("button", name=choice).click()
    assert not await wall.count()
    assert (await shown(page))[:3] == before[:3]
    await page.get_by_role("link", name="Next").click()
    await page.wait_for_url(f"{URL}/next")
    assert not await wall.count()
    assert list(arm.effects.values()) == [1]


@pytest.mark.parametrize("way", ["reload", "click", "goto"])
async def test_a_refused_page_says_so_and_shows_the_page_when_it_is_asked_again(
    lab: Lab, way: str
) -> None:
    page, arm = await shop(lab, "network=flaky@100", "look=dark")
    url = f"{URL}/kettles?page=2" + ("" if way == "goto" else "#reviews")
    response = await page.goto(url)
    assert response is not None
    assert response.status == 503
    assert await page.get_by_role("heading", name="Service unavailable").is_visible()
    assert await page.inner_text("body") == ""
    assert await page.evaluate("document.links.length") == 0
    again = page.get_by_role("link", name="Try again")
    await (
        again.click() if way == "click" else page.reload() if way == "reload" else page.goto(url)
    )
    await page.get_by_role("link", name="Next").wait_for()
    assert page.url == url
    assert list(arm.effects.values()) == [1, 1]


async def test_back_and_a_form_sent_again_are_what_they_were(lab: Lab) -> None:
    asked: list[str] = []

    async def form(request: web.Request) -> web.Response:
        asked.append(request.method)
        text = "<!DOCTYPE html><h1>%s</h1><form method=post><button>Go</button></form>"
        return web.Response(text=text % request.method, content_type="text/html")

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", form)
    route = Route(
        site="shop",
        live=False,
        host="shop.arena.test",
        port=80,
        connect_to=SocketAddress("127.0.0.1", (await lab.serve(app)).port),
    )
    arm = Arm((Variation.parse("look=dark"),))
    page = await lab.page(await lab.gateway(route, arm=arm))
    await page.goto(f"{URL}/form")
    await page.get_by_role("button").click()
    await page.get_by_role("heading", name="POST").wait_for()
    await page.goto(f"{URL}/other")
    await page.go_back()
    assert await page.inner_text("h1") == "POST"
    assert asked.count("POST") == 1
