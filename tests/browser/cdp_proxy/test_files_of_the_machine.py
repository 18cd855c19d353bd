"""What an agent with raw CDP tries to read files of the machine by, in a real browser."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from support.agents.cdp_endpoint import HOST, Client, Endpoint, RefusedError, open_endpoint

pytestmark = pytest.mark.browser

SECRET = "the key of the house"
FIELD = "<input id=f type=file multiple>"
READ = "Promise.all([...f.files].map(one => one.text()))"
DROP = (
    "<div id=d style='position:fixed;inset:0'></div><script>"
    "d.ondragover = event => event.preventDefault();"
    "d.ondrop = async event => { event.preventDefault();"
    " document.title = 'got:' + await Promise.all("
    "[...event.dataTransfer.files].map(one => one.text())); }</script>"
)


@pytest.fixture
def secret(tmp_path: Path) -> str:
    file = tmp_path / "secret.txt"
    file.write_text(SECRET)
    return str(file)


@pytest_asyncio.fixture
async def endpoint(downloads: Path, tmp_path: Path) -> AsyncIterator[Endpoint]:
    folder = tmp_path / "of-the-task"
    folder.mkdir()
    (folder / "a.txt").write_text("alpha")
    async with open_endpoint(downloads, {"a.txt": folder / "a.txt"}) as endpoint:
        yield endpoint


async def _field(client: Client) -> dict[str, str]:
    found = await client.send("Runtime.evaluate", expression="f")
    return {"objectId": found["result"]["objectId"]}


async def _refused(client: Client, method: str, **params: Any) -> str:
    with pytest.raises(RefusedError) as error:
        await client.send(method, **params)
    return str(error.value)


async def _drag(client: Client, data: dict[str, Any]) -> None:
    for kind in ("dragEnter", "dragOver", "drop"):
        await client.send(
            "Input.dispatchDragEvent",
            type=kind,
            x=50,
            y=50,
            data={"items": [], "dragOperationsMask": 1, **data},
        )


async def test_a_file_field_takes_the_tasks_files_and_no_other(
    endpoint: Endpoint, secret: str
) -> None:
    await endpoint.open(FIELD)
    async with endpoint.page() as client:
        field = await _field(client)
        for files in ([secret], ["a.txt", secret]):
            why = await _refused(client, "DOM.setFileInputFiles", files=files, **field)
            assert "provides no file" in why
        assert await client.evaluate(READ) == []
        await client.send("DOM.setFileInputFiles", files=["a.txt"], **field)
        assert await client.evaluate(READ) == ["alpha"]
    assert {one.method for one in endpoint.clock.attempts} == {"DOM.setFileInputFiles"}


async def test_a_chooser_that_a_page_opens_takes_no_other_file_either(
    endpoint: Endpoint, secret: str
) -> None:
    await endpoint.open("<input id=f type=file style='position:fixed;inset:0'>")
    async with endpoint.page() as client:
        await client.send("Page.enable")
        await client.send("Page.setInterceptFileChooserDialog", enabled=True)
        for kind in ("mousePressed", "mouseReleased"):
            await client.send(
                "Input.dispatchMouseEvent", type=kind, x=9, y=9, button="left", clickCount=1
            )
        opened = (await client.event("Page.fileChooserOpened"))["params"]
        node = {"backendNodeId": opened["backendNodeId"]}
        await _refused(client, "DOM.setFileInputFiles", files=[secret], **node)
        assert await client.evaluate(READ) == []
        await client.send("DOM.setFileInputFiles", files=["a.txt"], **node)
        assert await client.evaluate(READ) == ["alpha"]


async def test_a_drag_brings_the_tasks_files_and_no_other(endpoint: Endpoint, secret: str) -> None:
    await endpoint.open(DROP)
    async with endpoint.page() as client:
        for kind in ("dragEnter", "dragOver", "drop"):
            data = {"items": [], "files": [secret], "dragOperationsMask": 1}
            await _refused(client, "Input.dispatchDragEvent", type=kind, x=50, y=50, data=data)
        assert await client.evaluate("document.title") == ""
        await _drag(client, {"files": ["a.txt"]})
        await client.until("document.title !== ''", value=True)
        assert await client.evaluate("document.title") == "got:alpha"


async def test_a_link_that_is_dropped_leads_to_no_file(endpoint: Endpoint, secret: str) -> None:
    await endpoint.open("<p>here")
    async with endpoint.page() as client:
        link = {"mimeType": "text/uri-list", "data": f"file://{secret}", "title": "", "baseURL": ""}
        await _drag(client, {"items": [link]})
        await endpoint.settled()
        assert await client.evaluate("location.href") == f"{HOST}/"


async def test_a_request_that_is_held_back_becomes_no_file(endpoint: Endpoint, secret: str) -> None:
    await endpoint.open("<p>here")
    async with endpoint.page() as client:
        await client.send("Fetch.enable", patterns=[{"urlPattern": "*"}])
        script = "fetch('/x').then(one => one.text()).then(one => document.title = one); 1"
        await client.evaluate(script)
        paused = (await client.event("Fetch.requestPaused"))["params"]["requestId"]
        url = f"file://{secret}"
        assert "http" in await _refused(client, "Fetch.continueRequest", requestId=paused, url=url)
        await client.send("Fetch.failRequest", requestId=paused, errorReason="Aborted")
        assert SECRET not in await client.evaluate("document.title")


async def test_streams_are_no_files(endpoint: Endpoint, secret: str) -> None:
    async with endpoint.page() as client:
        for handle in (secret, f"file://{secret}", f"blob:{secret}"):
            await _refused(client, "IO.read", handle=handle)


async def test_a_page_of_the_agents_own_shows_no_file(endpoint: Endpoint, secret: str) -> None:
    html = f"<iframe src='file://{secret}'></iframe><img src='file://{secret}'>"
    await endpoint.open("<p>here")
    async with endpoint.page() as client:
        tree = await client.send("Page.getFrameTree")
        frame = tree["frameTree"]["frame"]["id"]
        await client.send("Page.setDocumentContent", frameId=frame, html=html)
        await endpoint.settled()
        assert SECRET not in (await client.send("Page.captureSnapshot"))["data"]
        await client.send("Page.navigate", url=f"data:text/html,{html}")
        await endpoint.settled()
        assert SECRET not in (await client.send("Page.captureSnapshot"))["data"]
        for method in ("Page.getResourceContent", "Page.searchInResource"):
            more = {"query": "key"} if "search" in method else {}
            await _refused(client, method, frameId=frame, url=f"file://{secret}", **more)


async def test_a_file_that_was_uploaded_is_the_only_one_whose_path_is_known(
    endpoint: Endpoint, secret: str
) -> None:
    await endpoint.open(FIELD)
    async with endpoint.page() as client:
        made = await client.send("Runtime.evaluate", expression=f"new File(['x'], '{secret}')")
        info = await client.send("DOM.getFileInfo", objectId=made["result"]["objectId"])
        assert info["path"] == ""
