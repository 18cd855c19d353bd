"""All documents of a tab in one capture: their nodes and where these are drawn.

These are the columns of `DOMSnapshot.captureSnapshot` that Arena reads; texts are indices of
`strings`.
"""

from __future__ import annotations

from typing import Final

import msgspec

from orchestrator.browser.tabs.cdp_channel import RefusedError
from orchestrator.browser.tabs.tab import OpenTab

# `unnamed_elements` reads the first three and the last.
STYLES: Final = (
    *("background-color", "fill", "visibility", "cursor", "position", "overflow-x", "overflow-y"),
    *("pointer-events", "transform", "padding-left", "padding-top", "padding-right"),
    *("padding-bottom", "background-image"),
)
_TRIES: Final = 3


class Marked(msgspec.Struct, frozen=True, gc=False):
    """The nodes, by their places, of which something is true."""

    index: tuple[int, ...] = ()


class Sparse(msgspec.Struct, frozen=True, gc=False):
    """A value of some nodes."""

    index: tuple[int, ...] = ()
    value: tuple[int, ...] = ()

    def by_node(self) -> dict[int, int]:
        return dict(zip(self.index, self.value, strict=True))


class NodeColumns(msgspec.Struct, rename="camel", frozen=True, gc=False):
    """The nodes of a document, parents before children; attribute names and values alternate."""

    parent_index: tuple[int, ...]
    node_type: tuple[int, ...]
    node_name: tuple[int, ...]
    node_value: tuple[int, ...]
    backend_node_id: tuple[int, ...]
    attributes: tuple[tuple[int, ...], ...]
    content_document_index: Sparse = Sparse()
    shadow_root_type: Sparse = Sparse()
    input_value: Sparse = Sparse()
    text_value: Sparse = Sparse()
    input_checked: Marked = Marked()
    option_selected: Marked = Marked()
    is_clickable: Marked = Marked()
    pseudo_type: Marked = Marked()


class LayoutColumns(msgspec.Struct, rename="camel", frozen=True, gc=False):
    """Where nodes are drawn: a row for each box, and several boxes for some nodes.

    Attributes:
        styles: computed, in the order of `STYLES`; empty for texts.
        client_rects, offset_rects: present if the tab has frames.
    """

    node_index: tuple[int, ...]
    styles: tuple[tuple[int, ...], ...]
    bounds: tuple[tuple[float, float, float, float], ...]
    paint_orders: tuple[int, ...]
    client_rects: tuple[tuple[float, ...], ...] = ()
    offset_rects: tuple[tuple[float, ...], ...] = ()

    def first_boxes(self) -> dict[int, int]:
        """Return the row of each node's first box."""
        rows = range(len(self.node_index) - 1, -1, -1)
        return {self.node_index[row]: row for row in rows}


class DocumentColumns(msgspec.Struct, rename="camel", frozen=True, gc=False):
    """One document; the tab's own comes first."""

    frame_id: int
    nodes: NodeColumns
    layout: LayoutColumns
    scroll_offset_x: float = 0.0
    scroll_offset_y: float = 0.0
    content_height: float | None = None


class DomCapture(msgspec.Struct, frozen=True, gc=False):
    """The documents of a tab at one moment; `loader` is the main document's."""

    documents: tuple[DocumentColumns, ...]
    strings: tuple[str, ...]
    loader: str = ""


async def capture(tab: OpenTab) -> DomCapture:
    with_rects = len(tab.frames.all()) > 1
    for _ in range(_TRIES):
        loader = tab.frames.main.loader
        found = await _capture_once(tab, with_rects=with_rects)
        if len(found.documents) > 1 and not with_rects:
            with_rects = True  # a frame has come meanwhile
        elif tab.frames.main.loader == loader:
            return msgspec.structs.replace(found, loader=loader)
    raise RefusedError(f"{tab.url} kept navigating while it was read")


async def _capture_once(tab: OpenTab, *, with_rects: bool) -> DomCapture:
    """Ask once; the rectangles that only frames need take a third of the time."""
    asked = {
        "computedStyles": list(STYLES),
        "includePaintOrder": True,
        "includeDOMRects": with_rects,
    }
    found = await tab.channel.send_for_bulk("DOMSnapshot.captureSnapshot", asked, DomCapture)
    if not found.documents:
        raise RefusedError("the page has no document yet")
    return found
