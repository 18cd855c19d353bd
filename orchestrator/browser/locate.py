"""What locators read from pages: selectors in the isolated world, and bodies of fresh tabs."""

from __future__ import annotations

import asyncio
import json
from typing import NamedTuple

from arena_core.errors import TaskError
from orchestrator.browser.cdp_channel import RefusedError, Reply
from orchestrator.browser.tabs import OpenTab

MAX_VALUES = 1_000


class Fetched(NamedTuple):
    """An answer to a GET, redirects followed."""

    status: int
    body: str


async def read(tab: OpenTab, selector: str, attribute: str | None) -> tuple[str, ...]:
    """Read what a CSS selector yields on a tab's page: one value a match, in document order.

    Visible text has its white space collapsed; `value` is the live value, empty for a password; an
    element without the attribute yields nothing. At most `MAX_VALUES` matches are read.

    Raises:
        TaskError: the selector is not CSS.
        RefusedError: the page kept navigating.
    """
    arguments = ", ".join(json.dumps(argument) for argument in (selector, attribute, MAX_VALUES))
    expression = f"arena.read({arguments})"
    try:
        reply = await tab.frames.evaluate(tab.frames.main, expression)
    except RefusedError:
        reply = await tab.frames.evaluate(tab.frames.main, expression)
    found = reply["value"]
    if "error" in found:
        message = f"the selector '{selector}' cannot be used: {found['error']}"
        raise TaskError(message)
    return tuple(found["values"])


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
