"""The current tab as a form of observation reads it."""

from __future__ import annotations

import base64
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final

from arena_core.errors import BrowserError
from orchestrator.browser.axtree import read_tree
from orchestrator.browser.cdp_channel import PageGoneError, RefusedError, Reply
from orchestrator.browser.elements import ElementIds
from orchestrator.browser.snapshot import build_snapshot, capture
from orchestrator.browser.tabs import OpenTab
from orchestrator.browser.unnamed import with_unnamed
from orchestrator.observation import AxTree, PageSnapshot, Picture
from orchestrator.observations.axtree import tree_text

_SIZE: Final = struct.Struct(">II")  # width and height in a PNG's head
_SIZE_AT: Final = 16


class TabPage:
    """Fills `ObservedPage` for one observation of a tab: what is read is read once.

    Args:
        tab: the current one.
        ids: of elements, as actions name them.
        dialogs: answered since the last observation; they stand at the head of the tree's text.
        viewport: width and height in CSS pixels.
        shows_unnamed: whether the tree holds what is drawn or can be clicked without a name.
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
        self._dialogs = tuple(dialogs)
        self._viewport = viewport
        self._shows_unnamed = shows_unnamed
        self._tree: AxTree | None = None
        self._raw: Reply | None = None
        self._snapshot: PageSnapshot | None = None
        self._title: str | None = None
        self.taken: Picture | None = None

    @property
    def url(self) -> str:
        """The document's URL."""
        return self._tab.url

    @property
    def dialogs(self) -> tuple[str, ...]:
        """Those answered since the last observation."""
        return self._dialogs

    async def axtree(self) -> AxTree:
        """Return the accessibility tree, read once."""
        if self._tree is None:
            tree = await read_tree(self._tab, self._ids)
            if self._shows_unnamed:
                tree = with_unnamed(self._tab, self._ids, tree, await self._captured())
            self._title = tree.title
            text = tree_text(tree.nodes, self._dialogs, was_cut=tree.was_cut)
            self._tree = AxTree(tree.nodes, text)
        return self._tree

    async def snapshot(self) -> PageSnapshot:
        """Return the document with its layout, read once."""
        if self._snapshot is None:
            raw = await self._captured()
            self._snapshot = build_snapshot(raw, self._tab, self._ids, self._viewport)
        return self._snapshot

    async def picture(self) -> Picture:
        """Return what the viewport shows, taken once."""
        if self.taken is None:
            reply = await self.call(
                "Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True}
            )
            taken = picture_of(base64.b64decode(reply["data"]))
            if (taken.width, taken.height) != self._viewport:
                sizes = f"{taken.width}x{taken.height} for a viewport of {self._viewport}"
                message = f"the browser's picture is {sizes}: its device scale is not 1"
                raise BrowserError(message)
            self.taken = taken
        return self.taken

    async def title(self) -> str:
        """Return the document's title: the tree's where it was read."""
        return await title_of(self._tab) if self._title is None else self._title

    async def call(
        self, method: str, parameters: Mapping[str, object] | None = None
    ) -> Mapping[str, Any]:
        """Call a method of the DevTools protocol."""
        try:
            return await self._tab.channel.send(method, parameters)
        except RefusedError as refused:
            message = f"the browser refuses {method}: {refused}"
            raise BrowserError(message) from refused

    async def _captured(self) -> Reply:
        if self._raw is None:
            self._raw = await capture(self._tab)
        return self._raw


def picture_of(png: bytes) -> Picture:
    """Return a PNG with the size that it says it has."""
    width, height = _SIZE.unpack_from(png, _SIZE_AT)
    return Picture(png, width, height)


async def title_of(tab: OpenTab) -> str:
    """Return a tab's title; empty where it is on its way to another document."""
    try:
        return await tab.title()
    except (RefusedError, PageGoneError):
        return ""
