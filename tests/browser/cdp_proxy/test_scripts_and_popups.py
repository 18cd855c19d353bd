"""What an outside agent does by script, and in pages that have just opened, is seen as it was."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from support.agents.cdp_endpoint import HOST, Client, Endpoint

from evaluators.evidence import ActedElement, ElementEvent

pytestmark = pytest.mark.browser

SELECT = "<select id=s aria-label=Colour><option>red<option>blue</select>"
CHOOSE = "s.value = 'blue'; s.dispatchEvent(new Event('change', {bubbles: true}));"


async def acted(endpoint: Endpoint, html: str, script: str) -> tuple[ActedElement, ...]:
    """Let an agent run a script in a page; return what was seen of it."""
    await endpoint.open(html)
    async with endpoint.page() as client:
        await client.evaluate(script)
        return (await endpoint.settled()).acted


async def test_a_choice_by_script_counts_while_the_page_still_shows_it(endpoint: Endpoint) -> None:
    (seen,) = await acted(endpoint, SELECT, CHOOSE)
    assert (seen.event, seen.value, seen.trusted, seen.confirmed) == (
        ElementEvent.CHANGE,
        "blue",
        False,
        True,
    )


async def test_a_choice_that_is_taken_back_does_not_count(endpoint: Endpoint) -> None:
    (seen,) = await acted(endpoint, SELECT, CHOOSE + "s.value = 'red'")
    assert (seen.value, seen.trusted, seen.confirmed) == ("blue", False, False)


async def test_a_click_by_script_counts_where_something_came_of_it(endpoint: Endpoint) -> None:
    page = "<button id=b onclick=\"p.textContent='done'\">Buy</button><p id=p>"
    (seen,) = await acted(endpoint, page, "b.click()")
    assert (seen.event, seen.name, seen.trusted, seen.confirmed) == (
        ElementEvent.CLICK,
        "Buy",
        False,
        True,
    )


async def test_a_click_by_script_of_which_nothing_came_does_not_count(endpoint: Endpoint) -> None:
    (seen,) = await acted(endpoint, "<button id=b>Buy</button>", "b.click()")
    assert (seen.trusted, seen.confirmed) == (False, False)


async def test_a_click_by_script_that_left_the_page_counts(endpoint: Endpoint) -> None:
    endpoint.site.page("<title>Next</title>", "/next")
    seen = await acted(endpoint, "<a id=a href=/next>Next</a>", "a.click()")
    assert [(one.name, one.trusted, one.confirmed) for one in seen] == [("Next", False, True)]
    assert endpoint.session.url == f"{HOST}/next"


async def test_what_a_page_does_to_itself_is_not_the_agents(endpoint: Endpoint) -> None:
    await endpoint.open(
        '<button id=b onclick="document.title=1">Buy</button><script>b.click()</script>'
    )
    assert (await endpoint.settled()).acted == ()
    await endpoint.open(
        "<button id=b>Buy</button><script>"
        "setTimeout(() => { b.click(); document.title = 'clicked' }, 200)</script>"
    )
    shown = endpoint.session._bar.current.page
    await shown.wait_for_function("document.title === 'clicked'")
    assert (await endpoint.settled()).acted == ()


async def test_clicks_of_a_client_are_as_good_as_a_persons(endpoint: Endpoint) -> None:
    await endpoint.open("<button style='position:fixed;left:0;top:0;width:99px;height:99px'>Buy")
    async with endpoint.page() as client:
        for kind in ("mousePressed", "mouseReleased"):
            await client.send(
                "Input.dispatchMouseEvent", type=kind, x=20, y=20, button="left", clickCount=1
            )
        (seen,) = (await endpoint.settled()).acted
    assert (seen.name, seen.trusted) == ("Buy", True)


async def test_a_new_page_waits_until_the_watcher_is_in_it(endpoint: Endpoint) -> None:
    """What its first script does is seen: nothing came before the watcher."""
    first = '<button id=b onclick="document.title=1">First</button><script>b.click()</script>'
    endpoint.site.page(first, "/popup")
    await endpoint.open("<p>opener")
    endpoint.session.listen_to(lambda: None, lambda: True, endpoint.clock.broken.append)
    async with endpoint.client() as client:
        for number in range(1, 6):
            await client.send("Target.createTarget", url=f"{HOST}/popup?{number}")
        async with asyncio.timeout(60):
            seen: list[ActedElement] = []
            while len(seen) < 5:
                seen += [*(await endpoint.settled()).acted]
    assert {one.logical for one in seen} == {f"site:/popup?{number}" for number in range(1, 6)}


CORNER = "style='position:fixed;left:0;top:0;width:99px;height:99px'"


async def _press(client: Client, session: str) -> None:
    """Click into the upper left corner of a page."""
    for kind in ("mousePressed", "mouseReleased"):
        await client.send(
            "Input.dispatchMouseEvent", session, type=kind, x=20, y=20, button="left", clickCount=1
        )


@pytest.mark.parametrize("acts_at_once", [False, True])
async def test_what_a_client_does_in_a_pop_up_of_the_same_origin_is_seen(
    endpoint: Endpoint,
    acts_at_once: bool,  # noqa: FBT001  a case
) -> None:
    """Its first document hands its window on, without the watcher's listeners."""
    script = "<script>document.forms[0]?.requestSubmit()</script>" if acts_at_once else ""
    form = "<form onsubmit='return false'><button>Send</button></form>"
    endpoint.site.page(
        f"<button {CORNER} onclick='document.title=1'>In</button>{form}{script}", "/up"
    )
    await endpoint.open(f"<button {CORNER} onclick=\"window.open('/up')\">Open</button>")
    async with endpoint.client() as client:
        await client.send(
            "Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=True, flatten=True
        )
        opener = (await client.event("Target.attachedToTarget"))["params"]["sessionId"]
        await _press(client, opener)
        opened = (await client.event("Target.attachedToTarget"))["params"]["sessionId"]
        await client.send("Runtime.runIfWaitingForDebugger", opened)
        await client.until("location.pathname + document.readyState", "/upcomplete", opened)
        await _press(client, opened)
        seen: list[ActedElement] = []
        async with asyncio.timeout(60):
            while "In" not in {one.name for one in seen}:
                seen += (await endpoint.settled()).acted
    clicks = [one.name for one in seen if one.event is ElementEvent.CLICK]
    assert clicks == ["Open", "In"]
    assert endpoint.clock.broken == []


async def test_a_page_that_was_opened_by_the_agent_is_a_tab_with_its_visits(
    endpoint: Endpoint,
) -> None:
    endpoint.site.page("<title>Other</title>", "/other")
    await endpoint.open("<title>Start</title>")
    async with endpoint.client() as client:
        made = await client.send("Target.createTarget", url=f"{HOST}/other")
        visits: list[str] = []
        async with asyncio.timeout(60):
            while not visits:
                visits = [visit.url for visit in (await endpoint.settled()).visits]
        assert visits == [f"{HOST}/other"]
        await client.send("Target.closeTarget", targetId=made["targetId"])
        await endpoint.settled()
    assert endpoint.session.url == f"{HOST}/"


async def test_an_agent_that_closed_its_last_page_finds_a_blank_one(endpoint: Endpoint) -> None:
    await endpoint.open("<title>Start</title>")
    async with endpoint.client() as client:
        infos = (await client.send("Target.getTargets"))["targetInfos"]
        await client.send("Target.closeTarget", targetId=infos[0]["targetId"])
        await endpoint.settled()
        assert endpoint.session.url == "about:blank"


async def test_dialogs_are_the_clients(endpoint: Endpoint) -> None:
    await endpoint.open("<p id=p>")
    async with endpoint.page() as client:
        await client.send("Page.enable")
        asked = asyncio.create_task(client.evaluate("p.textContent = String(confirm('Sure?'))"))
        assert (await client.event("Page.javascriptDialogOpening"))["params"]["message"] == "Sure?"
        await client.send("Page.handleJavaScriptDialog", accept=False)
        await asked
        assert await client.evaluate("p.textContent") == "false"
    assert "left to the agent" in (await endpoint.settled()).dialogs[0]


async def test_downloads_lie_in_the_episodes_folder(
    endpoint: Endpoint, downloads: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    await endpoint.open("<a id=a download=kettle.txt href='data:text/plain,kettle'>Get</a>")
    async with endpoint.client() as client:
        session = await client.attach()
        await client.send(
            "Browser.setDownloadBehavior",
            behavior="allow",
            downloadPath=str(elsewhere),
            eventsEnabled=True,
        )
        await client.evaluate("a.click()", session)
        async with asyncio.timeout(60):
            while True:
                progress = await client.event("Browser.downloadProgress")
                if progress["params"]["state"] == "completed":
                    break
    assert {path.read_text() for path in _files(downloads)} == {"kettle"}
    assert not _files(elsewhere)


def _files(folder: Path) -> list[Path]:
    return list(folder.iterdir())
