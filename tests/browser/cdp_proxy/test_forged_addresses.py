"""An address that a script of the agent's set is no visit; one that the page itself went to is."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from typing import Any

import pytest
from support.agents.cdp_endpoint import HOST, Client, Endpoint

from evaluators.evidence import UrlVisit

pytestmark = pytest.mark.browser

CORNER = "style='position:fixed;left:0;top:0;width:99px;height:99px'"
APP = """
const router = {
  push: async to => { await null; history.pushState(0, '', to) },
  go: to => history.pushState(0, '', to),
  later: to => { const wire = new MessageChannel();
    wire.port1.onmessage = () => history.pushState(0, '', to); wire.port2.postMessage(1) },
};
link.onclick = async () => { await fetch('/data'); history.pushState(0, '', '/app') };
"""
PAGE = f"<title>Start</title><button id=link {CORNER}>Go</button><script>{APP}</script>"
INLINE = f"<button {CORNER} onclick=\"history.pushState(0, &quot;&quot;, '/handler')\">Go</button>"


async def press(client: Client) -> None:
    """Click into the upper left corner."""
    for kind in ("mousePressed", "mouseReleased"):
        await client.send(
            "Input.dispatchMouseEvent", type=kind, x=20, y=20, button="left", clickCount=1
        )


async def visits_to(endpoint: Endpoint, client: Client, path: str) -> tuple[list[UrlVisit], bool]:
    """Return the visits once the page is at an address, and whether that is forged."""
    await client.until("location.href", HOST + path)
    activity = await endpoint.settled()
    visits = [one for one in activity.visits if one.url == HOST + path]
    return visits, endpoint.session.is_forged


async def is_forged(endpoint: Endpoint, client: Client, path: str) -> bool:
    """Whether no visit to an address counts; key nodes and the end say the same."""
    visits, forged = await visits_to(endpoint, client, path)
    assert visits
    assert forged is not visits[-1].counts
    return forged


FORGERIES = {
    "push": "history.pushState(0, '', '/forged')",
    "replace": "history.replaceState(0, '', '/forged')",
    "hash": "location.hash = 'forged'",
    "named as a file of the site": (
        f"history.pushState(0, '', '/forged')\n//# sourceURL={HOST}/app.js"
    ),
    "evaluated": (
        f"new Function(\"history.pushState(0, '', '/forged')\\n//# sourceURL={HOST}/\")()"
    ),
    "timer": "setTimeout(() => history.pushState(0, '', '/forged'), 700)",
    "timer with a text": "setTimeout(\"history.pushState(0, '', '/forged')\", 50)",
    "timer without a frame": "setTimeout(history.pushState.bind(history, 0, '', '/forged'), 50)",
    "promise": "fetch('/data').then(() => history.pushState(0, '', '/forged'))",
    "javascript": "location.href = 'javascript:void history.pushState(0, null, \"/forged\")'",
    "the page's function": "router.go('/forged')",
    "the page's function, later": "router.push('/forged')",
    "the page's function, by a timer": "setTimeout(router.go, 50, '/forged')",
    "the page's function, by a promise": "Promise.resolve('/forged').then(router.go)",
    "the page's function, by a message": "router.later('/forged')",
    "a frame": (
        "const f = document.body.appendChild(document.createElement('iframe'));"
        "f.contentWindow.eval(\"parent.history.pushState(0, '', '/forged')\")"
    ),
    "a script element": (
        "const s = document.createElement('script');"
        "s.text = \"history.pushState(0, '', '/forged')\"; document.body.append(s)"
    ),
    "an event of its own": (
        "addEventListener('mine', () => history.pushState(0, '', '/forged'));"
        "dispatchEvent(new Event('mine'))"
    ),
    "deep": ("(function down(n) { n ? down(n - 1) : history.pushState(0, '', '/forged') })(300)"),
    "the watcher is silenced": (
        "navigation.addEventListener('navigate', one => one.stopImmediatePropagation(), true);"
        "history.pushState(0, '', '/forged')"
    ),
    "intercepted": (
        "navigation.addEventListener('navigate', one => one.intercept({handler: () => null}));"
        "location.href = '/forged'"
    ),
}
PLANTED = {
    "a listener": "link.onclick = () => history.pushState(0, '', '/forged')",
    "a listener that names a file": (
        "eval(\"link.onclick = () => history.pushState(0, '', '/forged')"
        f'\\n//# sourceURL={HOST}/")'
    ),
    "an attribute": "link.setAttribute('onclick', \"history.pushState(0, '', '/forged')\")",
    "an attribute under another address": (
        "history.replaceState(0, '', '/app.js');"
        "link.setAttribute('onclick', \"history.pushState(0, '', '/forged')\")"
    ),
    "a script element": (
        "const s = document.createElement('script');"
        "s.text = \"link.onclick = () => history.pushState(0, '', '/forged')\";"
        "document.body.append(s)"
    ),
    "a link that is intercepted": (
        "navigation.addEventListener('navigate', one => one.intercept({handler: () => null}));"
        f'document.body.innerHTML = "<a href=/forged {CORNER}>x</a>"'
    ),
}


@pytest.mark.parametrize("how", FORGERIES)
async def test_an_address_that_a_script_of_the_agents_set_is_no_visit(
    endpoint: Endpoint, how: str
) -> None:
    endpoint.site.page("x", "/data")
    await endpoint.open(PAGE)
    async with endpoint.page() as client:
        await client.evaluate(f"{{{FORGERIES[how]}\n}}")
        path = "/#forged" if how == "hash" else "/forged"
        assert await is_forged(endpoint, client, path)
    assert ("GET", f"{HOST}/forged") not in endpoint.site.asked


@pytest.mark.parametrize("how", PLANTED)
async def test_a_true_click_on_what_the_agent_planted_is_no_visit(
    endpoint: Endpoint, how: str
) -> None:
    await endpoint.open(PAGE)
    async with endpoint.page() as client:
        await client.evaluate(f"{{{PLANTED[how]}\n}}")
        await press(client)
        assert await is_forged(endpoint, client, "/forged")


async def test_scripts_of_other_worlds_and_of_new_documents_are_the_agents_too(
    endpoint: Endpoint,
) -> None:
    await endpoint.open(PAGE)
    forge = "history.pushState(0, '', '/forged')"
    async with endpoint.page() as client:
        await client.send("Page.enable")
        tree = await client.send("Page.getFrameTree")
        world = await client.send(
            "Page.createIsolatedWorld", frameId=tree["frameTree"]["frame"]["id"], worldName="mine"
        )
        await client.evaluate(forge, contextId=world["executionContextId"])
        assert await is_forged(endpoint, client, "/forged")
        await client.send("Page.navigate", url=f"javascript:void {forge.replace('forged', 'two')}")
        assert await is_forged(endpoint, client, "/two")
        await client.send(
            "Page.addScriptToEvaluateOnNewDocument", source=f"onclick = () => {forge}"
        )
        await client.send("Page.navigate", url=f"{HOST}/")
        await endpoint.settled()
        await client.evaluate("link.onclick = null")
        await press(client)
        assert await is_forged(endpoint, client, "/forged")


async def test_what_is_done_under_a_forged_address_was_done_on_no_page(endpoint: Endpoint) -> None:
    await endpoint.open(PAGE.replace("link.onclick", "link.ondblclick"))
    async with endpoint.page() as client:
        await client.evaluate("history.pushState(0, '', '/checkout')")
        await press(client)
        (acted,) = (await endpoint.settled()).acted
        assert (acted.name, acted.trusted, acted.logical) == ("Go", True, None)


async def test_what_follows_from_a_forged_address_is_forged(endpoint: Endpoint) -> None:
    script = "link.onclick = () => history.replaceState(0, '', location.pathname + '?sort=up')"
    await endpoint.open(f"<button id=link {CORNER}>Go</button><script>{script}</script>")
    async with endpoint.page() as client:
        await client.evaluate("history.pushState(0, '', '/forged')")
        await client.send("Page.navigate", url=f"{HOST}/forged#part")
        assert await is_forged(endpoint, client, "/forged#part")
        await press(client)
        assert await is_forged(endpoint, client, "/forged?sort=up")
        await client.evaluate("history.go(-2)")
        assert not await is_forged(endpoint, client, "/")
        await client.evaluate("history.go(2)")
        assert await is_forged(endpoint, client, "/forged?sort=up")


async def test_a_page_that_the_agent_made_up_is_no_visit(endpoint: Endpoint) -> None:
    endpoint.site.page("<title>Real</title>", "/real")
    await endpoint.open(PAGE)
    async with endpoint.page() as client:
        await client.send("Fetch.enable", patterns=[{"urlPattern": "*/forged"}])
        going = asyncio.create_task(client.send("Page.navigate", url=f"{HOST}/forged"))
        paused = (await client.event("Fetch.requestPaused"))["params"]["requestId"]
        script = f"<button id=link {CORNER}>x</button><script>{APP}</script>"
        body = b64encode(script.encode()).decode()
        html = [{"name": "content-type", "value": "text/html"}]
        answer: dict[str, Any] = {"responseCode": 200, "body": body, "responseHeaders": html}
        await client.send("Fetch.fulfillRequest", requestId=paused, **answer)
        await going
        assert await is_forged(endpoint, client, "/forged")
        endpoint.site.page("x", "/data")
        await press(client)
        assert await is_forged(endpoint, client, "/app")
        await client.send("Page.navigate", url=f"{HOST}/real")
        assert not await is_forged(endpoint, client, "/real")


async def test_where_a_pages_own_handler_leads_is_a_visit(endpoint: Endpoint) -> None:
    endpoint.site.page("x", "/data")
    await endpoint.open(PAGE)
    async with endpoint.page() as client:
        await client.evaluate("document.title")  # clients run scripts all the time
        await press(client)
        await client.evaluate("document.title")
        ((visit,), forged) = await visits_to(endpoint, client, "/app")
        assert (visit.same_document, visit.trusted, visit.confirmed) == (True, True, False)
        assert not forged
        await client.evaluate("history.back()")
        assert not await is_forged(endpoint, client, "/")


async def test_a_handler_in_the_markup_and_a_file_of_the_site_are_the_pages_own(
    endpoint: Endpoint,
) -> None:
    await endpoint.open(INLINE)
    async with endpoint.page() as client:
        await press(client)
        assert not await is_forged(endpoint, client, "/handler")
    endpoint.site.page("document.onclick = () => setTimeout(() => router('/file'), 50)", "/app.js")
    endpoint.site.page("globalThis.router = to => history.pushState(0, '', to)", "/lib.js")
    await endpoint.open(
        f"<button {CORNER}>Go</button><script src=/app.js></script><script src=/lib.js></script>"
    )
    async with endpoint.page() as client:
        await press(client)
        assert not await is_forged(endpoint, client, "/file")


async def test_where_a_page_leads_by_itself_is_a_visit(endpoint: Endpoint) -> None:
    await endpoint.open("<p>start")
    endpoint.site.page("<script>history.replaceState(0, '', '/canonical')</script>", "/other")
    async with endpoint.page() as client:
        await client.send("Page.navigate", url=f"{HOST}/other")
        assert not await is_forged(endpoint, client, "/canonical")


async def test_parts_of_a_page_are_visited_by_links_and_addresses(endpoint: Endpoint) -> None:
    await endpoint.open(f"<a href=#part {CORNER}>Part</a>")
    async with endpoint.page() as client:
        await press(client)
        assert not await is_forged(endpoint, client, "/#part")
        await client.send("Page.navigate", url=f"{HOST}/#other")
        assert not await is_forged(endpoint, client, "/#other")
        history = await client.send("Page.getNavigationHistory")
        before = history["entries"][history["currentIndex"] - 1]["id"]
        await client.send("Page.navigateToHistoryEntry", entryId=before)
        assert not await is_forged(endpoint, client, "/#part")


async def test_an_address_that_the_site_was_asked_for_counts_whoever_set_it(
    endpoint: Endpoint,
) -> None:
    endpoint.site.page("<p>the article", "/article")
    await endpoint.open(PAGE)
    async with endpoint.page() as client:
        await client.evaluate("fetch('/article').then(() => history.pushState(0, '', '/article'))")
        ((visit,), forged) = await visits_to(endpoint, client, "/article")
        assert (visit.trusted, visit.confirmed, forged) == (False, True, False)
        await client.evaluate("fetch('/none').then(() => history.pushState(0, '', '/none'))")
        assert await is_forged(endpoint, client, "/none")
        await client.send("Page.navigate", url=f"{HOST}/article")
        assert not await is_forged(endpoint, client, "/article")


async def test_a_page_without_an_agents_script_is_as_it_was(endpoint: Endpoint) -> None:
    """Nobody is connected: where it goes by itself, while it opens, counts."""
    await endpoint.session.open(
        [endpoint.site.page("<script>history.pushState(0, '', '/home')</script>")]
    )
    activity = await endpoint.settled()
    assert [(one.url, one.counts) for one in activity.visits] == [
        (f"{HOST}/", True),
        (f"{HOST}/home", True),
    ]
    assert not endpoint.session.is_forged
