"""What an agent with raw CDP tries against the watcher and the gateway, in a real browser."""

from __future__ import annotations

from typing import Any

import pytest
from aiohttp import ClientSession
from support.agents.cdp_endpoint import HOST, Client, Endpoint, RefusedError

from orchestrator.browser.tabs.watcher import BINDING, WORLD

pytestmark = pytest.mark.browser

BUTTON = '<title>Page</title><button id=b onclick="document.title=1">Buy</button>'
FORGED = (
    f"{BINDING}(JSON.stringify({{event:'click',url:null,claim:null,path:'#b',tag:'button',"
    "role:'button',name:'Buy',text:'Buy',value:null}))"
)


async def refused(client: Client, method: str, session: str = "", **params: Any) -> str:
    with pytest.raises(RefusedError) as error:
        await client.send(method, session, **params)
    return str(error.value)


async def test_the_watchers_world_is_neither_told_of_nor_reached_by_its_number(
    endpoint: Endpoint,
) -> None:
    await endpoint.open(BUTTON)
    async with endpoint.client() as client:
        session = await client.attach()
        hidden = []
        for number in range(1, 15):  # numbers are given one after the other
            try:
                await client.evaluate(FORGED, session, contextId=number)
            except RefusedError as error:
                hidden.append(str(error))
        assert len(hidden) == 14
        await client.send("Runtime.enable", session)
        made = [
            event["params"]["context"]
            for event in client.events
            if event["method"] == "Runtime.executionContextCreated"
        ]
        assert made
        assert WORLD not in {context["name"] for context in made}
        (own,) = [one for one in made if one["auxData"]["isDefault"]]
        assert await client.evaluate("document.title", session, contextId=own["id"]) == "Page"
        assert await client.evaluate(f"typeof {BINDING}", session, contextId=own["id"]) == (
            "undefined"
        )
    assert (await endpoint.settled()).acted == ()
    assert {attempt.method for attempt in endpoint.clock.attempts} == {"Runtime.evaluate"}


async def test_objects_of_the_watchers_world_cannot_be_made_up(endpoint: Endpoint) -> None:
    await endpoint.open(BUTTON)
    async with endpoint.page() as client:
        found = await client.send("Runtime.evaluate", expression="window")
        isolate, own, number = found["result"]["objectId"].split(".")
        for context in {*range(1, 15)} - {int(own)}:
            why = await refused(
                client,
                "Runtime.callFunctionOn",
                objectId=f"{isolate}.{context}.{number}",
                functionDeclaration=f"function() {{ {FORGED} }}",
            )
            assert "context" in why or "object" in why
    assert (await endpoint.settled()).acted == ()


async def test_nothing_is_made_in_the_watchers_world(endpoint: Endpoint) -> None:
    await endpoint.open(BUTTON)
    async with endpoint.page() as client:
        tree = await client.send("Page.getFrameTree")
        frame = tree["frameTree"]["frame"]["id"]
        await refused(client, "Page.createIsolatedWorld", frameId=frame, worldName=WORLD)
        await refused(
            client,
            "Page.addScriptToEvaluateOnNewDocument",
            source=FORGED,
            worldName=WORLD,
            runImmediately=True,
        )
        await refused(client, "Runtime.addBinding", name=BINDING)
        await refused(client, "Runtime.addBinding", name="mine", executionContextName=WORLD)
        await client.send("DOM.enable")
        root = (await client.send("DOM.getDocument"))["root"]["nodeId"]
        for context in range(1, 15):
            try:
                await client.send("DOM.resolveNode", nodeId=root, executionContextId=context)
            except RefusedError:
                continue
            # a context of the page itself
            assert await client.evaluate(f"typeof {BINDING}", contextId=context) == "undefined"
    assert (await endpoint.settled()).acted == ()
    assert len(endpoint.clock.attempts) >= 4


async def test_the_watchers_listeners_are_not_handed_out(endpoint: Endpoint) -> None:
    """Their functions would lead into its world."""
    await endpoint.open("<button id=b>Buy</button>")
    async with endpoint.page() as client:
        for owner in ("window", "document", "document.body"):
            count = f"Object.values(getEventListeners({owner})).flat().length"
            assert await client.evaluate(count, includeCommandLineAPI=True) == 0
            held = await client.send("Runtime.evaluate", expression=owner)
            listed = await client.send(
                "DOMDebugger.getEventListeners",
                objectId=held["result"]["objectId"],
                depth=-1,
                pierce=True,
            )
            assert listed["listeners"] == []


async def test_a_page_that_calls_the_watchers_binding_calls_nothing(endpoint: Endpoint) -> None:
    await endpoint.open(f"<script>try {{ {FORGED} }} catch (e) {{ document.title = e }}</script>")
    async with endpoint.page() as client:
        assert "is not defined" in await client.evaluate("document.title")
    assert (await endpoint.settled()).acted == ()


async def test_no_debugger_and_no_session_within_a_session(endpoint: Endpoint) -> None:
    await endpoint.open(BUTTON)
    async with endpoint.client() as client:
        session = await client.attach()
        assert "not allowed" in await refused(client, "Debugger.enable", session)
        infos = (await client.send("Target.getTargets"))["targetInfos"]
        target = infos[0]["targetId"]
        await refused(client, "Target.attachToTarget", targetId=target, flatten=False)
        await refused(client, "Target.exposeDevToolsProtocol", targetId=target)
        await refused(client, "Target.sendMessageToTarget", message="{}", targetId=target)
        assert await client.evaluate("typeof window.cdp", session) == "undefined"
        browser = (await client.send("Target.attachToBrowserTarget"))["sessionId"]
        assert "product" in await client.send("Browser.getVersion", browser)
        for method, params, why in (
            ("Browser.crash", {}, "Browser.crash is not allowed in an episode"),
            ("Target.createBrowserContext", {"proxyServer": "http://x:1"}, "one browser context"),
            ("Target.createTarget", {"url": "chrome://version"}, "only http, https"),
            ("Debugger.enable", {}, "Debugger.enable is not allowed in an episode"),
            ("Target.sendMessageToTarget", {"message": "{}"}, "is not allowed in an episode"),
        ):
            assert why in await refused(client, method, browser, **params)
        own = (await client.send("Target.attachToTarget", browser, targetId=target, flatten=True))[
            "sessionId"
        ]
        assert await client.evaluate("document.title", own) == "Page"
        await client.send("Target.detachFromTarget", browser, sessionId=own)
        assert "not found" in await refused(client, "Page.enable", own)


async def test_the_browsers_own_pages_are_not_shown(endpoint: Endpoint) -> None:
    async with endpoint.client() as client:
        await client.send("Target.setDiscoverTargets", discover=True)
        infos = (await client.send("Target.getTargets"))["targetInfos"]
        assert {one["type"] for one in infos} == {"page"}
        told = [one for one in client.events if one["method"] == "Target.targetCreated"]
        assert {one["params"]["targetInfo"]["type"] for one in told} <= {"page", "tab"}


@pytest.mark.parametrize("url", ["file:///etc/passwd", "chrome://version", "view-source:" + HOST])
async def test_no_way_of_navigating_leads_to_the_machine(endpoint: Endpoint, url: str) -> None:
    await endpoint.open(BUTTON)
    async with endpoint.client() as client:
        session = await client.attach()
        await refused(client, "Page.navigate", session, url=url)
        await refused(client, "Target.createTarget", url=url)
        async with ClientSession() as http, http.put(f"{endpoint.proxy.url}/json/new?{url}") as no:
            assert no.status == 403
        for script in (f"location.href = '{url}'", f"window.open('{url}')"):
            await client.evaluate(f"void ({script})", session)
            await endpoint.settled()
        infos = (await client.send("Target.getTargets"))["targetInfos"]
        assert not [one["url"] for one in infos if not one["url"].startswith(("http", "about:"))]
    assert len(endpoint.clock.attempts) == 2


async def test_everything_goes_through_the_proxy_loopback_too(endpoint: Endpoint) -> None:
    await endpoint.open(BUTTON)
    async with endpoint.page() as client:
        await client.send("Page.navigate", url="http://127.0.0.1:8099/secret")
    assert ("GET", "http://127.0.0.1:8099/secret") in endpoint.site.asked


async def test_pages_and_strange_hosts_are_turned_away(endpoint: Endpoint) -> None:
    url = endpoint.proxy.url
    address = await endpoint.address()
    async with ClientSession() as http:
        for headers in ({"Origin": "http://site.test"}, {"Host": "evil.test"}):
            for path in ("/json/version", "/json/list"):
                async with http.get(url + path, headers=headers) as answer:
                    assert answer.status == 403
            with pytest.raises(Exception, match="403"):
                await http.ws_connect(address, headers=headers)


async def test_who_asks_is_answered_with_the_address_that_was_asked(endpoint: Endpoint) -> None:
    port = endpoint.proxy.url.rpartition(":")[2]
    async with ClientSession() as http:
        for host in ("127.0.0.1", "localhost"):
            for path in ("/json/version", "/json/version/"):
                async with http.get(f"http://{host}:{port}{path}") as answer:
                    found = await answer.json()
                assert found["webSocketDebuggerUrl"].startswith(
                    f"ws://{host}:{port}/devtools/browser/"
                )
            for path in ("/json", "/json/list", "/json/list/"):
                async with http.get(f"http://{host}:{port}{path}") as answer:
                    pages = await answer.json()
                assert [one["type"] for one in pages] == ["page"]
                assert pages[0]["webSocketDebuggerUrl"].startswith(f"ws://{host}:{port}/devtools/")


async def test_a_client_that_closes_the_browser_or_leaves_leaves_it_to_the_others(
    endpoint: Endpoint,
) -> None:
    await endpoint.open(BUTTON)
    async with endpoint.client() as one, endpoint.client() as other:
        session = await other.attach()
        assert await one.send("Browser.close") == {}
        assert await other.evaluate("document.title", session) == "Page"
    async with endpoint.client() as again:
        assert await again.evaluate("document.title", await again.attach()) == "Page"
    assert not endpoint.proxy.lost.is_set()


async def test_nothing_is_answered_once_the_episode_is_over(endpoint: Endpoint) -> None:
    await endpoint.open(BUTTON)
    async with endpoint.client() as client:
        session = await client.attach()
        endpoint.proxy.freeze()
        assert "over" in await refused(client, "Runtime.evaluate", session, expression="1")
        async with ClientSession() as http, http.get(f"{endpoint.proxy.url}/json") as answer:
            assert answer.status == 410
