"""The current tab, as forms of observation read it."""

from __future__ import annotations

import asyncio
import base64
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final

from arena_core.errors import BrowserError
from arena_core.task_group import task_group
from orchestrator.browser.observation import AxTree, Picture
from orchestrator.browser.observations.axtree import tree_text
from orchestrator.browser.observations.forms import ObservationForm, PageSnapshot
from orchestrator.browser.page.axtree import read_tree
from orchestrator.browser.page.dom_capture import DomCapture, capture
from orchestrator.browser.page.snapshot import build_snapshot
from orchestrator.browser.page.unnamed_elements import with_unnamed
from orchestrator.browser.tabs.cdp_channel import PageGoneError, RefusedError
from orchestrator.browser.tabs.elements import ElementIds
from orchestrator.browser.tabs.tab import OpenTab

_SIZE: Final = struct.Struct(">II")  # width and height in a PNG's head
_SIZE_AT: Final = 16


class TabView:
    """Implements `ObservedPage` for one observation of a tab; everything is read once.

    If several forms want them, tree, snapshot and picture are read side by side, so that the
    browser makes one while another is read here. Ids are still given in one order: to the tree
    first, if a form asks for it, then to the snapshot.
    """

    def __init__(
        self,
        tab: OpenTab,
        ids: ElementIds,
        dialogs: Sequence[str],
        *,
        viewport: tuple[int, int],
        shows_unnamed: bool,
    ) -> None:
        self._tab = tab
        self._ids = ids
        self.dialogs = tuple(dialogs)
        self._viewport = viewport
        self._shows_unnamed = shows_unnamed
        self._tree: AxTree | None = None
        self._captured: DomCapture | None = None
        self._snapshot: PageSnapshot | None = None
        self._picture: Picture | None = None
        self._title: str | None = None
        self._reading_tree = asyncio.Lock()
        self._capturing = asyncio.Lock()
        self._taking = asyncio.Lock()

    @property
    def url(self) -> str:
        return self._tab.url

    async def parts(self, forms: Mapping[str, ObservationForm]) -> Mapping[str, object]:
        """Return each form's part by its name; all look at the same moment of the page."""
        async with task_group() as group:
            looks = {
                name: group.create_task(form.observe(self), name=f"observe {name}")
                for name, form in forms.items()
            }
        return {name: look.result() for name, look in looks.items()}

    async def axtree(self) -> AxTree:
        async with self._reading_tree:
            if self._tree is None:
                self._tree = await self._read_tree()
            return self._tree

    async def snapshot(self) -> PageSnapshot:
        await self._capture()
        async with self._reading_tree:
            if self._snapshot is None:
                captured = await self._capture()
                self._snapshot = build_snapshot(captured, self._tab, self._ids, self._viewport)
            return self._snapshot

    async def picture(self) -> Picture:
        async with self._taking:
            if self._picture is None:
                self._picture = await self._take()
            return self._picture

    async def title(self) -> str:
        """Return the document's title: the tree's if it was read."""
        return await title_of(self._tab) if self._title is None else self._title

    async def call(
        self, method: str, parameters: Mapping[str, object] | None = None
    ) -> Mapping[str, Any]:
        try:
            return await self._tab.channel.send(method, parameters)
        except RefusedError as refused:
            raise BrowserError(f"the browser refuses {method}: {refused}") from refused

    async def _read_tree(self) -> AxTree:
        if self._shows_unnamed:
            async with task_group() as group:
                reading = group.create_task(read_tree(self._tab, self._ids))
                capturing = group.create_task(self._capture())
            tree = with_unnamed(self._tab, self._ids, reading.result(), capturing.result())
        else:
            tree = await read_tree(self._tab, self._ids)
        self._title = tree.title
        return AxTree(tree.nodes, tree_text(tree.nodes, self.dialogs, was_cut=tree.was_cut))

    async def _capture(self) -> DomCapture:
        """Capture the current document: again if another one has come since."""
        async with self._capturing:
            found = self._captured
            if found is None or found.loader != self._tab.frames.main.loader:
                found = self._captured = await capture(self._tab)
            return found

    async def _take(self) -> Picture:
        asked = {"format": "png", "optimizeForSpeed": True}
        reply = await self.call("Page.captureScreenshot", asked)
        taken = picture_of(base64.b64decode(reply["data"]))
        if (taken.width, taken.height) != self._viewport:
            sizes = f"{taken.width}x{taken.height} for a viewport of {self._viewport}"
            raise BrowserError(f"the browser's picture is {sizes}: its device scale is not 1")
        return taken


def picture_of(png: bytes) -> Picture:
    width, height = _SIZE.unpack_from(png, _SIZE_AT)
    return Picture(png, width, height)


async def title_of(tab: OpenTab) -> str:
    """Return a tab's title; empty while it navigates."""
    try:
        return await tab.title()
    except (RefusedError, PageGoneError):
        return ""
