"""What locators read of answers: bodies of fresh tabs as they came."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from orchestrator.browser.cdp_channel import RefusedError, Reply
from orchestrator.browser.tabs import OpenTab


class Fetched(NamedTuple):
    """An answer to a GET, redirects followed."""

    status: int
    body: str


class ResponseWatch:
    """Remembers the response that a tab's document came from."""

    def __init__(self, tab: OpenTab) -> None:
        self._tab = tab
        self._response: Reply | None = None
        self._complete: set[str] = set()
        self._arrived = asyncio.Event()
        tab.channel.on("Network.responseReceived", self._received)
        tab.channel.on("Network.loadingFinished", self._finished)
        tab.channel.on("Network.loadingFailed", self._finished)

    async def body(self) -> Fetched:
        """Return status and body of the tab's document as they came; the caller sets the deadline.

        Raises:
            RefusedError: there was no response.
        """
        if self._response is None:
            message = "no response came"
            raise RefusedError(message)
        while self._response["requestId"] not in self._complete:
            self._arrived.clear()
            await self._arrived.wait()
        reply = await self._tab.channel.send(
            "Network.getResponseBody", {"requestId": self._response["requestId"]}
        )
        return Fetched(int(self._response["response"]["status"]), str(reply["body"]))

    def _received(self, event: Reply) -> None:
        if event["type"] == "Document" and event["frameId"] == self._tab.frames.main_id:
            self._response = event

    def _finished(self, event: Reply) -> None:
        self._complete.add(event["requestId"])
        self._arrived.set()
