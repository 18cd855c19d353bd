"""What a session's pages are at one moment, read without touching them, and how they come back."""

from __future__ import annotations

import asyncio
import base64
import codecs
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Final
from urllib.parse import urldefrag, urlsplit

from playwright.async_api import BrowserContext

from arena_core.errors import StateError
from orchestrator.browser.actions.navigation import BLANK
from orchestrator.browser.session.page_ids import PageIds, PageReading
from orchestrator.browser.session.policy import origin_of
from orchestrator.browser.session.script_answers import ScriptAnswer, script_answers
from orchestrator.browser.tabs.cdp_channel import RefusedError, Reply
from orchestrator.browser.tabs.elements import ElementIds
from orchestrator.browser.tabs.settle import DocumentResponse
from orchestrator.browser.tabs.tab import OpenTab
from orchestrator.browser.tabs.tabbar import TabBar
from orchestrator.gateway.recorded import RecordedDocument, kept_headers

_IDLE_S: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldState:
    """What a field holds; None for what its kind does not have.

    Attributes:
        path: CSS, `>>>` enters a shadow root.
        selected: the chosen options, by their places.
    """

    path: str
    value: str | None = None
    checked: bool | None = None
    indeterminate: bool = False
    selected: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TabState:
    """One tab and the document in it.

    Attributes:
        number: the tab's index, as observations show it.
        url: what its address bar shows.
        opened_url: what its document was opened by, fragment included. Another than `url` if the
            page's scripts (or a link to a fragment) moved on within the document.
        document: the response that it was made of; None for a blank page.
        answers: what its scripts were answered since.
        actions: how many calls of `Session.act` had been started when the document was committed.
        scroll: of the page, to the right and down; `scrolled` of elements, by their paths.
        details: whether each `details` element is open, by its path.
        focus: the focused element's path; `is_focus_visible` if that is drawn, as after a key.
        caret: where the selection in the focused field begins and ends.
        pointer: where the agent's mouse is in the viewport.
        session_storage: names and values by origin, of the origins that its frames show.
        unread_origins: others that it has visited: their sessionStorage cannot be read.
    """

    number: int
    login: str
    url: str
    opened_url: str
    document: RecordedDocument | None
    answers: tuple[ScriptAnswer, ...] = field(default=(), repr=False)
    is_current: bool
    actions: int
    referrer: str = ""
    scroll: tuple[float, float] = (0.0, 0.0)
    scrolled: tuple[tuple[str, float, float], ...] = ()
    fields: tuple[FieldState, ...] = field(default=(), repr=False)
    details: tuple[tuple[str, bool], ...] = ()
    focus: str | None = None
    is_focus_visible: bool = False
    caret: tuple[int, int] | None = None
    pointer: tuple[float, float] | None = None
    session_storage: Mapping[str, tuple[tuple[str, str], ...]] = field(
        default_factory=dict, repr=False
    )
    unread_origins: tuple[str, ...] = ()
    ids: PageIds = field(default_factory=PageIds, repr=False)

    @property
    def has_moved(self) -> bool:
        """Whether scripts gave the document another address than its response had.

        Such a page is a matter of the actions done on it: it comes back under its own address.
        """
        return urldefrag(self.url).url != urldefrag(self.opened_url).url


@dataclass(frozen=True, slots=True)
class NextNumbers:
    """The next tab's number and the next element's id: neither was ever given before."""

    tab: int
    element: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserState:
    """A session's tabs in their order, and what its contexts keep, by login.

    Attributes:
        cookies, storage: as Playwright's `storage_state` has them: `cookies` and `origins`, the
            latter with localStorage and IndexedDB.
    """

    tabs: tuple[TabState, ...]
    cookies: Mapping[str, tuple[Mapping[str, object], ...]] = field(repr=False)
    storage: Mapping[str, tuple[Mapping[str, object], ...]] = field(repr=False)
    ids: NextNumbers

    @property
    def documents(self) -> tuple[RecordedDocument, ...]:
        """What the gateway answers in place of the sites while this is restored."""
        return tuple(tab.document for tab in self.tabs if tab.document is not None)


async def capture(
    bar: TabBar, contexts: Mapping[str, BrowserContext], ids: ElementIds, reading: PageReading
) -> BrowserState:
    """Read a session's tabs and contexts; see `Session.capture`."""
    await bar.wait_for_current()
    for tab in bar.tabs:
        await _require_still(tab)
    marks = [(tab, tab.traffic.activity_count) for tab in bar.tabs]
    tabs = [
        await _capture_tab(tab, await reading.ids_of(tab, ids), is_current=tab is bar.current)
        for tab, _ in marks
    ]
    kept = {
        login: await context.storage_state(indexed_db=True) for login, context in contexts.items()
    }
    if [(tab, tab.traffic.activity_count) for tab in bar.tabs] != marks:
        raise StateError("the pages cannot be captured: they changed while they were read")
    return BrowserState(
        tabs=tuple(tabs),
        cookies={login: _plain(one.get("cookies", ())) for login, one in kept.items()},
        storage={login: _plain(one.get("origins", ())) for login, one in kept.items()},
        ids=NextNumbers(tab=bar.next_number, element=ids.next),
    )


def _plain(found: Iterable[Mapping[str, object]]) -> tuple[Mapping[str, object], ...]:
    return tuple(dict(one) for one in found)


async def _require_still(tab: OpenTab) -> None:
    """Return once nothing is under way in a tab."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_IDLE_S):
            await tab.traffic.idle()
    if tab.is_broken:
        raise _refusal(tab, "its page crashed or hangs")
    if held := sorted(tab.held_keys | tab.held_buttons):
        raise _refusal(tab, f"{', '.join(held)} is held down")
    if why := tab.traffic.under_way():
        raise _refusal(tab, why)


async def _capture_tab(tab: OpenTab, ids: PageIds, *, is_current: bool) -> TabState:
    """Read a tab in which nothing is under way."""
    try:
        found = (await tab.frames.evaluate(tab.frames.main, f"({page_script()}).read()"))["value"]
        document = await _document(tab, found)
        storage = await _session_storage(tab)
        return TabState(
            number=tab.number,
            login=tab.login,
            url=tab.url,
            opened_url=tab.frames.main.opened_url,
            document=document,
            answers=await script_answers(tab),
            is_current=is_current,
            actions=tab.actions_before,
            referrer=found["referrer"],
            scroll=(found["scroll"][0], found["scroll"][1]),
            scrolled=tuple((path, left, top) for path, left, top in found["scrolled"]),
            fields=tuple(map(_field, found["fields"])),
            details=tuple((path, is_open) for path, is_open in found["details"]),
            focus=found["focus"],
            is_focus_visible=found["focusVisible"],
            pointer=tab.pointer,
            caret=None if found["caret"] is None else (found["caret"][0], found["caret"][1]),
            session_storage=storage,
            unread_origins=await _unread_origins(tab, storage),
            ids=ids,
        )
    except RefusedError as error:
        raise _refusal(tab, f"the page changed while it was read: {error}") from error


def _refusal(tab: OpenTab, why: str) -> StateError:
    return StateError(f"the page of tab {tab.number} ({tab.url}) cannot be captured: {why}")


@cache
def page_script() -> str:
    """Return the expression whose value reads a page (`read`) and puts it back (`put`)."""
    return (files("orchestrator.browser.session") / "page_state.js").read_text("utf-8")


def _field(found: Reply) -> FieldState:
    selected = found["selected"]
    return FieldState(**{**found, "selected": None if selected is None else tuple(selected)})


async def _document(tab: OpenTab, found: Reply) -> RecordedDocument | None:
    if found["ready"] != "complete":
        raise _refusal(tab, "it is still loading")
    opened_url = tab.frames.main.opened_url
    if opened_url == BLANK:
        if found["nodes"]:
            raise _refusal(tab, "a script wrote it into a blank page")
        return None
    if urlsplit(opened_url).scheme == "https":
        raise _refusal(tab, "it comes from a live origin")
    response = tab.traffic.responses.get(tab.frames.main.loader)
    if response is None or urlsplit(response.url).scheme != "http":
        raise _refusal(tab, "the response that it was made of is not known")
    return RecordedDocument(
        url=urldefrag(response.url).url,
        status=response.status,
        headers=kept_headers(response.headers),
        body=await _body(tab, response, found),
    )


async def _body(tab: OpenTab, response: DocumentResponse, found: Reply) -> bytes:
    """Return a document's bytes, which the browser keeps decoded as text."""
    try:
        reply = await tab.channel.send(
            "Network.getResponseBody", {"requestId": response.request_id}
        )
    except RefusedError as error:
        raise _refusal(tab, "the browser has not kept the response it was made of") from error
    if reply["base64Encoded"]:
        return base64.b64decode(reply["body"])
    for body in _encodings(reply["body"], found["charset"]):
        if len(body) == found["length"]:
            return body
    raise _refusal(tab, f"its response is not valid {found['charset']}")


def _encodings(text: str, charset: str) -> list[bytes]:
    """Return the bytes that a browser may have decoded into this text."""
    found: list[bytes] = []
    for name in dict.fromkeys((charset.lower(), "utf-8")):
        with suppress(LookupError, UnicodeEncodeError):
            body = text.encode(name)
            found += [body, _MARKS.get(name, b"") + body]
    return found


_MARKS: Final = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16le": codecs.BOM_UTF16_LE,
    "utf-16be": codecs.BOM_UTF16_BE,
}
# A frame that has no origin of its own has no storage either.
_STORAGE: Final = """(() => {
  try { return [self.origin, Object.entries(sessionStorage)]; } catch (error) { return null; }
})()"""


async def _session_storage(tab: OpenTab) -> Mapping[str, tuple[tuple[str, str], ...]]:
    kept: dict[str, tuple[tuple[str, str], ...]] = {}
    for frame in tab.frames.all():
        found = (await tab.frames.evaluate(frame, _STORAGE)).get("value")
        if found is not None and found[0] != "null":
            kept[found[0]] = tuple((name, value) for name, value in found[1])
    return kept


async def _unread_origins(tab: OpenTab, read: Mapping[str, object]) -> tuple[str, ...]:
    history = await tab.channel.send("Page.getNavigationHistory")
    visited = {
        origin_of(entry["url"]) for entry in history["entries"] if entry["url"].startswith("http")
    }
    return tuple(sorted(visited - set(read)))
