"""Opens the pages of a state again: each document from its recording, then what it held."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from typing import Final

from arena_core.errors import StateError
from orchestrator.browser.actions import mouse
from orchestrator.browser.actions.navigation import goto
from orchestrator.browser.session.page_state import BrowserState, TabState, page_script
from orchestrator.browser.session.script_answers import SCRIPT_PATTERNS, AnsweredScripts
from orchestrator.browser.tabs.cdp_channel import PageGoneError, RefusedError, Reply
from orchestrator.browser.tabs.elements import NotDoneError, Spot
from orchestrator.browser.tabs.settle import settle
from orchestrator.browser.tabs.tab import OpenTab
from orchestrator.browser.tabs.tabbar import TabBar
from orchestrator.browser.tabs.watcher import WORLD
from orchestrator.gateway.recorded import RECORDED_HEADER, RecordedDocument

_SETTLE_S: Final = 10.0


async def restore(bar: TabBar, state: BrowserState, *, with_fields: bool) -> list[AnsweredScripts]:
    """Open a state's tabs in a session that has its first one; see `Session.restore`.

    Returns:
        What gives scripts their recorded answers until it is ended; nothing if `with_fields`.
    """
    answering: list[AnsweredScripts] = []
    opened: list[tuple[OpenTab, TabState]] = []
    for kept in state.tabs:
        tab = await bar.open(kept.login, kept.number) if opened else bar.current
        if kept.answers and not with_fields:
            answering.append(AnsweredScripts(tab, kept.answers))
        await _load(tab, kept, at_own_url=not with_fields)
        opened.append((tab, kept))
    bar.number_from(state.ids.tab)
    await bar.focus(next(kept.number for kept in state.tabs if kept.is_current))
    for tab, kept in opened if with_fields else ():
        await _put_back(tab, kept, state)
    return answering


async def _load(tab: OpenTab, kept: TabState, *, at_own_url: bool) -> None:
    """Open a tab's page from its recorded document; return once it has arrived."""
    if kept.document is None:
        return
    is_moved = at_own_url or kept.has_moved
    url = kept.opened_url if is_moved else kept.url
    try:
        scripts = SCRIPT_PATTERNS if at_own_url and kept.answers else ()
        async with _with_session_storage(tab, kept), _from_recording(tab, kept.document, scripts):
            await goto(tab, url, referrer=kept.referrer)
    except NotDoneError as error:
        raise StateError(f"the page of tab {kept.number} cannot be restored: {error}") from error


@asynccontextmanager
async def _from_recording(
    tab: OpenTab, document: RecordedDocument, scripts: tuple[dict[str, str], ...]
) -> AsyncIterator[None]:
    """Let the tab's own request for a document, which the block sends, ask for the recording.

    Args:
        scripts: what else is intercepted, by `AnsweredScripts`, then and after the block.
    """
    sending: set[asyncio.Task[Reply]] = set()
    answered: list[str] = []

    def paused(event: Reply) -> None:
        if event["resourceType"] != "Document":
            return
        asked = {"requestId": event["requestId"]}
        if event["frameId"] == tab.frames.main_id:
            headers = [
                {"name": name, "value": value}
                for name, value in event["request"]["headers"].items()
            ]
            asked["headers"] = [*headers, {"name": RECORDED_HEADER, "value": document.key}]
        sending.add(asyncio.ensure_future(tab.channel.send("Fetch.continueRequest", asked)))

    def received(event: Reply) -> None:
        if event["type"] == "Document" and event["frameId"] == tab.frames.main_id:
            headers = event["response"]["headers"]
            answered.extend(
                value for name, value in headers.items() if name.lower() == RECORDED_HEADER.lower()
            )

    tab.channel.on("Fetch.requestPaused", paused)
    tab.channel.on("Network.responseReceived", received)
    patterns = [{"resourceType": "Document"}, *scripts]
    await tab.channel.send("Fetch.enable", {"patterns": patterns})
    try:
        yield
    finally:
        if scripts:
            await tab.channel.send("Fetch.enable", {"patterns": scripts})
        else:
            await tab.channel.send("Fetch.disable")
        await asyncio.gather(*sending, return_exceptions=True)
    if document.key not in answered:
        raise StateError(f"the gateway has no recording of {document.url} to restore its page from")


_FILL: Final = """(kept) => {
  const own = kept[self.origin];
  if (!own || sessionStorage.length) return;
  for (const [name, value] of own) sessionStorage.setItem(name, value);
}"""


@asynccontextmanager
async def _with_session_storage(tab: OpenTab, kept: TabState) -> AsyncIterator[None]:
    """Put sessionStorage back into each document that the block opens, before its own scripts."""
    source = f"({_FILL})({json.dumps(kept.session_storage)})"
    added = await tab.channel.send(
        "Page.addScriptToEvaluateOnNewDocument", {"source": source, "worldName": WORLD}
    )
    try:
        yield
    finally:
        await tab.channel.send("Page.removeScriptToEvaluateOnNewDocument", added)


async def _put_back(tab: OpenTab, kept: TabState, state: BrowserState) -> None:
    """Put back what a page held, once it has settled: fields, focus, scroll, the mouse."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_SETTLE_S):
            await settle(tab.frames, tab.traffic, -1)
    wanted = {
        "session": kept.session_storage,
        "local": _local_storage(state, kept.login),
        "fields": [asdict(one) for one in kept.fields],
        "details": kept.details,
        "focus": kept.focus,
        "focusVisible": kept.is_focus_visible,
        "caret": kept.caret,
        "scrolled": kept.scrolled,
        "scroll": kept.scroll,
    }
    with suppress(RefusedError, PageGoneError):  # it goes elsewhere by itself: not the same page
        await tab.frames.evaluate(
            tab.frames.main, f"(({page_script()}).put({json.dumps(wanted)}), true)"
        )
        if kept.pointer is not None:
            await mouse.move(tab, Spot(*kept.pointer))


def _local_storage(state: BrowserState, login: str) -> dict[str, list[list[str]]]:
    """Return names and values by origin; an origin that stored nothing is not among them."""
    found: dict[str, list[list[str]]] = {}
    for one in state.storage.get(login, ()):
        entries = one.get("localStorage")
        if isinstance(entries, list):
            found[str(one["origin"])] = [[entry["name"], entry["value"]] for entry in entries]
    return found
