"""Forms of one observation share what is read of the page, and it is asked for side by side."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import cast

import pytest
from PIL import Image

from arena_core.errors import BrowserError
from orchestrator.browser.observation import AXTREE, BOXES, HTML, SOM, Html
from orchestrator.browser.observations.forms import ObservedPage, load_form
from orchestrator.browser.page.dom_capture import STYLES
from orchestrator.browser.page.tab_view import TabView
from orchestrator.browser.tabs.cdp_channel import Reply, ShapeT, decode
from orchestrator.browser.tabs.elements import ElementIds
from orchestrator.browser.tabs.frames import Frame
from orchestrator.browser.tabs.tab import OpenTab

pytestmark = pytest.mark.asyncio

TREE = "Accessibility.getFullAXTree"
SNAPSHOT = "DOMSnapshot.captureSnapshot"
PICTURE = "Page.captureScreenshot"
VIEWPORT = (40, 30)
BUTTON = 7  # the browser's ids
LINK = 8


def _tree() -> Reply:
    root = {"nodeId": "1", "ignored": False, "role": {"value": "RootWebArea"}, "childIds": ["2"]}
    button = {"role": {"value": "button"}, "name": {"value": "Buy"}, "backendDOMNodeId": BUTTON}
    return {"nodes": [root, {"nodeId": "2", "ignored": False, **button}]}


def _snapshot(documents: int = 1) -> Reply:
    """`<a href><button>`; the tree knows the button alone."""
    strings = ["F", "#document", "a", "button", "href", "/", "", "visible"]
    nodes = {
        "parentIndex": [-1, 0, 1],
        "nodeType": [9, 1, 1],
        "nodeName": [1, 2, 3],
        "nodeValue": [-1, -1, -1],
        "backendNodeId": [1, LINK, BUTTON],
        "attributes": [[], [4, 5], []],
    }
    styles = [strings.index("visible" if name == "visibility" else "") for name in STYLES]
    layout = {
        "nodeIndex": [1, 2],
        "styles": [styles] * 2,
        "bounds": [[0, 0, 9, 9]] * 2,
        "paintOrders": [1, 2],
    }
    document = {"frameId": 0, "nodes": nodes, "layout": layout}
    return {"documents": [document] * documents, "strings": strings}


def _picture() -> Reply:
    written = BytesIO()
    Image.new("RGB", VIEWPORT).save(written, "PNG")
    return {"data": base64.b64encode(written.getvalue()).decode()}


class Frames:
    """The frames of a page that may go elsewhere."""

    def __init__(self, count: int = 1) -> None:
        self.main = Frame("F", None, "first", "http://s/")
        self.count = count

    def all(self) -> tuple[Frame, ...]:
        return (self.main,) * self.count

    def get(self, frame: str) -> Frame | None:
        return self.main if frame == "F" else None


@dataclass
class Browser:
    """Answers as the browser would, once `needed` calls are in flight.

    Attributes:
        asked: every call with its parameters.
        during: what happens to the page while a call is answered, by its method.
    """

    needed: int = 1
    frames: Frames = field(default_factory=Frames)
    documents: int = 1
    asked: list[tuple[str, Mapping[str, object]]] = field(default_factory=list)
    during: dict[str, str] = field(default_factory=dict)
    refused: str = ""
    number: int = 0
    url: str = "http://s/"

    def __post_init__(self) -> None:
        self._all_in_flight = asyncio.Event()

    @property
    def channel(self) -> Browser:
        return self

    async def send_for_bulk(
        self, method: str, params: Mapping[str, object], shape: type[ShapeT]
    ) -> ShapeT:
        return decode(json.dumps(await self.send(method, params)), shape)

    async def send(self, method: str, params: Mapping[str, object] | None = None) -> Reply:
        self.asked.append((method, params or {}))
        if len(self.asked) >= self.needed:
            self._all_in_flight.set()
        async with asyncio.timeout(5):
            await self._all_in_flight.wait()
        if method == TREE:  # the last to come, whatever was asked first
            await asyncio.sleep(0.01)
        if method == self.refused:
            message = f"no {method}"
            raise BrowserError(message)
        if loader := self.during.pop(method, ""):
            self.frames.main.loader = loader
        replies = {TREE: _tree, PICTURE: _picture}
        return replies[method]() if method in replies else _snapshot(self.documents)

    def page(self, *, shows_unnamed: bool = False) -> TabView:
        tab = cast("OpenTab", self)
        return TabView(tab, ElementIds(), (), viewport=VIEWPORT, shows_unnamed=shows_unnamed)

    def times(self, method: str) -> int:
        return sum(1 for asked, _ in self.asked if asked == method)


async def _look(page: TabView, *names: str) -> Mapping[str, object]:
    return await page.parts({name: load_form(name) for name in names})


async def test_the_browser_is_asked_for_all_that_forms_need_before_it_has_answered_any() -> None:
    browser = Browser(needed=3)
    await _look(browser.page(), AXTREE, HTML, SOM)
    assert [browser.times(method) for method in (TREE, SNAPSHOT, PICTURE)] == [1, 1, 1]


@pytest.mark.parametrize(("form", "needed"), [(BOXES, 2), ("axtree@viewport", 2), (SOM, 3)])
async def test_one_form_that_needs_several_asks_for_them_at_once(form: str, needed: int) -> None:
    browser = Browser(needed=needed)
    await _look(browser.page(), form)
    assert len(browser.asked) == needed


async def test_the_tree_with_what_has_no_name_asks_for_both_at_once() -> None:
    browser = Browser(needed=2)
    await browser.page(shows_unnamed=True).axtree()
    assert len(browser.asked) == 2


@pytest.mark.parametrize("names", [(AXTREE, HTML), (HTML, AXTREE)])
async def test_the_tree_gives_the_first_ids_whatever_came_first(names: tuple[str, str]) -> None:
    found = (await _look(Browser(needed=2).page(), *names))[HTML]
    assert isinstance(found, Html)
    assert found.text == '<a arena="2" href="/"><button arena="1"></button></a>'


async def test_a_document_that_was_left_meanwhile_is_not_shown_beside_the_tree() -> None:
    browser = Browser(needed=2, during={TREE: "second"})
    await _look(browser.page(), AXTREE, HTML)
    assert (browser.times(TREE), browser.times(SNAPSHOT)) == (2, 2)


async def test_a_page_that_never_stays_is_an_error() -> None:
    class Restless(Frames):
        @property
        def main(self) -> Frame:
            self.count += 1
            return Frame("F", None, str(self.count), "http://s/")

        @main.setter
        def main(self, _: Frame) -> None: ...

    with pytest.raises(Exception, match="kept navigating"):
        await Browser(frames=Restless()).page().snapshot()


@pytest.mark.parametrize(("frames", "wanted"), [(1, False), (2, True)])
async def test_rectangles_that_only_frames_need_are_asked_for_where_there_are_frames(
    frames: int, *, wanted: bool
) -> None:
    browser = Browser(frames=Frames(frames))
    await browser.page().snapshot()
    assert [asked["includeDOMRects"] for _, asked in browser.asked] == [wanted]


async def test_a_frame_that_comes_meanwhile_has_its_place() -> None:
    browser = Browser(documents=2)
    await browser.page().snapshot()
    assert [asked["includeDOMRects"] for _, asked in browser.asked] == [False, True]


async def test_a_form_that_fails_fails_the_observation_by_its_own_error() -> None:
    browser = Browser(needed=2, refused=TREE)
    with pytest.raises(BrowserError, match=f"^no {TREE}$"):
        await _look(browser.page(), AXTREE, HTML)
    left = asyncio.all_tasks() - {asyncio.current_task()}
    assert not left


async def test_forms_of_others_read_the_same_page() -> None:
    class Twice:
        async def observe(self, page: ObservedPage) -> bool:
            return await page.snapshot() is await page.snapshot()

    browser = Browser()
    assert (await browser.page().parts({"twice": Twice()}))["twice"]
    assert browser.times(SNAPSHOT) == 1
