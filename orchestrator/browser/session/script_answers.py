"""What a page's scripts were answered since its document came, and the same answers given again.

An action that a script turns into a request (a row added to a table in place) cannot be done again
on the page alone: the site has its effect already. So its answer is given again, and the site hears
nothing of it.
"""

from __future__ import annotations

import asyncio
import base64
from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from orchestrator.browser.tabs.cdp_channel import RefusedError, Reply
from orchestrator.browser.tabs.settle import SCRIPTED, ScriptResponse
from orchestrator.browser.tabs.tab import OpenTab
from orchestrator.gateway.recorded import kept_headers

_MOST_BYTES: Final = 4_000_000
SCRIPT_PATTERNS: Final = tuple({"resourceType": kind} for kind in sorted(SCRIPTED))


@dataclass(frozen=True, slots=True)
class ScriptAnswer:
    """One request of a script, and what it was answered.

    Attributes:
        sent: the request's body as text; empty without one.
        headers: as `kept_headers` leaves them.
    """

    method: str
    url: str
    sent: str = field(repr=False)
    status: int
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    body: bytes = field(repr=False)


async def script_answers(tab: OpenTab) -> tuple[ScriptAnswer, ...]:
    """Return what the scripts of a tab's document were answered, in the order of the answers.

    What the browser has not kept is left out, and so is all after the first four megabytes: a
    script that asks for it again asks the site.
    """
    found: list[ScriptAnswer] = []
    size = 0
    for response in tab.traffic.scripted.get(tab.frames.main.loader, ()):
        body = await _body(tab, response)
        if body is None or (size := size + len(body)) > _MOST_BYTES:
            continue
        found.append(
            ScriptAnswer(
                method=response.method,
                url=response.url,
                sent=response.sent,
                status=response.status,
                headers=kept_headers(response.headers),
                body=body,
            )
        )
    return tuple(found)


async def _body(tab: OpenTab, response: ScriptResponse) -> bytes | None:
    try:
        reply = await tab.channel.send(
            "Network.getResponseBody", {"requestId": response.request_id}
        )
        if reply["base64Encoded"]:
            return base64.b64decode(reply["body"])
        text: str = reply["body"]
        return text.encode(response.charset)
    except (RefusedError, LookupError, UnicodeEncodeError):
        return None


class AnsweredScripts:
    """Gives a tab's scripts the answers that they got before, each once and in their order.

    Only a request with the same method, URL and body is answered; the site gets any other. `end`
    stops that.
    """

    def __init__(self, tab: OpenTab, answers: Iterable[ScriptAnswer]) -> None:
        self._tab = tab
        self._left: defaultdict[tuple[str, str, str], deque[ScriptAnswer]] = defaultdict(deque)
        for one in answers:
            self._left[one.method, one.url, one.sent].append(one)
        self._sending: set[asyncio.Task[Reply]] = set()
        tab.channel.on("Fetch.requestPaused", self._paused)

    async def end(self) -> None:
        """Let all that scripts ask for go to the sites again."""
        self._left.clear()
        await self._tab.channel.send("Fetch.disable")
        await asyncio.gather(*self._sending, return_exceptions=True)

    def _paused(self, event: Reply) -> None:
        if event["resourceType"] not in SCRIPTED:
            return
        request = event["request"]
        left = self._left.get((request["method"], request["url"], request.get("postData", "")))
        if not left:
            self._send("Fetch.continueRequest", {"requestId": event["requestId"]})
            return
        answer = left.popleft()
        told = {
            "requestId": event["requestId"],
            "responseCode": answer.status,
            "responseHeaders": [{"name": name, "value": value} for name, value in answer.headers],
            "body": base64.b64encode(answer.body).decode(),
        }
        self._send("Fetch.fulfillRequest", told)

    def _send(self, method: str, parameters: dict[str, object]) -> None:
        self._sending.add(asyncio.ensure_future(self._tab.channel.send(method, parameters)))
